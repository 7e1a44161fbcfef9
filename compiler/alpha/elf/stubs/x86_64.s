# The only hand-written machine code for x86-64: what LLVM cannot express. x86_64.o is this file assembled;
# a test assembles it again and compares.
#
#   _start                                          entry; calls rt_start(stack pointer), which never returns
#   rt_syscall(nr, a, b, c, d, e, f)                the kernel's raw answer
#   rt_clone(flags, stack, ptid, ctid, tls, fn, arg)  a thread that runs fn(arg) on `stack` and exits
#   rt_cpuid(leaf, subleaf, out)                    eax, ebx, ecx, edx to the four words at `out`
#   rt_xgetbv()                                     the low half of XCR0
#   rt_sigreturn                                    not called: the restorer of a signal handler

        .text
        .globl _start, rt_syscall, rt_clone, rt_cpuid, rt_xgetbv, rt_sigreturn
        .hidden rt_syscall, rt_clone, rt_cpuid, rt_xgetbv, rt_sigreturn, rt_start

        .type _start,@function
        .p2align 4
_start: .cfi_startproc
        .cfi_undefined %rip             # backtraces end here
        endbr64
        xorl    %ebp, %ebp
        movq    %rsp, %rdi
        andq    $-16, %rsp
        call    rt_start
        ud2
        .cfi_endproc
        .size _start, .-_start

        .type rt_syscall,@function
        .p2align 4
rt_syscall:
        .cfi_startproc
        endbr64
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    8(%rsp), %r9
        syscall
        ret
        .cfi_endproc
        .size rt_syscall, .-rt_syscall

        .type rt_clone,@function
        .p2align 4
rt_clone:
        .cfi_startproc
        endbr64
        movq    %rcx, %r10
        movq    8(%rsp), %rax
        andq    $-16, %rsi
        subq    $16, %rsi
        movq    %r9, (%rsi)             # fn and arg wait on the new stack
        movq    %rax, 8(%rsi)
        movl    $56, %eax
        syscall
        testq   %rax, %rax
        je      1f
        ret
1:      .cfi_undefined %rip
        xorl    %ebp, %ebp
        popq    %rax
        popq    %rdi
        call    *%rax
        xorl    %edi, %edi
        movl    $60, %eax
        syscall
        ud2
        .cfi_endproc
        .size rt_clone, .-rt_clone

        .type rt_cpuid,@function
        .p2align 4
rt_cpuid:
        .cfi_startproc
        endbr64
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movq    %rdx, %r8
        movl    %edi, %eax
        movl    %esi, %ecx
        cpuid
        movl    %eax, (%r8)
        movl    %ebx, 4(%r8)
        movl    %ecx, 8(%r8)
        movl    %edx, 12(%r8)
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        .cfi_endproc
        .size rt_cpuid, .-rt_cpuid

        .type rt_xgetbv,@function
        .p2align 4
rt_xgetbv:
        .cfi_startproc
        endbr64
        xorl    %ecx, %ecx
        xgetbv
        ret
        .cfi_endproc
        .size rt_xgetbv, .-rt_xgetbv

        .type rt_sigreturn,@function
        .p2align 4
        nop                             # unwinders look one byte back
rt_sigreturn:
        movl    $15, %eax
        syscall
        ud2
        .size rt_sigreturn, .-rt_sigreturn

        .section .note.GNU-stack,"",@progbits
        .section .note.gnu.property,"a",@note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0     # IBT, SHSTK

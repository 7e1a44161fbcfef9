// The only hand-written machine code for AArch64: what LLVM cannot express. aarch64.o is this file assembled;
// a test assembles it again and compares.
//
//   _start                                          entry; calls rt_start(stack pointer), which never returns
//   rt_syscall(nr, a, b, c, d, e, f)                the kernel's raw answer
//   rt_clone(flags, stack, ptid, ctid, tls, fn, arg)  a thread that runs fn(arg) on `stack` and exits
//   rt_sigreturn                                    not called: the restorer of a signal handler

        .text
        .globl _start, rt_syscall, rt_clone, rt_sigreturn
        .hidden rt_syscall, rt_clone, rt_sigreturn, rt_start

        .type _start,%function
        .p2align 4
_start: .cfi_startproc
        .cfi_undefined x30              // backtraces end here
        bti     c
        mov     x29, #0
        mov     x30, #0
        mov     x0, sp
        and     sp, x0, #-16
        bl      rt_start
        brk     #0
        .cfi_endproc
        .size _start, .-_start

        .type rt_syscall,%function
        .p2align 4
rt_syscall:
        .cfi_startproc
        bti     c
        mov     x8, x0
        mov     x0, x1
        mov     x1, x2
        mov     x2, x3
        mov     x3, x4
        mov     x4, x5
        mov     x5, x6
        svc     #0
        ret
        .cfi_endproc
        .size rt_syscall, .-rt_syscall

        .type rt_clone,%function
        .p2align 4
rt_clone:
        .cfi_startproc
        bti     c
        and     x1, x1, #-16
        stp     x5, x6, [x1, #-16]!     // fn and arg wait on the new stack
        mov     x7, x3                  // the kernel wants (flags, stack, ptid, tls, ctid)
        mov     x3, x4
        mov     x4, x7
        mov     x8, #220
        svc     #0
        cbz     x0, 1f
        ret
1:      .cfi_undefined x30
        mov     x29, #0
        mov     x30, #0
        ldp     x1, x0, [sp], #16
        blr     x1
        mov     x0, #0
        mov     x8, #93
        svc     #0
        brk     #0
        .cfi_endproc
        .size rt_clone, .-rt_clone

        .type rt_sigreturn,%function
        .p2align 4
        nop                             // unwinders look one instruction back
rt_sigreturn:
        mov     x8, #139
        svc     #0
        brk     #0
        .size rt_sigreturn, .-rt_sigreturn

        .section .note.GNU-stack,"",%progbits
        .section .note.gnu.property,"a",%note
        .p2align 3
        .word   4, 16, 5
        .asciz  "GNU"
        .word   0xc0000000, 4, 1, 0     // BTI

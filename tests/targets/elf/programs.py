"""Small programs in LLVM IR that need nothing but the stubs: each relocates and seals itself, then does one thing.

The beginning is the same for all: apply the run-time relocations, make the relocated pages read-only, say so by
working. System call numbers are the only thing that differs between the machines.
"""

from __future__ import annotations

from alpha.base.host import HostTarget

_NUMBERS = {
    "x86_64-linux": {"write": 1, "mprotect": 10, "exit": 231, "openat": 257, "read": 0},
    "aarch64-linux": {"write": 64, "mprotect": 226, "exit": 94, "openat": 56, "read": 63},
}

_START = """
@__ehdr_start = external hidden constant i8
@__rela_start = external hidden constant i8
@__rela_end = external hidden constant i8
@__relro_start = external hidden constant i8
@__relro_end = external hidden constant i8
@__alpha_digest = external hidden constant [32 x i8]
@__alpha_manifest_start = external hidden constant i8
@__alpha_manifest_end = external hidden constant i8
declare hidden i64 @rt_syscall(i64, i64, i64, i64, i64, i64, i64)

define internal i64 @call(i64 %number, i64 %a, i64 %b, i64 %c) uwtable {
  %r = call i64 @rt_syscall(i64 %number, i64 %a, i64 %b, i64 %c, i64 0, i64 0, i64 0)
  ret i64 %r
}

define internal void @stop(i64 %status) noreturn uwtable {
  %r = call i64 @call(i64 EXIT, i64 %status, i64 0, i64 0)
  unreachable
}

define internal void @say(ptr %text, i64 %size) noinline uwtable {
  %at = ptrtoint ptr %text to i64
  %r = call i64 @call(i64 WRITE, i64 1, i64 %at, i64 %size)
  %ok = icmp eq i64 %r, %size
  br i1 %ok, label %done, label %failed
failed:
  call void @stop(i64 6)
  unreachable
done:
  ret void
}

define internal void @relocate() uwtable {
  %base = ptrtoint ptr @__ehdr_start to i64
  br label %next
next:
  %row = phi ptr [ @__rela_start, %0 ], [ %after, %apply ]
  %more = icmp ult ptr %row, @__rela_end
  br i1 %more, label %apply, label %done
apply:
  %offset = load i64, ptr %row
  %addend.at = getelementptr i8, ptr %row, i64 16
  %addend = load i64, ptr %addend.at
  %place = getelementptr i8, ptr @__ehdr_start, i64 %offset
  %value = add i64 %base, %addend
  store i64 %value, ptr %place
  %after = getelementptr i8, ptr %row, i64 24
  br label %next
done:
  %from = ptrtoint ptr @__relro_start to i64
  %to = ptrtoint ptr @__relro_end to i64
  %size = sub i64 %to, %from
  %any = icmp ne i64 %size, 0
  br i1 %any, label %seal, label %good
seal:
  %r = call i64 @call(i64 MPROTECT, i64 %from, i64 %size, i64 1)
  %sealed = icmp eq i64 %r, 0
  br i1 %sealed, label %good, label %bad
bad:
  call void @stop(i64 7)
  unreachable
good:
  ret void
}

define hidden void @rt_start(ptr %sp) noreturn uwtable {
  call void @relocate()
  call void @main(ptr %sp)
  call void @stop(i64 0)
  unreachable
}
"""

# Greets through a table of pointers in RELRO, so that relocation shows; then counts in .data and .bss.
HELLO = """
@one = internal constant [6 x i8] c"hello\\0A"
@two = internal constant [7 x i8] c"aloha!\\0A"
@table = internal constant [3 x { ptr, i64 }] [
  { ptr, i64 } { ptr @one, i64 6 }, { ptr, i64 } { ptr @two, i64 7 }, { ptr, i64 } { ptr null, i64 0 }]
@counter = internal global i64 40
@zeros = internal global [9000 x i64] zeroinitializer

define internal void @main(ptr %sp) uwtable {
  br label %next
next:
  %k = phi i64 [ 0, %0 ], [ %k1, %speak ]
  %row = getelementptr { ptr, i64 }, ptr @table, i64 %k
  %text = load volatile ptr, ptr %row
  %size.at = getelementptr i8, ptr %row, i64 8
  %size = load volatile i64, ptr %size.at
  %end = icmp eq ptr %text, null
  br i1 %end, label %count, label %speak
speak:
  call void @say(ptr %text, i64 %size)
  %k1 = add i64 %k, 1
  br label %next
count:
  %zero.at = getelementptr i64, ptr @zeros, i64 8999
  %zero = load volatile i64, ptr %zero.at
  %c = load volatile i64, ptr @counter
  %sum = add i64 %c, 2
  %status = add i64 %sum, %zero
  store volatile i64 %status, ptr @counter
  call void @stop(i64 %status)
  unreachable
}
"""

# Writes to a sealed pointer: must end by a fault.
SEALED = """
@target = internal global i64 1
@pointer = internal constant ptr @target

define internal void @main(ptr %sp) uwtable {
  store volatile ptr null, ptr @pointer
  ret void
}
"""

# Prints the manifest, then a blob that never went through LLVM.
DATA = """
@blob = external hidden constant i8
define internal void @main(ptr %sp) uwtable {
  %from = ptrtoint ptr @__alpha_manifest_start to i64
  %to = ptrtoint ptr @__alpha_manifest_end to i64
  %size = sub i64 %to, %from
  call void @say(ptr @__alpha_manifest_start, i64 %size)
  call void @say(ptr @blob, i64 BLOB)
  ret void
}
"""

# Prints its own digest of 32 bytes and the address it was loaded at.
DIGEST = """
@where = internal global i64 0
define internal void @main(ptr %sp) uwtable {
  call void @say(ptr @__alpha_digest, i64 32)
  %base = ptrtoint ptr @__ehdr_start to i64
  store i64 %base, ptr @where
  call void @say(ptr @where, i64 8)
  ret void
}
"""

# The stack as the kernel left it: the number of arguments, then the first byte of the last one.
ARGUMENTS = """
define internal void @main(ptr %sp) uwtable {
  %count = load i64, ptr %sp
  %last.at = getelementptr i64, ptr %sp, i64 %count
  %last = load ptr, ptr %last.at
  call void @say(ptr %last, i64 5)
  call void @stop(i64 %count)
  unreachable
}
"""

# A thread that writes 42 into a word and exits; the main thread waits for the kernel to clear the thread's number.
# CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM | CHILD_CLEARTID | PARENT_SETTID
THREAD = """
declare hidden i64 @rt_clone(i64, ptr, ptr, ptr, i64, ptr, ptr)
@stack = internal global [65536 x i8] zeroinitializer, align 16
@number = internal global i32 1
@answer = internal global i64 0

define internal void @work(ptr %argument) uwtable {
  %v = load i64, ptr %argument
  %w = add i64 %v, 42
  store atomic i64 %w, ptr %argument seq_cst, align 8
  ret void
}

define internal void @main(ptr %sp) uwtable {
  %top = getelementptr i8, ptr @stack, i64 65536
  %r = call i64 @rt_clone(i64 3477248, ptr %top, ptr @number, ptr @number, i64 0, ptr @work, ptr @answer)
  %failed = icmp slt i64 %r, 0
  br i1 %failed, label %bad, label %wait
bad:
  call void @stop(i64 8)
  unreachable
wait:
  %n = load atomic i32, ptr @number seq_cst, align 4
  %gone = icmp eq i32 %n, 0
  br i1 %gone, label %done, label %wait
done:
  %a = load atomic i64, ptr @answer seq_cst, align 8
  call void @stop(i64 %a)
  unreachable
}
"""


def program(host: HostTarget, body: str, blob: int = 0) -> str:
    """The module of a program for `host`; `blob` is the size of the data called `blob`."""
    text = _START + body
    for name, number in _NUMBERS[host.name].items():
        text = text.replace(f"i64 {name.upper()}", f"i64 {number}")
    return text.replace("i64 BLOB", f"i64 {blob}")

"""What the Linux kernel's interface is on each machine: system call numbers, errors, names in the vDSO."""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.record import field, record
from alpha.runtime.sha_native import SHA_BLOCKS_X86

ERRNO = {
    "EPERM": 1,
    "ENOENT": 2,
    "EINTR": 4,
    "EIO": 5,
    "ENXIO": 6,
    "EBADF": 9,
    "EAGAIN": 11,
    "ENOMEM": 12,
    "EACCES": 13,
    "EBUSY": 16,
    "EEXIST": 17,
    "ENOTDIR": 20,
    "EISDIR": 21,
    "EINVAL": 22,
    "ENFILE": 23,
    "EMFILE": 24,
    "ETXTBSY": 26,
    "EFBIG": 27,
    "ENOSPC": 28,
    "ESPIPE": 29,
    "EROFS": 30,
    "EPIPE": 32,
    "ENAMETOOLONG": 36,
    "ELOOP": 40,
    "EDQUOT": 122,
}


@record
class Machine:
    """`processor` is what every function of the runtime is compiled for: the check of the real one runs in it too.

    `source` is the machine's own subset source; `ir` defines the functions named in `defined`, and `library_ir` those
    that read and write how this thread's floats round and trap: the register that `FLOAT_CONTROL` is for.
    """

    processor: str
    source: str
    vdso_clock: str
    ir: str
    library_ir: str
    defined: frozenset[str]
    system_calls: Mapping[str, int]
    constants: Mapping[str, int] = field(default_factory=dict)


_X86_64 = Machine(
    processor="x86-64",
    source="isa_x86_64",
    vdso_clock="__vdso_clock_gettime",
    ir="declare void @llvm.x86.sse2.pause()\n"
    "define internal void @rt_pause() nounwind {\n"
    "  call void @llvm.x86.sse2.pause()\n  ret void\n}\n" + SHA_BLOCKS_X86,
    library_ir="declare void @llvm.x86.sse.stmxcsr(ptr)\n"
    "declare void @llvm.x86.sse.ldmxcsr(ptr)\n"
    "define internal i64 @rt_float_control() nounwind {\n"
    "  %p = alloca i32\n  call void @llvm.x86.sse.stmxcsr(ptr %p)\n"
    "  %v = load i32, ptr %p\n  %w = zext i32 %v to i64\n  ret i64 %w\n}\n"
    "define internal void @rt_set_float_control(i64 %w) nounwind {\n"
    "  %p = alloca i32\n  %v = trunc i64 %w to i32\n  store i32 %v, ptr %p\n"
    "  call void @llvm.x86.sse.ldmxcsr(ptr %p)\n  ret void\n}\n",
    defined=frozenset({"rt_pause", "sha_blocks_native"}),
    system_calls={
        "write": 1,
        "read": 0,
        "close": 3,
        "lseek": 8,
        "mmap": 9,
        "mprotect": 10,
        "munmap": 11,
        "rt_sigaction": 13,
        "ioctl": 16,
        "fcntl": 72,
        "flock": 73,
        "fsync": 74,
        "ftruncate": 77,
        "futex": 202,
        "sched_getaffinity": 204,
        "getdents64": 217,
        "clock_gettime": 228,
        "exit_group": 231,
        "openat": 257,
        "mkdirat": 258,
        "newfstatat": 262,
        "unlinkat": 263,
        "renameat": 264,
        "rseq": 334,
    },
    constants={"O_DIRECTORY": 0x10000, "O_WRONLY_CLOEXEC": 0x80001, "FLOAT_CONTROL": 0x1F80},
)
_AARCH64 = Machine(
    processor="generic",
    source="isa_aarch64",
    vdso_clock="__kernel_clock_gettime",
    ir="declare void @llvm.aarch64.isb(i32)\n"
    "define internal void @rt_pause() nounwind {\n"
    "  call void @llvm.aarch64.isb(i32 15)\n  ret void\n}\n",
    library_ir="declare i64 @llvm.aarch64.get.fpcr()\n"
    "declare void @llvm.aarch64.set.fpcr(i64)\n"
    "define internal i64 @rt_float_control() nounwind {\n"
    "  %v = call i64 @llvm.aarch64.get.fpcr()\n  ret i64 %v\n}\n"
    "define internal void @rt_set_float_control(i64 %v) nounwind {\n"
    "  call void @llvm.aarch64.set.fpcr(i64 %v)\n  ret void\n}\n",
    defined=frozenset({"rt_pause"}),
    system_calls={
        "write": 64,
        "read": 63,
        "close": 57,
        "lseek": 62,
        "mmap": 222,
        "mprotect": 226,
        "munmap": 215,
        "rt_sigaction": 134,
        "fcntl": 25,
        "ioctl": 29,
        "flock": 32,
        "fsync": 82,
        "ftruncate": 46,
        "futex": 98,
        "sched_getaffinity": 123,
        "getdents64": 61,
        "clock_gettime": 113,
        "exit_group": 94,
        "openat": 56,
        "mkdirat": 34,
        "unlinkat": 35,
        "renameat": 38,
        "newfstatat": 79,
        "rseq": 293,
    },
    constants={"O_DIRECTORY": 0x4000, "O_WRONLY_CLOEXEC": 0x80001, "FLOAT_CONTROL": 0},
)
_MACHINES = {62: _X86_64, 183: _AARCH64}


def machine_for(elf_machine: int) -> Machine:
    return _MACHINES[elf_machine]

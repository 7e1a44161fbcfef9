"""The pinned machine code that LLVM cannot express: entry, system calls, threads, processor identification.

`x86_64.s` and `aarch64.s` say what the functions take; the objects beside them are those files assembled once, so
that a build needs no assembler (LLVM's, as llvmlite packs it, knows only the build host's instructions).
"""

from __future__ import annotations

from pathlib import Path

from alpha.base.host import HostTarget


def stub_object(host: HostTarget) -> bytes:
    """The relocatable object for `host`. It defines `_start` and needs `rt_start`."""
    architecture = host.triple.partition("-")[0]
    return Path(__file__).with_name(f"{architecture}.o").read_bytes()

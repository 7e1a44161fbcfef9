"""What a host target is to every level: names and numbers, no behaviour."""

from __future__ import annotations

from alpha.base.record import record


@record
class HostTarget:
    """A Linux host that Alpha emits executables for.

    `cpu` and `features` are LLVM's names and never those of the build host; `machine` the ELF machine number; `page`
    the largest page size the executable must load under; `cpu_level` the `cpu-level` demand of its code. `profile` is
    the symbol of the profile that a build without a pairing takes, `suffix` what its output's name ends in.
    """

    name: str
    triple: str
    cpu: str
    features: str
    machine: int
    page: int
    cpu_level: int
    scheduled: bool
    profile: str
    suffix: str

"""AArch64 Linux, Armv8.0-A with Advanced SIMD; emitted by the direct lane only."""

from alpha.base.host import HostTarget

AARCH64_LINUX = HostTarget(
    name="aarch64-linux",
    triple="aarch64-unknown-linux-gnu",
    cpu="generic",
    features="",
    machine=183,
    page=65536,
    cpu_level=80,
    scheduled=False,
    profile="Platform.Linux.AArch64.generic",
    suffix="-aarch64",
)

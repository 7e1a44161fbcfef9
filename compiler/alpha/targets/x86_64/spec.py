"""x86-64 Linux. The floor is x86-64-v3: without FMA, `llvm.fma` would become a library call with other bits."""

from alpha.base.host import HostTarget

X86_64_LINUX = HostTarget(
    name="x86_64-linux",
    triple="x86_64-unknown-linux-gnu",
    cpu="x86-64-v3",
    features="",
    machine=62,
    page=4096,
    cpu_level=3,
    scheduled=False,
    profile="Platform.Linux.X8664.generic",
    suffix="",
)

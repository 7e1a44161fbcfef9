"""One folder a target; the built-in ones in one explicit tuple."""

from alpha.base.device import DeviceTarget
from alpha.base.host import HostTarget
from alpha.targets.aarch64.spec import AARCH64_LINUX
from alpha.targets.nvidia.spec import SM_86, SM_89
from alpha.targets.x86_64.spec import X86_64_LINUX

HOSTS: tuple[HostTarget, ...] = (X86_64_LINUX, AARCH64_LINUX)

DEVICES: tuple[DeviceTarget, ...] = (SM_86, SM_89)

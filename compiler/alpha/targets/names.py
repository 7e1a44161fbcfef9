"""Every target name Alpha knows, and for those it cannot emit for, what is missing."""

from __future__ import annotations

from alpha.base.device import DeviceTarget, Target
from alpha.base.host import HostTarget
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.targets import DEVICES, HOSTS, errors

DEFAULT = "x86_64-linux"

OUTPUT_KINDS = ("exe", "shared", "object", "llvm", "asm", "ptx", "spirv")
"""The kinds `--emit` names, over all targets."""

HOST_KINDS = ("exe", "shared", "object", "llvm", "asm")
"""The kinds a host target can give in this version."""

_RUNTIME = "the runtime has no system calls for"

MISSING: dict[str, str] = {
    "riscv64-linux": "there is no stub, no relocation table and no runtime for RISC-V",
    "loongarch64-linux": "there is no stub, no relocation table and no runtime for LoongArch",
    "ppc64le-linux": "there is no stub, no relocation table and no runtime for POWER",
    "s390x-linux": "there is no stub, no relocation table and no runtime for z/Architecture",
    "armv7-linux": "memory plans are for 64-bit addresses",
    "i686-linux": "memory plans are for 64-bit addresses",
    "x86_64-windows": f"there is no PE writer, and {_RUNTIME} Windows",
    "aarch64-windows": f"there is no PE writer, and {_RUNTIME} Windows",
    "x86_64-macos": f"there is no Mach-O writer, and {_RUNTIME} macOS",
    "aarch64-macos": f"there is no Mach-O writer, and {_RUNTIME} macOS",
    "x86_64-freebsd": f"{_RUNTIME} FreeBSD",
    "aarch64-android": "the direct lane is linked for Linux hosts alone",
    "wasm32": "memory plans are for 64-bit addresses, and there is no module writer",
    "vulkan": "the SPIR-V builder is missing",
}

WITHOUT_PACKAGE = frozenset(
    {"sm_70", "sm_75", "sm_80", "sm_87", "sm_90", "sm_100", "sm_103", "sm_120", "sm_121"}
    | {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201"}
)
"""Device architectures that nothing in Alpha emits for."""

ALIASES = {
    "x86-64-linux": "x86_64-linux",
    "amd64-linux": "x86_64-linux",
    "x64-linux": "x86_64-linux",
    "arm64-linux": "aarch64-linux",
    "arm64-macos": "aarch64-macos",
    "aarch64-darwin": "aarch64-macos",
    "x86_64-darwin": "x86_64-macos",
}
"""Other spellings. They are not accepted; the message names the one that is."""


def known_names() -> list[str]:
    own = {host.name for host in HOSTS} | {device.name for device in DEVICES}
    return sorted(own | set(MISSING) | WITHOUT_PACKAGE)


def resolve(name: str, direct: bool) -> Target:
    """The target of that name, a host in the lane asked for, or the refusal that says what is missing."""
    for host in HOSTS:
        if host.name == name:
            if not direct and not host.scheduled and name != DEFAULT:
                raise Refused(errors.needs_direct(name))
            return host
    for device in DEVICES:
        if device.name == name:
            return device
    if name in MISSING:
        raise Refused(errors.cannot_emit(name, MISSING[name]))
    if name in WITHOUT_PACKAGE:
        raise Refused(errors.no_package(name))
    meant = ALIASES.get(name.casefold(), "")
    hosts, cards = [host.name for host in HOSTS], [device.name for device in DEVICES]
    raise Refused(errors.unknown(name, known_names(), hosts, cards, meant))


def require_kind(kind: str, target: Target) -> None:
    """Refuses an output kind that the target does not have.

    The executable of a device passes here: it is refused after admission, by `require_lowering`.
    """
    if isinstance(target, DeviceTarget):
        if kind not in ("exe", *target.kinds):
            raise Refused(errors.no_output_kind(kind, target.name, target.kinds))
    elif kind not in HOST_KINDS:
        raise Refused(errors.no_output_kind(kind, target.name, HOST_KINDS))


def require_lowering(kind: str, target: Target, span: Span | None) -> None:
    """Refuses, of a build that is admitted, the program that would drive a device: no host is derived yet."""
    if isinstance(target, DeviceTarget) and kind not in target.kinds:
        raise Refused(errors.no_derived_host(target.name, target.kinds, span))


def of_machine(system: str, processor: str) -> HostTarget:
    """The target whose executables a machine runs, by what Python's `platform` calls its system and its processor.

    Refused with T0405 where there is none.
    """
    called = processor.lower()
    name = f"{_PROCESSORS.get(called, called)}-{system.lower()}"
    for host in HOSTS:
        if host.name == name:
            return host
    raise Refused(errors.cannot_run(name, [host.name for host in HOSTS]))


_PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
"""What some systems call a processor that Alpha calls otherwise."""

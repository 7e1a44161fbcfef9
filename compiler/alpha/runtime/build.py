"""The runtime as one LLVM module for a host. It never depends on the system that is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from alpha.base.host import HostTarget
from alpha.runtime import abi
from alpha.runtime.constants import SHA_INITIAL, SHA_ROUNDS
from alpha.runtime.interface import ABI, ABI_SYMBOL
from alpha.runtime.linux import ERRNO, machine_for
from alpha.runtime.sources import UNITS, source_text
from alpha.runtime.subset.module import CompiledModule, Settings, SubsetSource, compile_module
from alpha.runtime.subset.scope import Table
from alpha.runtime.subset.types import TYPES

SOURCES = (
    "memory",
    "output",
    "console",
    "clock",
    "sha256",
    "powers",
    "numbers",
    "parsing",
    "files",
    "pool",
    "signals",
    "order",
    "options",
    "batches",
    "programs",
    "board",
    "events",
    "evaluation",
    "json",
    "checkpoint",
    "restore",
    "resume",
    "data",
    "replay",
    "training",
    "arrays",
    "predict",
    "sample",
    "tests",
    "commands",
    "start",
)
"""In this order: a source may use the constants of those before it, and the functions of all."""

LIBRARY_SOURCES = (
    "memory",
    "output",
    "sha256",
    "powers",
    "numbers",
    "parsing",
    "files",
    "order",
    "batches",
    "programs",
    "evaluation",
    "json",
    "checkpoint",
    "restore",
    "data",
    "shared",
)
"""Those of a shared object, in their order. What `shared` does not reach of the others is left out."""


def runtime_ir(host: HostTarget) -> str:
    """LLVM IR text of the runtime for `host`; equal calls give equal text.

    Raises KeyError for a host whose machine has no runtime.
    """
    return compile_runtime(host).ir


def compile_runtime(host: HostTarget) -> CompiledModule:
    return compile_sources(runtime_sources(host), host)


def runtime_sources(host: HostTarget) -> list[SubsetSource]:
    names = [*SOURCES, machine_for(host.machine).source]
    return [SubsetSource(f"{name}.rt", source_text(name)) for name in names]


def library_ir(host: HostTarget) -> str:
    """As `runtime_ir`, for a shared object."""
    names = [*LIBRARY_SOURCES, machine_for(host.machine).source]
    sources = [SubsetSource(f"{name}.rt", source_text(name)) for name in names]
    return compile_sources(sources, host, library=True).ir


def compile_sources(
    sources: Sequence[SubsetSource], host: HostTarget, library: bool = False
) -> CompiledModule:
    """Lowers sources with the constants, tables and machine code of the runtime on `host`."""
    machine = machine_for(host.machine)
    settings = Settings(
        triple=host.triple,
        processor=machine.processor,
        producer="alpha",
        constants=_constants(host, machine.system_calls, machine.constants),
        tables={
            "SHA_K": Table(TYPES["u32"], SHA_ROUNDS),
            "SHA_H": Table(TYPES["u32"], SHA_INITIAL),
            "vdso_clock_name": Table(TYPES["u8"], [*machine.vdso_clock.encode(), 0]),
        },
        ir=machine.ir + (machine.library_ir + _ABI_IR if library else ""),
        apart=frozenset(UNITS),
        defined_in_ir=machine.defined | (_FLOAT_CONTROL if library else frozenset()),
        library=library,
    )
    return compile_module(sources, settings)


_ABI_IR = f"@{ABI_SYMBOL} = hidden constant i32 {ABI}, align 4\n"
_FLOAT_CONTROL = frozenset({"rt_float_control", "rt_set_float_control"})


def _constants(
    host: HostTarget, system_calls: Mapping[str, int], more: Mapping[str, int]
) -> dict[str, int]:
    values = abi.constants()
    values |= {f"SYS_{name.upper()}": number for name, number in system_calls.items()}
    values |= ERRNO
    values |= more
    values["PAGE_MAX"] = host.page
    return values

"""The linker's modules as one value, so that a table of expectations can run on the real ones and on mutants."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import alpha.elf
from alpha.base.host import HostTarget
from alpha.targets import HOSTS
from targets.elf.hand_made import X86

PACKAGE = "alpha.elf"
MODULES = (
    "reloc",
    "read",
    "resolve",
    "collect",
    "layout",
    "fill",
    "write",
    "link",
    "frames",
    "notes",
    "verify",
)
X86_HOST, ARM_HOST = sorted(HOSTS, key=lambda host: host.machine != X86)


@dataclass(frozen=True)
class Linker:
    modules: dict[str, ModuleType]

    def host(self, machine: int) -> HostTarget:
        return X86_HOST if machine == X86 else ARM_HOST

    def link(
        self,
        *objects: bytes,
        machine: int = X86,
        manifest: bytes = b"{}",
        blobs: tuple[tuple[str, bytes, int], ...] = (),
        debug: bool = True,
        entry: str = "_start",
        left_out: frozenset[str] = frozenset(),
    ) -> bytes:
        """The image of objects called a.o, b.o and so on."""
        module = self.modules["link"]
        made = tuple(module.Blob(*blob) for blob in blobs)
        options = module.LinkOptions(self.host(machine), manifest, made, debug, entry, left_out)
        named = [(f"{chr(ord('a') + index)}.o", data) for index, data in enumerate(objects)]
        image: bytes = module.link(named, options)
        return image

    def verify(self, image: bytes, machine: int = X86) -> None:
        self.modules["verify"].verify(image, self.host(machine))

    def fault(self, action: Callable[[], object]) -> str:
        """The name of the refusal that `action` ends in; "accepted" where it does not."""
        # A mutant has an exception class of its own, so it is known by its name.
        try:
            action()
        except Exception as error:
            if type(error).__name__ != "LinkError":
                raise
            name: str = error.fault.name  # type: ignore[attr-defined]
            return name
        return "accepted"


REAL = Linker({name: importlib.import_module(f"{PACKAGE}.{name}") for name in MODULES})


def source(module: str) -> str:
    return (Path(alpha.elf.__path__[0]) / f"{module}.py").read_text(encoding="utf-8")


def mutant(module: str, text: str) -> Linker:
    """The linker with `text` in the place of one module's source. Nothing outside the result sees it."""
    prefix = PACKAGE + "."
    kept = {name: value for name, value in sys.modules.items() if name.startswith(prefix)}
    attributes = {
        name: value for name, value in vars(alpha.elf).items() if isinstance(value, ModuleType)
    }
    try:
        for name in kept:
            del sys.modules[name]
        for name in attributes:
            delattr(alpha.elf, name)
        changed = ModuleType(prefix + module)
        changed.__package__ = PACKAGE
        sys.modules[prefix + module] = changed
        setattr(alpha.elf, module, changed)
        exec(compile(text, f"mutant of {module}", "exec"), changed.__dict__)
        return Linker({name: importlib.import_module(prefix + name) for name in MODULES})
    finally:
        for name in [name for name in sys.modules if name.startswith(prefix)]:
            del sys.modules[name]
        sys.modules.update(kept)
        for name, value in attributes.items():
            setattr(alpha.elf, name, value)

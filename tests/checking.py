"""Checking a text as the module `Main`, next to the shipped modules, which are read once."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from alpha.base.span import Source
from alpha.check.modules import PRELUDE, LoadedModule, SourceRoots, load
from alpha.check.program import check
from alpha.core.term import Program
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Refused
from alpha.syntax import tree
from alpha.syntax.parse import parse_module

_HEADER = re.compile(r"^module ([A-Za-z0-9.]+)", re.MULTILINE)

SHIPPED = (
    "Alpha.Nn",
    "Alpha.Optim",
    "Alpha.Schedule",
    "Alpha.Admission",
    "Platform.Linux.X8664",
    "Platform.Linux.AArch64",
    "Digits.Run",
    "Olimpia.Run",
    "Digits.Build.X8664Linux",
    "Digits.Build.AArch64Linux",
    "Digits.Build.RTX3090",
    "Coppelius.Build.X8664Linux",
    "Coppelius.Build.AArch64Linux",
)


@cache
def shipped() -> dict[str, LoadedModule]:
    """The shipped modules by name, each after those it imports."""
    modules = load(SourceRoots.open(None), SHIPPED, Diagnostics())
    return {module.name: module for module in modules}


def loaded(text: str, name: str = "Main") -> LoadedModule:
    """A module of the user's own. Raises `Refused` if the text does not parse."""
    source = Source(f"{name.replace('.', '/')}.alpha", text)
    module = parse_module(source)
    imports = tuple(
        ".".join(part.text for part in item.path)
        for item in module.items
        if isinstance(item, tree.Import)
    )
    return LoadedModule(name, source, module, Path(source.path), imports, "", False)


def closure(modules: list[LoadedModule]) -> list[LoadedModule]:
    """The modules behind the shipped ones that they need."""
    own = {module.name for module in modules}
    wanted: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in own and name not in wanted:
            if name not in shipped():
                raise Refused(Diagnostic("E0102", f"there is no module `{name}`"))
            for inner in shipped()[name].imports:
                visit(inner)
            wanted[name] = None

    for name in (*PRELUDE, *[i for module in modules for i in module.imports]):
        visit(name)
    return [*[shipped()[name] for name in wanted], *modules]


def check_text(*texts: str) -> tuple[Program | None, list[Diagnostic]]:
    """The program of some modules, in dependency order, and everything that was reported.

    A text without a header is the body of `module Main`.
    """
    modules = []
    for text in texts:
        header = _HEADER.search(text)
        if header is None:
            modules.append(loaded(f"module Main\n\n{text.lstrip()}"))
        else:
            modules.append(loaded(text, header[1]))
    diagnostics = Diagnostics()
    program = closure(modules)
    try:
        return check(program, diagnostics), diagnostics.items
    except Refused:
        return None, diagnostics.items


def codes(*texts: str) -> list[str]:
    """The codes of the errors, in order."""
    return [item.code for item in check_text(*texts)[1] if item.code[0] != "W"]

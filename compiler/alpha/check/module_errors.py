"""The diagnostics of finding and loading modules: E0102 to E0109, E0201, E0202, W0001 and W0005."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from alpha.base.span import Span
from alpha.diagnostics.closest import closest_written, guesses
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity


def unknown_module(span: Span | None, name: str, known: Iterable[str], file: str) -> Diagnostic:
    known = sorted(known)
    return Diagnostic(
        "E0102",
        f"there is no module `{name}`",
        span,
        cause=f"it would be the file `{file}` below the package's folder, its `systems/` or `platforms/`, "
        "or in the library",
        hints=guesses(name, known),
        fixes=closest_written(span, name, known) if span else (),
    )


def unreadable_module(span: Span | None, name: str, file: str, reason: str) -> Diagnostic:
    return Diagnostic(
        "E0102",
        f"the module `{name}` cannot be read: {reason}",
        span,
        cause=f"its file is `{file}`",
    )


def damaged_library(name: str) -> Diagnostic:
    return Diagnostic(
        "E0102",
        f"the library module `{name}` is missing",
        cause="it belongs to the compiler and is in scope everywhere, so this installation is damaged",
        hints=("install Alpha again",),
    )


def import_cycle(span: Span, path: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0103",
        f"these modules import each other: {' -> '.join(path)}",
        span,
        cause="a module is checked after everything that it imports",
        hints=("move what both need into a module of its own",),
    )


def two_files(span: Span | None, name: str, first: str, second: str) -> Diagnostic:
    return Diagnostic(
        "E0105",
        f"the module `{name}` exists twice",
        span,
        cause=f"its files are `{first}` and `{second}`, and a name must mean one text",
        hints=("rename or remove one of the two",),
    )


def replaced_shipped(span: Span | None, name: str, own: str, shipped: str) -> Diagnostic:
    return Diagnostic(
        "E0105",
        f"`{own}` would replace the compiler's own module `{name}`",
        span,
        cause="modules `Alpha.*` and `Platform.*` hold the meaning of operations and the facts of devices; "
        f"`{shipped}` has another text",
        hints=("give your module another name",),
    )


def hidden_shipped(span: Span, name: str, shipped: str) -> Diagnostic:
    return Diagnostic(
        "W0005",
        f"this module hides the shipped module `{name}`, whose text differs",
        span,
        cause=f"the package's own modules come before `{shipped}`",
        hints=("rename it if that is not meant",),
        severity=Severity.WARNING,
    )


def wrong_header(span: Span, name: str, expected: str, file: str) -> Diagnostic:
    return Diagnostic(
        "E0107",
        f"the header says `{name}`, but the file's place says `{expected}`",
        span,
        cause=f"imports find a module by its place: `{file}` below a source root holds `module {expected}`",
        hints=(f"rename the module to `{expected}`, or move the file",),
        fixes=(Fix(f"write `{expected}`", span, expected),),
    )


def not_exposed(
    span: Span, name: str, module: str, exposed: Iterable[str], declared: Span | None
) -> Diagnostic:
    exposed = sorted(exposed)
    labels = (
        (Label(declared, f"`{name}` is declared here, but not in the `exposing` list"),)
        if declared
        else ()
    )
    return Diagnostic(
        "E0109",
        f"`{module}` does not expose `{name}`",
        span,
        labels=labels,
        cause=f"it exposes {_listed(exposed)}",
        hints=() if declared else guesses(name, exposed),
        fixes=() if declared else closest_written(span, name, exposed),
    )


def system_names_device(span: Span, kind: str, path: Sequence[str]) -> Diagnostic:
    chain = f", through {' -> '.join(path)}" if len(path) > 2 else ""
    return Diagnostic(
        "E0201",
        f"`{path[0]}` declares a {kind}, and imports `{path[-1]}`{chain}",
        span,
        cause="a system never names a device; only a pairing brings the two together",
        hints=("move what needs the platform into a module of the system's `Build/` folder",),
    )


def reference_module(span: Span | None, name: str) -> Diagnostic:
    return Diagnostic(
        "E0202",
        f"`{name}` is a reference module, and no build may hold one",
        span,
        cause="reference models check the compiler from outside; what is built must not depend on them",
    )


def reference_root(folder: str) -> Diagnostic:
    return Diagnostic(
        "E0202",
        f"the folder `{folder}` holds reference models and is never a source root",
        cause="reference models check the compiler from outside; what is built must not depend on them",
    )


def unused_import(span: Span, name: str, module: str, removal: Fix) -> Diagnostic:
    return Diagnostic(
        "W0001",
        f"`{name}` is imported from `{module}` and never used",
        span,
        cause="an import that is not used hides what the module depends on",
        fixes=(removal,),
        severity=Severity.WARNING,
    )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "nothing"
    shown = ", ".join(f"`{name}`" for name in names[:8])
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")

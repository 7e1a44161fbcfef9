"""Fixes applied to a text: which of them go together, and what the text is then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from alpha.diagnostics.diagnostic import Diagnostic, Fix


def safe_fixes(diagnostics: Iterable[Diagnostic]) -> tuple[Fix, ...]:
    """The safe fix of each diagnostic that has one, each edit once. The fixes of one diagnostic are alternatives."""
    found: dict[tuple[str, int, int, str], Fix] = {}
    for diagnostic in diagnostics:
        fix = next((fix for fix in diagnostic.fixes if fix.safe), None)
        if fix is not None:
            span = fix.span
            found.setdefault((span.source.path, span.start, span.end, fix.replacement), fix)
    return tuple(found.values())


def unsure_fixes(diagnostics: Iterable[Diagnostic]) -> tuple[tuple[Diagnostic, Fix], ...]:
    """The first fix of each diagnostic that has no safe one."""
    return tuple(
        (diagnostic, diagnostic.fixes[0])
        for diagnostic in diagnostics
        if diagnostic.fixes and not any(fix.safe for fix in diagnostic.fixes)
    )


def compatible(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Those that share no character with an earlier one of the same file, in order. Two insertions at one place do."""
    chosen: list[Fix] = []
    for fix in fixes:
        if not any(_overlap(fix, other) for other in chosen):
            chosen.append(fix)
    return tuple(chosen)


def applied(text: str, fixes: Sequence[Fix]) -> str:
    """`text` with compatible fixes carried out, all of this one source."""
    for fix in sorted(fixes, key=lambda fix: (fix.span.start, fix.span.end), reverse=True):
        text = text[: fix.span.start] + fix.replacement + text[fix.span.end :]
    return text


def _overlap(one: Fix, two: Fix) -> bool:
    first, second = one.span, two.span
    if first.source.path != second.source.path:
        return False
    return first.start == second.start or (first.start < second.end and second.start < first.end)

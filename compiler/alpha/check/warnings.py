"""Warnings about definitions: never used (W0002), exported without a signature (W0004)."""

from __future__ import annotations

from alpha.check import errors_names
from alpha.check.definitions import Signed
from alpha.check.module_scope import Work
from alpha.core.type_text import type_text
from alpha.syntax import tree


def warn(work: Work, signatures: dict[str, Signed]) -> None:
    """Only a module without errors is warned about: what is at fault may look unused."""
    if work.diagnostics.errors or work.loaded.shipped:
        return
    exported = work.scope.exported
    for item in work.loaded.tree.items:
        if not isinstance(
            item, tree.Define | tree.SourceDecl | tree.OptimizerDecl | tree.LearnerDecl
        ):
            continue
        name = item.name.text
        if exported is not None and name not in exported:
            if work.symbol(name) not in work.scope.used:
                work.report(errors_names.unused(item.name.span, name))
        elif isinstance(item, tree.Define) and name not in signatures:
            scheme = work.scope.values[name].scheme
            if scheme is not None:
                work.report(errors_names.no_signature(item.name.span, name, type_text(scheme.type)))

"""Totality of calls: no definition of a module reaches itself (E0501)."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.check import errors_names
from alpha.check.cycles import circle, components, is_circle
from alpha.check.module_scope import Work
from alpha.core import term
from alpha.core.walk import subterms
from alpha.diagnostics.diagnostic import Label


def refuse_recursion(work: Work) -> None:
    """Imports go in no circle, so a circle of calls lies within one module."""
    graph: dict[str, list[str]] = {}
    places: dict[str, Span] = {}
    for definition in work.definitions:
        if definition.value is None:
            continue
        name = definition.symbol.removeprefix(work.loaded.name + ".")
        places[definition.symbol] = work.places.get(name, definition.span)
        graph[definition.symbol] = list(
            dict.fromkeys(
                t.symbol for t in subterms(definition.value) if isinstance(t, term.Global)
            )
        )
    for component in components(graph):
        if is_circle(component, graph):
            path = circle(component, graph)
            names = [symbol.removeprefix(work.loaded.name + ".") for symbol in path]
            labels = tuple(Label(places[s], "part of the circle") for s in path[1:])
            work.report(errors_names.recursion(places[path[0]], names, labels))

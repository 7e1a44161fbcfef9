"""Where a size comes from: the trail behind a message about sizes that do not agree.

A size that was found for a name of a signature is shown as `name = value` at the argument that fixed it. The size of a
name in scope is followed to the type that was written for it, or to the place where it is bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from alpha.base.record import record
from alpha.base.span import Span
from alpha.check.entries import Entry, OwnParameter, Variable
from alpha.check.scope import ModuleScope, Value
from alpha.check.show import Shower
from alpha.check.solver import Solver
from alpha.core.dim import Dim
from alpha.core.substitute import variables
from alpha.core.type_text import type_text
from alpha.core.types import Kind, TypeArgument
from alpha.diagnostics.diagnostic import Label

MOST = 4
"""So many steps are shown."""
_NAME = re.compile(r"[a-z][\w']*")


def solved_names(solver: Solver, items: Sequence[TypeArgument]) -> tuple[Label, ...]:
    """`n = 3` for each name of a signature in `items` whose size an earlier argument has fixed, at that argument."""
    names: dict[str, None] = {}
    for item in items:
        _collect(solver, item, names)
    return tuple(_reasons(solver, names))


def inside(solver: Solver, place: Span) -> tuple[Label, ...]:
    """`n = 3` for the names that were fixed within the expression at `place`."""
    names = [
        name
        for name, reason in solver.reasons.items()
        if reason.source is place.source
        and place.start <= reason.start
        and reason.end <= place.end
        and reason != place
    ]
    return tuple(_reasons(solver, names))


@record
class Trail:
    """What is known of the names in scope where a message is made.

    `written` maps the places where names are bound to those of their types, `made` to those of their values.
    """

    solver: Solver
    scope: ModuleScope
    names: Mapping[str, Entry]
    written: Mapping[Span, Span]
    made: Mapping[Span, Span]
    sizes: Sequence[Dim]

    def of(self, operands: Iterable[Span]) -> tuple[Label, ...]:
        """Where the sizes of the operands come from: of those that are names, or applications of one."""
        found: dict[Label, None] = {}
        for operand in operands:
            for label in self._steps(operand):
                if label.span != operand:
                    found[label] = None
        return tuple(found)

    def _steps(self, operand: Span) -> Iterator[Label]:
        text = operand.text.strip("() ")
        match = _NAME.match(text)
        if match is None:
            return
        name, alone = match[0], match[0] == text
        entry = self.names.get(name) or self.scope.values.get(name)
        if isinstance(entry, Variable) and alone:
            place = self.made.get(entry.span)
            if place is not None:
                yield Label(place, f"`{name}` is made here")
                yield from inside(self.solver, place)
                yield from self._steps(place)
            elif entry.span in self.written:
                yield _size(self.written[entry.span], name, self.sizes)
        elif isinstance(entry, OwnParameter) and alone:
            yield Label(entry.span, f"a parameter of type `{type_text(entry.type)}`")
        elif isinstance(entry, Value) and entry.scheme is not None and not entry.intrinsic:
            yield Label(entry.span, f"`{name} : {type_text(entry.scheme.type)}`")


def _size(type_: Span, name: str, sizes: Sequence[Dim]) -> Label:
    """The one place within a written type where one of the sizes stands, else the type."""
    for size in sizes:
        places = list(re.finditer(rf"(?<![\w.]){re.escape(str(size))}(?![\w.])", type_.text))
        if len(places) == 1:
            start = type_.start + places[0].start()
            span = Span(type_.source, start, start + len(places[0][0]))
            return Label(span, f"`{name}` has `{size}` here")
    return Label(type_, f"`{name}` has this type")


def _collect(solver: Solver, item: TypeArgument, names: dict[str, None]) -> None:
    """The unknown sizes of a type, those behind solved unknowns too."""
    for name, kind in variables(item):
        if name in names:
            continue
        if kind is Kind.DIM:
            names[name] = None
            if name in solver.dims:
                _collect(solver, solver.dims[name], names)
        elif name in solver.types:
            solution = solver.types[name]
            _collect(solver, solution, names)
        elif name in solver.shapes:
            _collect(solver, solver.shapes[name], names)


def _reasons(solver: Solver, names: Sequence[str] | dict[str, None]) -> Iterator[Label]:
    shower = Shower(solver)
    told: set[str] = set()
    for name in names:
        reason = solver.reasons.get(name)
        hint = solver.unknowns[name].hint if name in solver.unknowns else ""
        if reason is None or not hint or name not in solver.dims:
            continue
        value = str(shower.dim(solver.dims[name]))
        text = f"`{hint} = {value}`"
        if value not in (hint, "_") and text not in told:
            told.add(text)
            yield Label(reason, text)

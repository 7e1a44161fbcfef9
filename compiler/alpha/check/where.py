"""The equations behind `where`: each solves one name, and they go in no circle."""

from __future__ import annotations

from collections.abc import Callable

from alpha.check import errors_shapes
from alpha.check.scope import Where
from alpha.check.type_reader import TypeReader
from alpha.core.dim import Dim
from alpha.core.types import Kind
from alpha.diagnostics.diagnostic import Diagnostic, Reported
from alpha.syntax import tree


def read_where(
    report: Callable[[Diagnostic], Reported],
    reader: TypeReader,
    equations: tuple[tree.Equation, ...],
) -> Where:
    """The equations as written, in order, without those at fault."""
    found: dict[str, Dim] = {}
    for equation in equations:
        name = equation.name.text
        known = reader.variables.kinds.get(name)
        if known is None:
            if reader.variables.open:
                reader.variables.kinds[name] = Kind.DIM
            else:
                reader.dim(tree.DimVar(name, span=equation.name.span))
                continue
        dim = reader.dim(equation.dim)
        if name in found or name in expanded({**found, name: dim}).get(name, dim).names:
            report(errors_shapes.where_twice(equation.name.span, name))
            continue
        found[name] = dim
    return tuple(found.items())


def expanded(equations: dict[str, Dim]) -> dict[str, Dim]:
    """The equations with each other's names replaced, so that one substitution suffices."""
    result = dict(equations)
    for _ in equations:
        result = {name: dim.substituted(equations) for name, dim in result.items()}
    return result

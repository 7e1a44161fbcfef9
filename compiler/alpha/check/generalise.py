"""From an inferred type to a scheme: unknowns that nothing outside holds become variables."""

from __future__ import annotations

from alpha.check.context import Context
from alpha.core.dim import Dim
from alpha.core.substitute import variables
from alpha.core.types import Constraint, Kind, Scheme, Shape, Type, TypeVar

_LETTERS = {Kind.TYPE: "abcefgh", Kind.ELEMENT: "dt", Kind.DIM: "nmkij", Kind.SHAPE: "srq"}


def generalise(cx: Context, type_: Type, *, top: bool = False) -> Scheme:
    """The scheme of a definition's type. Solves its unknowns with the new variables.

    `top`: a module-level definition, whose variables get readable names; those of local functions carry a number, so
    that they differ from all names around them.
    """
    solver = cx.solver
    held = {n for w in cx.waiting for t in w.types for n in solver.open_names(t)}
    for equation in cx.equations:
        held.update(solver.open_names(equation.left), solver.open_names(equation.right))
    taken = set(cx.variables.kinds) | set(cx.locals) if top else set()
    for name in solver.open_names(type_):
        info = solver.unknowns[name]
        if name in solver.types or name in solver.dims or name in solver.shapes:
            continue
        if info.level <= solver.level and not top:
            continue
        if name in held or info.literal is not None:
            info.level = min(info.level, solver.level)
            continue
        _solve(cx, name, _fresh_name(cx, info.kind, info.constraints, taken, top))
    known = solver.known(type_)
    seen: list[tuple[str, Kind]] = []
    outer = {name for name, _ in cx.rigid} if not top else set()
    for item in variables(known):
        local = "'" in item[0] and item[0][-1].isdigit()
        if item not in seen and item[0][0] not in "?!" and (top or local) and item[0] not in outer:
            seen.append(item)
    return Scheme(tuple(seen), known)


def _fresh_name(
    cx: Context, kind: Kind, constraints: frozenset[Constraint], taken: set[str], top: bool
) -> str:
    base = next(iter(sorted(c.value for c in constraints)), "")
    if not top:
        return f"{base or _LETTERS[kind][0]}'{cx.name_serial()}"
    if base:
        candidates = [f"{base}{n or ''}" for n in range(len(taken) + 2)]
    else:
        letters = _LETTERS[kind]
        candidates = [*letters, *[f"{letters[0]}{n}" for n in range(1, len(taken) + 2)]]
    name = next(c for c in candidates if c not in taken)
    taken.add(name)
    return name


def _solve(cx: Context, unknown: str, name: str) -> None:
    solver = cx.solver
    info = solver.unknowns[unknown]
    if info.kind is Kind.DIM:
        solver.dims[unknown] = Dim.variable(name)
    elif info.kind is Kind.SHAPE:
        solver.shapes[unknown] = Shape((), name)
    elif info.kind is Kind.ELEMENT:
        solver.types[unknown] = TypeVar(name)
    else:
        constraint = next(iter(sorted(info.constraints, key=lambda c: c.value)), None)
        if Constraint.ORD in info.constraints:
            constraint = Constraint.ORD
        solver.types[unknown] = TypeVar(name, constraint)
    solver.progress += 1

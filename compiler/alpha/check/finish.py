"""The end of a definition: what waits is settled or given up, and every unknown is replaced in its core."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.check import errors_shapes, errors_types
from alpha.check.context import Context
from alpha.check.conversions import nearest
from alpha.check.entries import Hole
from alpha.check.solver import F32, INT, KEY, SCALAR
from alpha.core import term as core
from alpha.core.dim import Answer, Dim
from alpha.core.substitute import variables
from alpha.core.term import Term
from alpha.core.types import (
    Element,
    Function,
    Index,
    Kind,
    Named,
    Scheme,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
    TypeVar,
)
from alpha.core.walk import fold


def close(cx: Context) -> None:
    """Settles everything; reports what was never known, unless an error of this definition may be the reason."""
    cx.settle()
    if cx.waiting:
        _default_literals(cx)
        cx.seen = -1
        cx.settle()
    while cx.waiting:
        waiting = cx.waiting.pop(0)
        if not waiting.attempt() and not cx.failed:
            waiting.give_up()
        cx.settle()
    _default_literals(cx)
    cx.seen = -1
    cx.settle()
    if not cx.failed:
        for equation in cx.equations:
            cx.report_equation(equation, Answer.UNDECIDED)
    cx.equations = []
    for element, allowed, indexes, operation, span in cx.dtype_checks:
        _check_dtype(cx, element, allowed, indexes, operation, span)
    cx.dtype_checks = []


def _default_literals(cx: Context) -> None:
    solver = cx.solver
    for name, info in solver.unknowns.items():
        if info.literal is None or name in solver.types:
            continue
        if info.kind is Kind.ELEMENT:
            solver.types[name] = Dtype.F32
        else:
            solver.types[name] = INT if info.literal == "int" else F32
        solver.progress += 1


def _check_dtype(
    cx: Context,
    element: Element,
    allowed: frozenset[Dtype],
    indexes: bool,
    operation: str,
    span: Span,
) -> None:
    found = cx.solver.element_head(element)
    if isinstance(found, Dtype) and found in allowed:
        return
    if isinstance(found, TypeVar) or (isinstance(found, Index) and indexes):
        return
    names = [d.value for d in Dtype if d in allowed]
    cx.report(errors_types.dtype_undefined(span, operation, cx.shower.element(found), names))


class Poisoned(Exception):
    """A term holds a type whose fault is reported: there is nothing to finish."""


def finish(cx: Context, found: Term) -> Term | None:
    """The term of a definition without unknowns; None if something in it is at fault."""
    close(cx)
    if cx.failed:
        return None
    try:
        done = Finisher(cx).term(found)
    except Poisoned:
        cx.failed = True
        return None
    if cx.failed:
        return None
    cx.scope.unused_keys += [
        variable.span
        for variable in cx.bound
        if id(variable) not in cx.used and cx.solver.head(variable.type) == KEY
    ]
    return done


# ---- replacing unknowns ----------------------------------------------------------------------------------------------


def _has_unknown(item: Any) -> bool:
    """Whether a type has a variable that is not the user's own."""
    waiting: list[Any] = [item]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is Tensor:
            waiting += (item.element, item.shape)
        elif kind is Shape:
            lead = item.lead
            if lead is not None and lead[0] in "?!":
                return True
            waiting += item.axes
        elif kind is Dim:
            for monomial, _ in item.terms:
                for name in monomial:
                    if name[0] in "?!":
                        return True
        elif kind is TypeVar:
            if item.name[0] in "?!":
                return True
        elif kind is Function:
            waiting += (item.parameter, item.result)
        elif kind is Named:
            waiting += item.arguments
        elif kind is TupleType:
            waiting += item.items
        elif kind is Index:
            waiting.append(item.size)
    return False


class Finisher:
    """Replaces unknowns in the terms of one definition. Each type is looked at once."""

    def __init__(self, cx: Context) -> None:
        self.cx = cx
        self.seen: dict[int, tuple[object, object]] = {}

    def type(self, item: Type) -> Type:
        cached = self.seen.get(id(item))
        if cached is not None:
            return cached[1]  # type: ignore[return-value]
        known = self._closed(item)
        self.seen[id(item)] = (item, known)
        return known

    def _closed(self, item: Type) -> Type:
        solver = self.cx.solver
        known = solver.known(item)
        return solver.known(known) if self._defaulted(known) else known

    def _defaulted(self, known: TypeArgument) -> bool:
        """Whether some unknown was left, and now has a value that cannot matter."""
        if not _has_unknown(known):
            return False
        found = False
        for name, _ in variables(known):
            if name[0] == "?":
                self._default(name)
                found = True
            elif name[0] == "!":
                raise Poisoned
        return found

    def argument(self, item: TypeArgument) -> TypeArgument:
        solver = self.cx.solver
        known = solver.known_argument(item)
        return solver.known_argument(known) if self._defaulted(known) else known

    def _default(self, name: str) -> None:
        """What nothing determines: a size is an error, anything else cannot matter."""
        solver = self.cx.solver
        if name in solver.types or name in solver.dims or name in solver.shapes:
            return
        info = solver.unknowns[name]
        if info.kind is Kind.DIM:
            what = f"size `{info.hint}`" if info.hint else "size"
            span = info.span
            if not self.cx.failed and span is not None:
                self.cx.report(errors_shapes.undetermined(span, what))
            solver.dims[name] = Dim.constant(1)
        elif info.kind is Kind.SHAPE:
            solver.shapes[name] = SCALAR
        elif info.kind is Kind.ELEMENT:
            solver.types[name] = Dtype.F32
        else:
            solver.types[name] = INT

    def dim(self, item: Dim) -> Dim:
        found = self.argument(item)
        assert isinstance(found, Dim)
        return found

    # ---- terms -----------------------------------------------------------------------------------------------------

    def term(self, item: Term) -> Term:
        return fold(item, lambda found, parts: _REBUILD[type(found)](self, found, parts), _standing)

    def pattern(self, item: core.Pattern) -> core.Pattern:
        if isinstance(item, core.Bind):
            return core.Bind(item.name, self.type(item.type))
        if isinstance(item, core.Ignore):
            return core.Ignore(self.type(item.type))
        if isinstance(item, core.MatchTuple):
            return core.MatchTuple(tuple([self.pattern(i) for i in item.items]))
        if isinstance(item, core.MatchConstructor):
            return core.MatchConstructor(
                item.constructor, tuple([self.pattern(i) for i in item.arguments])
            )
        return item

    def literal(self, item: core.Literal) -> core.Literal:
        type_ = self.type(item.type)
        value = item.value
        if isinstance(type_, Named) and type_.name == "Amount" and isinstance(value, int):
            value = core.Amount(Fraction(value))
        elif (
            isinstance(type_, Tensor)
            and isinstance(type_.element, Dtype)
            and isinstance(value, int | Fraction)
            and not fits(value, type_.element)
        ):
            self.cx.report(
                errors_types.literal(
                    item.span,
                    item.span.text,
                    type_.element.value,
                    nearest(item.span.text, type_.element),
                )
            )
        return core.Literal(value, span=item.span, type=type_)


def fits(value: int | Fraction, dtype: Dtype) -> bool:
    """An integer literal is exact in `dtype`; a float literal does not overflow it."""
    if dtype is Dtype.BOOL:
        return False
    if dtype in _RANGES:
        low, high = _RANGES[dtype]
        return isinstance(value, int) and low <= value <= high
    precision, largest = _FORMATS[dtype]
    # The first value that rounds to infinity lies half a unit above the largest finite one.
    limit = 2**largest * (1 - Fraction(1, 2 ** (precision + 1)))
    if abs(value) >= limit:
        return False
    if isinstance(value, int) and value:
        size = abs(value)
        return size.bit_length() - ((size & -size).bit_length() - 1) <= precision
    return True


_RANGES: dict[Dtype, tuple[int, int]] = {
    Dtype.I64: (-(2**63), 2**63 - 1),
    Dtype.I32: (-(2**31), 2**31 - 1),
    Dtype.U32: (0, 2**32 - 1),
    Dtype.U8: (0, 255),
}
_FORMATS: dict[Dtype, tuple[int, int]] = {
    Dtype.F64: (53, 1024),
    Dtype.F32: (24, 128),
    Dtype.BF16: (8, 128),
    Dtype.F16: (11, 16),
}
"""Bits of precision, and the power of two where the range ends."""


def _standing(found: Term) -> Term:
    """What fills a hole."""
    while isinstance(found, Hole):
        if found.filled is None:
            raise Poisoned
        found = found.filled
    return found


def _lambda(f: Finisher, t: core.Lambda, parts: tuple[Term, ...]) -> Term:
    patterns = tuple([f.pattern(p) for p in t.parameters])
    return core.Lambda(patterns, parts[0], span=t.span, type=f.type(t.type))


def _apply(f: Finisher, t: core.Apply, parts: tuple[Term, ...]) -> Term:
    function, arguments = parts[0], parts[1:]
    if isinstance(function, core.Apply) and isinstance(t.function, Hole | core.Apply):
        inner = function.function
        if isinstance(inner, core.Global) and function.span == t.function.span:
            # `net.forward x` is one application of the model's function.
            return core.Apply(
                inner, (*function.arguments, *arguments), span=t.span, type=f.type(t.type)
            )
        if isinstance(inner, core.Intrinsic) and inner.name == "optimizerApply":
            return core.Apply(
                inner, (*function.arguments, *arguments), span=t.span, type=f.type(t.type)
            )
    return core.Apply(function, arguments, span=t.span, type=f.type(t.type))


def _intrinsic(f: Finisher, t: core.Intrinsic, parts: tuple[Term, ...]) -> Term:
    shape = None if t.shape is None else tuple([f.dim(d) for d in t.shape])
    arguments = tuple([f.argument(a) for a in t.arguments])
    return core.Intrinsic(
        t.name, t.axes, shape, t.einsum, arguments, span=t.span, type=f.type(t.type)
    )


def _fields(
    t: core.RecordTerm | core.Update, parts: tuple[Term, ...]
) -> tuple[tuple[str, Term], ...]:
    return tuple([(name, part) for (name, _), part in zip(t.fields, parts, strict=True)])


def _general(f: Finisher, t: core.LetGeneral, parts: tuple[Term, ...]) -> Term:
    scheme = Scheme(t.scheme.variables, f.type(t.scheme.type))
    return core.LetGeneral(t.name, scheme, parts[0], parts[1], span=t.span, type=f.type(t.type))


def _cut(f: Finisher, item: core.At | core.Range | None) -> core.At | core.Range | None:
    if isinstance(item, core.At):
        return core.At(f.dim(item.place))
    if isinstance(item, core.Range):
        return core.Range(f.dim(item.low), f.dim(item.high))
    return None


_REBUILD: dict[type, Callable[..., Term]] = {
    core.Local: lambda f, t, _: core.Local(
        t.name, tuple([f.argument(a) for a in t.arguments]), span=t.span, type=f.type(t.type)
    ),
    core.Global: lambda f, t, _: core.Global(
        t.symbol, tuple([f.argument(a) for a in t.arguments]), span=t.span, type=f.type(t.type)
    ),
    core.Constructor: lambda f, t, _: core.Constructor(t.name, span=t.span, type=f.type(t.type)),
    core.Literal: lambda f, t, _: f.literal(t),
    core.DimValue: lambda f, t, _: core.DimValue(f.dim(t.dim), span=t.span, type=t.type),
    core.Intrinsic: _intrinsic,
    core.ModelValue: lambda f, t, _: core.ModelValue(
        t.model, tuple([f.dim(d) for d in t.dims]), span=t.span, type=f.type(t.type)
    ),
    core.Lambda: _lambda,
    core.Apply: _apply,
    core.Let: lambda f, t, p: core.Let(
        f.pattern(t.pattern), p[0], p[1], span=t.span, type=f.type(t.type)
    ),
    core.LetGeneral: _general,
    core.If: lambda f, t, p: core.If(p[0], p[1], p[2], span=t.span, type=f.type(t.type)),
    core.Match: lambda f, t, p: core.Match(
        p[0],
        tuple([core.Arm(f.pattern(a.pattern), b) for a, b in zip(t.arms, p[1:], strict=True)]),
        span=t.span,
        type=f.type(t.type),
    ),
    core.ListTerm: lambda f, t, p: core.ListTerm(p, span=t.span, type=f.type(t.type)),
    core.TupleTerm: lambda f, t, p: core.TupleTerm(p, span=t.span, type=f.type(t.type)),
    core.RecordTerm: lambda f, t, p: core.RecordTerm(
        _fields(t, p), span=t.span, type=f.type(t.type)
    ),
    core.Update: lambda f, t, p: core.Update(
        p[0], _fields(t, p[1:]), span=t.span, type=f.type(t.type)
    ),
    core.Select: lambda f, t, p: core.Select(p[0], t.field, span=t.span, type=f.type(t.type)),
    core.Subscript: lambda f, t, p: core.Subscript(
        p[0], tuple([_cut(f, i) for i in t.items]), span=t.span, type=f.type(t.type)
    ),
}

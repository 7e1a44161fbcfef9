"""Unknowns and their solutions.

An unknown is an ordinary variable of the core whose name begins with `?`; a poisoned one, made where an error was
reported, begins with `!`. Solutions are kept beside the types, so types stay immutable. Rigid variables are the
user's own names and never solved.
"""

from __future__ import annotations

from collections.abc import Set

from alpha.base.dtype import Dtype
from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.core.dim import Answer, Dim, TooLarge, equal
from alpha.core.types import (
    Constraint,
    Element,
    Function,
    Index,
    Kind,
    Named,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
    TypeVar,
)
from alpha.diagnostics.diagnostic import Reported

SCALAR = Shape(())
BOOL = Tensor(Dtype.BOOL, SCALAR)
INT = Named("Int")
TEXT = Named("Text")
AMOUNT = Named("Amount")
F32 = Tensor(Dtype.F32, SCALAR)
U32 = Tensor(Dtype.U32, SCALAR)
KEY = Named("Key")


class Mismatch(Exception):
    """Two types that cannot be one. `code` says in which respect; `left` was found, `right` expected, innermost.

    `unmet` is the unknown, by its name, that would have been solved by a type which lacks what the unknown must have.
    """

    def __init__(self, code: str, left: object, right: object, note: str = "") -> None:
        super().__init__(code)
        self.unmet: tuple[str, Type] | None = None
        self.code = code
        self.left = left
        self.right = right
        self.note = note


@record(frozen=False)
class Unknown:
    """What is known of an unknown. `literal` is `int` or `float` while it is only the type of a literal."""

    kind: Kind
    level: int
    span: Span | None
    literal: str | None = None
    constraints: frozenset[Constraint] = frozenset()
    hint: str = ""


MOST_VISITS = 200_000
"""Parts of types that the check of one definition may look at; none of the shipped systems takes 1,000."""

_VISITS_OF_LITERAL = 8
"""What each literal that is written out may add: a table of numbers is long, and none of its types is large."""


@record(frozen=False)
class Solver:
    """The unknowns of one definition. `where` rewrites names by the equations in scope, fully expanded."""

    level: int = 0
    unknowns: dict[str, Unknown] = field(default_factory=dict)
    types: dict[str, Type | Element] = field(default_factory=dict)
    dims: dict[str, Dim] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    where: dict[str, Dim] = field(default_factory=dict)
    poison: dict[str, Reported] = field(default_factory=dict)
    place: Span | None = None
    """What is compared now."""
    reasons: dict[str, Span] = field(default_factory=dict)
    """What fixed the size of an unknown."""
    opaque: Set[str] = frozenset()
    """Declared types without equality."""
    progress: int = 0
    """Counts solutions, so that those who wait know whether to look again."""
    visits: int = 0
    """Counts the parts of types that were looked at. Unification and all that reads a type comes by here."""
    allowed: int = MOST_VISITS

    # ---- making ----------------------------------------------------------------------------------------------------

    def _name(self, kind: Kind, span: Span | None, literal: str | None, hint: str) -> str:
        name = f"?{len(self.unknowns)}"
        self.unknowns[name] = Unknown(kind, self.level, span, literal, frozenset(), hint)
        if literal is not None:
            self.allowed += _VISITS_OF_LITERAL
        return name

    def type(self, span: Span | None = None, literal: str | None = None) -> TypeVar:
        return TypeVar(self._name(Kind.TYPE, span, literal, ""))

    def element(self, span: Span | None = None, hint: str = "") -> TypeVar:
        return TypeVar(self._name(Kind.ELEMENT, span, None, hint))

    def dim(self, span: Span | None = None, hint: str = "") -> Dim:
        return Dim.variable(self._name(Kind.DIM, span, None, hint))

    def shape(self, span: Span | None = None, hint: str = "") -> Shape:
        return Shape((), self._name(Kind.SHAPE, span, None, hint))

    def fresh(self, kind: Kind, span: Span | None, hint: str) -> TypeArgument:
        if kind is Kind.TYPE:
            return TypeVar(self._name(kind, span, None, hint))
        if kind is Kind.ELEMENT:
            return self.element(span, hint)
        return self.dim(span, hint) if kind is Kind.DIM else self.shape(span, hint)

    def poisoned(self, reported: Reported) -> TypeVar:
        """A type that agrees with everything, because its fault is already told."""
        name = f"!{len(self.poison)}"
        self.poison[name] = reported
        return TypeVar(name)

    # ---- reading ---------------------------------------------------------------------------------------------------

    def head(self, item: Type) -> Type:
        """`item` with solved unknowns removed at its root."""
        self.visits += 1
        if self.visits > self.allowed:
            raise TooLarge
        while type(item) is TypeVar:
            solution = self.types.get(item.name)
            if solution is None:
                break
            item = solution  # type: ignore[assignment]  # an unknown is solved by something of its own kind
        return item

    def element_head(self, item: Element) -> Element:
        while type(item) is TypeVar:
            solution = self.types.get(item.name)
            if solution is None:
                break
            item = solution  # type: ignore[assignment]  # as in `head`
        if type(item) is Index:
            return Index(self.known_dim(item.size))
        return item

    def known_dim(self, dim: Dim) -> Dim:
        dims = self.dims
        for monomial, _ in dim.terms:
            for name in monomial:
                if name in dims:
                    return self.known_dim(dim.substituted(dims))
        return dim

    def known_shape(self, shape: Shape) -> Shape:
        axes = tuple([self.known_dim(axis) for axis in shape.axes])
        lead = shape.lead
        if lead is None or lead not in self.shapes:
            return Shape(axes, lead) if axes else shape
        while lead is not None and lead in self.shapes:
            more = self.shapes[lead]
            axes = tuple([self.known_dim(axis) for axis in more.axes]) + axes
            lead = more.lead
        return Shape(axes, lead)

    def known(self, item: Type) -> Type:
        """`item` with every solved unknown replaced."""
        item = self.head(item)
        kind = type(item)
        if kind is Tensor:
            assert isinstance(item, Tensor)
            return Tensor(self.element_head(item.element), self.known_shape(item.shape))
        if kind is Named:
            assert isinstance(item, Named)
            if not item.arguments:
                return item
            return Named(item.name, tuple([self.known_argument(a) for a in item.arguments]))
        if kind is Function:
            assert isinstance(item, Function)
            return Function(self.known(item.parameter), self.known(item.result))
        if kind is TupleType:
            assert isinstance(item, TupleType)
            return TupleType(tuple([self.known(part) for part in item.items]))
        return item

    def known_argument(self, item: TypeArgument) -> TypeArgument:
        if isinstance(item, Dim):
            return self.known_dim(item)
        if isinstance(item, Shape):
            return self.known_shape(item)
        if isinstance(item, Dtype | Index):
            return self.element_head(item)
        return self.known(item)

    def literal(self, item: Type) -> str | None:
        """`int` or `float` if `item` is still only the type of a literal."""
        if type(item) is TypeVar and item.name[0] == "?":
            return self.unknowns[item.name].literal
        return None

    def constraints(self, item: Type) -> frozenset[Constraint]:
        """What an unknown must have; empty for everything else."""
        item = self.head(item)
        known = self.unknowns.get(item.name) if isinstance(item, TypeVar) else None
        return known.constraints if known is not None else frozenset()

    def make_float(self, item: Type) -> None:
        """`item`, the type of a literal, can only become a float's."""
        assert isinstance(item, TypeVar)
        self.unknowns[item.name].literal = "float"

    # ---- dimensions ------------------------------------------------------------------------------------------------

    def rewritten(self, dim: Dim) -> Dim:
        """`dim` with solutions and the `where` equations in scope applied."""
        dim = self.known_dim(dim)
        return dim.substituted(self.where) if self.where else dim

    def compare(self, left: Dim, right: Dim) -> Answer:
        return equal(self.rewritten(left), self.rewritten(right))

    def solve_dim(self, left: Dim, right: Dim) -> Answer:
        """YES if the two are equal or now made equal; UNDECIDED if unknowns are left over that may decide it later."""
        if left is right:
            return Answer.YES
        left, right = self.known_dim(left), self.known_dim(right)
        if left.terms == right.terms:
            return Answer.YES
        difference = left - right
        open_names = [n for n in difference.names if n[0] in "?!"]
        if not open_names:
            return equal(difference.substituted(self.where), _ZERO)
        if any(name[0] == "!" for name in open_names):
            return Answer.YES
        linear = [
            (monomial[0], coefficient)
            for monomial, coefficient in difference.terms
            if len(monomial) == 1 and monomial[0] in open_names
        ]
        for unit in (True, False):
            for name, coefficient in sorted(linear, key=lambda item: -int(item[0][1:])):
                if unit is not (coefficient in (1, -1)):
                    continue
                if any(name in monomial and len(monomial) > 1 for monomial, _ in difference.terms):
                    continue
                rest = difference - Dim((((name,), coefficient),))
                quotient = rest.divided(-coefficient)
                if quotient is not None and (unit or len(open_names) == 1):
                    self._set_dim(name, quotient)
                    return Answer.YES
                if len(open_names) == 1 and rest.value is not None:
                    return Answer.NO
        return Answer.UNDECIDED

    def _set_dim(self, name: str, value: Dim) -> None:
        level = self.unknowns[name].level
        for other in value.names:
            if other[0] == "?" and self.unknowns[other].level > level:
                self.unknowns[other].level = level
        self.dims[name] = value
        if self.place is not None:
            self.reasons[name] = self.place
        self.progress += 1

    def set_type(self, name: str, value: Type | Element) -> None:
        self.types[name] = value
        self.progress += 1

    def set_shape(self, name: str, value: Shape) -> None:
        level = self.unknowns[name].level
        self._lower(value, level)
        self.shapes[name] = value
        self.progress += 1

    # ---- levels ----------------------------------------------------------------------------------------------------

    def _lower(self, item: TypeArgument, level: int) -> None:
        """Unknowns of `item` become at most as local as `level`."""
        for name in self.open_names(item):
            info = self.unknowns[name]
            if info.level > level:
                info.level = level

    def open_names(self, item: TypeArgument) -> list[str]:
        """The unsolved unknowns of `item`, from left to right."""
        found: list[str] = []
        self._collect(item, found)
        return found

    def _collect(self, item: TypeArgument, found: list[str]) -> None:
        if isinstance(item, Dim):
            found.extend(sorted(n for n in self.known_dim(item).names if n[0] == "?"))
        elif isinstance(item, Shape):
            shape = self.known_shape(item)
            if shape.lead is not None and shape.lead[0] == "?":
                found.append(shape.lead)
            for axis in shape.axes:
                self._collect(axis, found)
        elif isinstance(item, Dtype):
            pass
        elif isinstance(item, Index):
            self._collect(item.size, found)
        else:
            self._collect_type(self.head(item), found)

    def _collect_type(self, item: Type, found: list[str]) -> None:
        if isinstance(item, TypeVar):
            if item.name[0] == "?":
                found.append(item.name)
        elif isinstance(item, Tensor):
            self._collect(self.element_head(item.element), found)
            self._collect(item.shape, found)
        elif isinstance(item, Named):
            for argument in item.arguments:
                self._collect(argument, found)
        elif isinstance(item, Function):
            self._collect(item.parameter, found)
            self._collect(item.result, found)
        else:
            for part in item.items:
                self._collect(part, found)


_ZERO = Dim(())

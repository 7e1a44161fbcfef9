"""Making two types one, or saying exactly why they cannot be."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.record import field, record
from alpha.check.solver import SCALAR, Mismatch, Solver
from alpha.core.dim import Answer, Dim
from alpha.core.types import (
    Constraint,
    Element,
    Function,
    Index,
    Named,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
    TypeVar,
)

Later = list[tuple[Dim, Dim]]
"""Equations between dimensions that wait for more to be known."""

_COMPARABLE = frozenset({"Int", "Text", "Amount"})
_NUMBERS = frozenset({"Int", "Amount"})
_WITHOUT_EQUALITY = frozenset(
    {"Key", "Model", "Stack", "Slots", "Init", "Source", "Trace", "Policy", "DataSource", "Layout"}
    | {"PlanProgram", "Optimizer", "Learner"}
)


@record(frozen=False)
class Unifier:
    """One attempt to make two types equal. `later` collects the equations that stay open."""

    solver: Solver
    later: Later = field(default_factory=list)

    def types(self, left: Type, right: Type) -> None:
        """Raises `Mismatch` with the innermost parts that differ."""
        if left is right:
            return
        solver = self.solver
        left, right = solver.head(left), solver.head(right)
        if left is right:
            return
        left_kind, right_kind = type(left), type(right)
        if left_kind is TypeVar or right_kind is TypeVar:
            self._variables(left, right)
        elif left_kind is not right_kind:
            raise Mismatch("E0301", left, right)
        elif left_kind is Tensor:
            assert isinstance(left, Tensor) and isinstance(right, Tensor)
            self.elements(left.element, right.element)
            self.shapes(left.shape, right.shape)
        elif left_kind is Named:
            assert isinstance(left, Named) and isinstance(right, Named)
            if left.name != right.name:
                raise Mismatch("E0301", left, right)
            for one, two in zip(left.arguments, right.arguments, strict=True):
                self.arguments(one, two)
        elif left_kind is Function:
            assert isinstance(left, Function) and isinstance(right, Function)
            self.types(left.parameter, right.parameter)
            self.types(left.result, right.result)
        else:
            assert isinstance(left, TupleType) and isinstance(right, TupleType)
            if len(left.items) != len(right.items):
                raise Mismatch("E0301", left, right)
            for first, second in zip(left.items, right.items, strict=True):
                self.types(first, second)

    def arguments(self, left: TypeArgument, right: TypeArgument) -> None:
        if isinstance(left, Dim):
            assert isinstance(right, Dim)
            self.dims(left, right)
        elif isinstance(left, Shape):
            assert isinstance(right, Shape)
            self.shapes(left, right)
        elif isinstance(left, Dtype | Index) or isinstance(right, Dtype | Index):
            assert isinstance(left, Dtype | Index | TypeVar)
            assert isinstance(right, Dtype | Index | TypeVar)
            self.elements(left, right)
        else:
            assert not isinstance(right, Dim | Shape)
            self.types(left, right)

    # ---- variables -------------------------------------------------------------------------------------------------

    def _variables(self, left: Type, right: Type) -> None:
        left_open = type(left) is TypeVar and left.name[0] == "?"
        right_open = type(right) is TypeVar and right.name[0] == "?"
        if _poisoned(left) or _poisoned(right):
            # What touches a poisoned type is poisoned too, so that it is not reported a second time.
            if left_open:
                self._set(left, right)
            elif right_open:
                self._set(right, left)
            return
        if left_open and right_open:
            assert isinstance(left, TypeVar) and isinstance(right, TypeVar)
            if left.name != right.name:
                self._join(left, right)
        elif left_open:
            assert isinstance(left, TypeVar)
            self._bind(left, right, found_first=True)
        elif right_open:
            assert isinstance(right, TypeVar)
            self._bind(right, left, found_first=False)
        elif (
            not (isinstance(left, TypeVar) and isinstance(right, TypeVar))
            or left.name != right.name
        ):
            raise Mismatch("E0301", left, right)

    def _set(self, unknown: Type | Element, value: Type | Element) -> None:
        assert isinstance(unknown, TypeVar)
        self.solver.set_type(unknown.name, value)

    def _join(self, left: TypeVar, right: TypeVar) -> None:
        """Two unknowns become one: the older name stays, with what is known of either."""
        solver = self.solver
        if int(left.name[1:]) > int(right.name[1:]):
            left, right = right, left
        keep, drop = solver.unknowns[left.name], solver.unknowns[right.name]
        if keep.literal or drop.literal:
            # A plain unknown that meets a literal is at least as special as the literal.
            literals = {keep.literal, drop.literal} - {None}
            keep.literal = "float" if "float" in literals else "int"
        keep.level = min(keep.level, drop.level)
        keep.constraints |= drop.constraints
        self._set(right, left)

    def _bind(self, unknown: TypeVar, value: Type, *, found_first: bool) -> None:
        solver = self.solver
        info = solver.unknowns[unknown.name]

        def refuse(code: str) -> Mismatch:
            return Mismatch(code, *((unknown, value) if found_first else (value, unknown)))

        names = solver.open_names(value)
        if unknown.name in names:
            raise Mismatch("E0301", unknown, value, "infinite")
        if info.literal is not None:
            if isinstance(value, Tensor):
                self.shapes(SCALAR, value.shape)
                self._literal_element(info.literal, value.element, refuse("E0402"))
            elif isinstance(value, Named) and value.name in _NUMBERS:
                if info.literal == "float":
                    raise refuse("E0301")
            elif not (
                isinstance(value, TypeVar)
                and value.constraint is Constraint.NUM
                and info.literal == "int"
            ):
                raise refuse("E0301")
        for name in names:
            other = solver.unknowns[name]
            other.level = min(other.level, info.level)
        try:
            for constraint in info.constraints:
                self.require(value, constraint)
        except Mismatch as mismatch:
            mismatch.unmet = unknown.name, value
            raise
        self._set(unknown, value)

    def _literal_element(self, literal: str, element: Element, refusal: Mismatch) -> None:
        element = self.solver.element_head(element)
        if isinstance(element, Index):
            raise Mismatch("E0403", refusal.left, element)
        if isinstance(element, Dtype):
            if element is Dtype.BOOL:
                raise Mismatch("E0301", refusal.left, refusal.right)
            if literal == "float" and not element.is_float:
                raise refusal
        elif element.name[0] == "?":
            info = self.solver.unknowns[element.name]
            info.literal = "float" if "float" in (literal, info.literal) else "int"

    # ---- constraints -----------------------------------------------------------------------------------------------

    def require(self, item: Type, constraint: Constraint) -> None:
        """`item` has equality, order or arithmetic; an unknown will have it. Raises `Mismatch` E0308."""
        item = self.solver.head(item)
        if isinstance(item, TypeVar):
            if item.name[0] == "?":
                self.solver.unknowns[item.name].constraints |= {constraint}
                return
            if item.name[0] == "!" or item.constraint is constraint:
                return
            if constraint is Constraint.EQ and item.constraint is Constraint.ORD:
                return
            raise Mismatch("E0308", item, constraint)
        if isinstance(item, Tensor):
            self._require_tensor(item, constraint)
        elif isinstance(item, Named):
            allowed = _NUMBERS if constraint is Constraint.NUM else _COMPARABLE
            if item.name in allowed:
                return
            if constraint is not Constraint.EQ:
                raise Mismatch("E0308", item, constraint)
            if item.name in _WITHOUT_EQUALITY or item.name in self.solver.opaque:
                raise Mismatch("E0308", item, constraint)
            for argument in item.arguments:
                if isinstance(argument, TypeVar | Named | Function | TupleType | Tensor):
                    self.require(argument, constraint)
        elif isinstance(item, TupleType) and constraint is Constraint.EQ:
            for part in item.items:
                self.require(part, constraint)
        else:
            raise Mismatch("E0308", item, constraint)

    def _require_tensor(self, item: Tensor, constraint: Constraint) -> None:
        element = self.solver.element_head(item.element)
        if constraint is Constraint.NUM:
            if element is Dtype.BOOL or isinstance(element, Index):
                raise Mismatch("E0308", item, constraint)
            return
        if constraint is Constraint.ORD and element is Dtype.BOOL:
            raise Mismatch("E0308", item, constraint)
        shape = self.solver.known_shape(item.shape)
        if shape.axes or (shape.lead is not None and shape.lead[0] not in "?!"):
            raise Mismatch("E0308", item, constraint)
        self.shapes(shape, SCALAR)

    # ---- elements and shapes ---------------------------------------------------------------------------------------

    def elements(self, left: Element, right: Element) -> None:
        solver = self.solver
        left, right = solver.element_head(left), solver.element_head(right)
        if left is right:
            return
        if isinstance(left, TypeVar) and left.name[0] == "?":
            self._bind_element(left, right, left, right)
        elif isinstance(right, TypeVar) and right.name[0] == "?":
            self._bind_element(right, left, left, right)
        elif isinstance(left, Index) and isinstance(right, Index):
            self.dims(left.size, right.size)
        elif left == right or _poisoned(left) or _poisoned(right):
            return
        elif isinstance(right, Index) and isinstance(left, Dtype) and left.is_integer:
            raise Mismatch("E0403", left, right)
        else:
            raise Mismatch("E0401", left, right)

    def _bind_element(
        self, unknown: TypeVar, value: Element, found: Element, wanted: Element
    ) -> None:
        solver = self.solver
        info = solver.unknowns[unknown.name]
        if isinstance(value, TypeVar) and value.name[0] == "?":
            if value.name == unknown.name:
                return
            other = solver.unknowns[value.name]
            literals = {info.literal, other.literal} - {None}
            if literals:
                other.literal = "float" if "float" in literals else "int"
            other.level = min(other.level, info.level)
        elif info.literal is not None:
            self._literal_element(info.literal, value, Mismatch("E0402", found, wanted))
        if isinstance(value, Index):
            for name in value.size.names:
                if name[0] == "?":
                    solver.unknowns[name].level = min(solver.unknowns[name].level, info.level)
        self._set(unknown, value)

    def shapes(self, left: Shape, right: Shape) -> None:
        """Matched from the right; the rest goes to the axes variable."""
        solver = self.solver
        left, right = solver.known_shape(left), solver.known_shape(right)
        count = min(len(left.axes), len(right.axes))
        left_rest = left.axes[: len(left.axes) - count]
        right_rest = right.axes[: len(right.axes) - count]
        for lead in (left.lead, right.lead):
            if lead is not None and lead[0] == "!":
                return
        left_open = left.lead is not None and left.lead[0] == "?"
        right_open = right.lead is not None and right.lead[0] == "?"
        refusal = Mismatch("E0413", left, right)
        if left_rest and not right_open:
            raise refusal
        if right_rest and not left_open:
            raise refusal
        if left_open and right_open and left.lead == right.lead:
            if left_rest or right_rest:
                raise refusal
        elif left_open and not left_rest:
            assert left.lead is not None
            solver.set_shape(left.lead, Shape(right_rest, right.lead))
        elif right_open:
            assert right.lead is not None
            solver.set_shape(right.lead, Shape(left_rest, left.lead))
        elif left.lead != right.lead:
            raise refusal
        for one, two in zip(
            left.axes[len(left_rest) :], right.axes[len(right_rest) :], strict=True
        ):
            self.dims(one, two, (left, right))

    def dims(self, left: Dim, right: Dim, shapes: tuple[Shape, Shape] | None = None) -> None:
        answer = self.solver.solve_dim(left, right)
        if answer is Answer.NO:
            raise Mismatch("E0412", left, right)
        if answer is Answer.UNDECIDED:
            if self._is_open(left) or self._is_open(right):
                self.later.append((left, right))
            else:
                raise Mismatch("E0415", left, right)

    def _is_open(self, dim: Dim) -> bool:
        return any(name[0] == "?" for name in self.solver.known_dim(dim).names)


def _poisoned(item: object) -> bool:
    return isinstance(item, TypeVar) and item.name[0] == "!"

"""Types in messages: unknowns are shown as what is known of them, never as numbers."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.record import record
from alpha.check.solver import Solver
from alpha.core.dim import Dim
from alpha.core.substitute import in_argument, in_dim, in_element, in_shape, variables
from alpha.core.type_text import element_text, shape_text, type_text
from alpha.core.types import (
    Function,
    Index,
    Kind,
    Named,
    Shape,
    Tensor,
    TupleType,
    TypeArgument,
    TypeVar,
)


@record
class Shower:
    solver: Solver

    def text(self, item: TypeArgument) -> str:
        known = self.solver.known_argument(item)
        return type_text(in_argument(known, self._names(known)))

    def dim(self, item: Dim) -> Dim:
        known = self.solver.known_dim(item)
        return in_dim(known, self._names(known))

    def shape(self, item: Shape) -> str:
        known = self.solver.known_shape(item)
        return shape_text(in_shape(known, self._names(known)))

    def element(self, item: object) -> str:
        if isinstance(item, Dtype):
            return item.value
        if isinstance(item, Index | TypeVar):
            known = self.solver.element_head(item)
            return element_text(in_element(known, self._names(known)))
        return self.part(item)

    def part(self, item: object) -> str:
        """The text of whatever a mismatch carries."""
        if isinstance(
            item, TypeVar | Named | Function | TupleType | Tensor | Dim | Shape | Dtype | Index
        ):
            return self.text(item)
        return str(item)

    def _names(self, item: TypeArgument) -> dict[str, TypeArgument]:
        """A readable stand-in for each unknown: its name in the signature it came from, else a letter."""
        names: dict[str, TypeArgument] = {}
        for name, kind in variables(item):
            if name in names or name[0] not in "?!":
                continue
            shown = self._readable(name, kind)
            if kind is Kind.DIM:
                names[name] = Dim.variable(shown)
            elif kind is Kind.SHAPE:
                names[name] = Shape((), shown)
            else:
                names[name] = TypeVar(shown)
        return names

    def _readable(self, name: str, kind: Kind) -> str:
        if name[0] == "!":
            return "_"
        info = self.solver.unknowns[name]
        if info.literal is not None:
            return "a whole number" if info.literal == "int" else "a number"
        if info.hint:
            return info.hint
        return {Kind.TYPE: "_", Kind.ELEMENT: "_", Kind.DIM: "_", Kind.SHAPE: "_"}[kind]

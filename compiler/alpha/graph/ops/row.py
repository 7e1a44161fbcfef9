"""What a row of the table of operations holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.graph.formula import Term
from alpha.graph.node import Attribute

Types = Sequence[TensorType]
Attributes = Mapping[str, Attribute]
Rule = Callable[[Types, Attributes], TensorType]


@record
class Use:
    """One application of an operation, as an expansion or a gradient formula sees it: operands, attributes, result."""

    operands: tuple[Term, ...]
    attributes: Attributes
    result: Term

    def integer(self, name: str) -> int:
        value = self.attributes[name]
        assert isinstance(value, int)
        return value

    def integers(self, name: str) -> tuple[int, ...]:
        value = self.attributes[name]
        assert isinstance(value, tuple)
        return tuple(item for item in value if isinstance(item, int))

    def text(self, name: str) -> str:
        value = self.attributes[name]
        assert isinstance(value, str)
        return value


Expansion = Callable[[Use], Term]
Gradient = Callable[[Use, Term], Sequence[Term | None] | None]


@record
class Operation:
    """One operation of the graph.

    `rule` gives the result type or raises `OperationError`. `meaning` is the formula of the specification, section 11.
    A row with an `expansion` is a composite: that function builds its meaning from other rows, and no level below the
    graph meets it. `gradient` takes the use and the adjoint of its result and gives one contribution an operand, None
    where no gradient flows (a condition, an index); its docstring is the formula. A row without one, and a formula
    that gives None for these dtypes, stop a gradient with E0611. `elementwise` rows keep the mask of an adjoint;
    `arithmetic` rows widen bf16 and f16 operands to f32 and round once. The result of an `interval` row is any value
    within its bounds (specification, section 12.6), so a lane that promises bits does not have it. `leaf` rows have a
    stated type, not a rule.
    """

    name: str
    meaning: str
    rule: Rule
    attributes: tuple[str, ...] = ()
    expansion: Expansion | None = None
    gradient: Gradient | None = None
    elementwise: bool = False
    arithmetic: bool = False
    interval: bool = False
    leaf: bool = False

    @property
    def primitive(self) -> bool:
        return self.expansion is None

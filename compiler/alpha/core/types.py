"""Types of the core: closed and fully inferred. Variables are bound by the scheme of the definition they stand in."""

from __future__ import annotations

from enum import Enum

from alpha.base.dtype import Dtype
from alpha.base.record import record
from alpha.core.dim import Dim


class Kind(Enum):
    """What a scheme variable or a type argument stands for."""

    TYPE = "type"
    DIM = "dim"
    SHAPE = "shape"
    ELEMENT = "element"


class Constraint(Enum):
    EQ = "eq"
    ORD = "ord"
    NUM = "num"


@record
class TypeVar:
    """A rigid variable of kind TYPE or ELEMENT. `d`, `t` of an operation's dtype are ELEMENT variables."""

    name: str
    constraint: Constraint | None = None


@record
class Named:
    """A nominal type with its arguments in declaration order: type parameters, then dimensions.

    Built-in heads are bare names (`Int`, `Text`, `Bool`, `List`, `Maybe`, `Result`, `Amount`, `Key`, `Model`,
    `Stack`, `Slots`, `Tick`, `Init`, `Source`, `Trace`, `Policy`, `DataSource`, `Layout`, `PlanProgram`, ...);
    declared ones carry their module (`Digits.Model.Mlp`).
    """

    name: str
    arguments: tuple[TypeArgument, ...] = ()


@record
class Function:
    parameter: Type
    result: Type


@record
class TupleType:
    items: tuple[Type, ...]


@record
class Index:
    """The element type `index n`."""

    size: Dim


Element = Dtype | Index | TypeVar


@record
class Shape:
    """`[...lead, axes]`; `lead` names a variable of kind SHAPE or is None."""

    axes: tuple[Dim, ...]
    lead: str | None = None


@record
class Tensor:
    """`f32` alone is `Tensor f32 []`; `Bool` is `Tensor bool []` and is always written as this."""

    element: Element
    shape: Shape


Type = TypeVar | Named | Function | TupleType | Tensor
TypeArgument = TypeVar | Named | Function | TupleType | Tensor | Dim | Shape | Dtype | Index


@record
class Scheme:
    """`variables` in the order in which a use passes its arguments."""

    variables: tuple[tuple[str, Kind], ...]
    type: Type

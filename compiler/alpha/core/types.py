"""Types of the core: closed and fully inferred. Variables are bound by the scheme of the definition they stand in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from alpha.base.dtype import Dtype
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


@dataclass(frozen=True, slots=True)
class TypeVar:
    """A rigid variable of kind TYPE or ELEMENT. `d`, `t` of an operation's dtype are ELEMENT variables."""

    name: str
    constraint: Constraint | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A nominal type with its arguments in declaration order: type parameters, then dimensions.

    Built-in heads are bare names (`Int`, `Text`, `Bool`, `List`, `Maybe`, `Result`, `Amount`, `Key`, `Model`,
    `Stack`, `Slots`, `Tick`, `Init`, `Source`, `Trace`, `Policy`, `DataSource`, `Layout`, `PlanProgram`, ...);
    declared ones carry their module (`Digits.Model.Mlp`).
    """

    name: str
    arguments: tuple[TypeArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class Function:
    parameter: Type
    result: Type


@dataclass(frozen=True, slots=True)
class TupleType:
    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """The element type `index n`."""

    size: Dim


Element = Dtype | Index | TypeVar


@dataclass(frozen=True, slots=True)
class Shape:
    """`[...lead, axes]`; `lead` names a variable of kind SHAPE or is None."""

    axes: tuple[Dim, ...]
    lead: str | None = None


@dataclass(frozen=True, slots=True)
class Tensor:
    """`f32` alone is `Tensor f32 []`; `Bool` is `Tensor bool []` and is always written as this."""

    element: Element
    shape: Shape


Type = TypeVar | Named | Function | TupleType | Tensor
TypeArgument = TypeVar | Named | Function | TupleType | Tensor | Dim | Shape | Dtype | Index


@dataclass(frozen=True, slots=True)
class Scheme:
    """`variables` in the order in which a use passes its arguments."""

    variables: tuple[tuple[str, Kind], ...]
    type: Type

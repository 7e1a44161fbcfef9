"""Values of the language: what evaluation makes of terms.

`Int` is a Python int, `Text` a str, `Amount` the core's `Amount`; everything else is a class of this module. A `Scalar`
is known at compile time; a `Staged` value is a node of the graph that is being built. `Bool` is the `Scalar` of dtype
`bool`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alpha.base.dtype import Dtype
from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.core.term import Amount, EinsumSpec, Lambda
from alpha.core.types import TypeArgument
from alpha.evaluate.scope import Scope
from alpha.graph.node import Node


@record
class Scalar:
    """A known tensor of rank 0. A float is exactly representable in `dtype`; `bound` is n of `index n`."""

    dtype: Dtype
    value: int | float | bool
    bound: int | None = None


@record(eq=False)
class Staged:
    """A tensor computed by the graph. `loop` is the number of the rolled loop whose index this is, else None."""

    node: Node
    loop: int | None = None


@record(eq=False)
class KeyValue:
    """A key of the graph. `serial` tells keys apart; `loops` are the rolled loops around its birth."""

    node: Node
    serial: int
    loops: tuple[int, ...] = ()


@record
class ListValue:
    items: tuple[Value, ...]


@record
class TupleValue:
    items: tuple[Value, ...]


@record
class Record:
    """`type` is the qualified name of the record type; `fields` is never changed."""

    type: str
    fields: Mapping[str, Value]


@record
class Variant:
    """`constructor` is the qualified name; built-in ones are bare."""

    constructor: str
    arguments: tuple[Value, ...] = ()

    @property
    def name(self) -> str:
        """The constructor without its module."""
        return self.constructor.rpartition(".")[2]


@record(eq=False)
class Closure:
    """A function with the scope it was written in; `owner` is the definition that holds its text."""

    term: Lambda
    scope: Scope[Value]
    owner: str

    @property
    def arity(self) -> int:
        return len(self.term.parameters)


@record(eq=False)
class ConstructorFunction:
    constructor: str
    arity: int


@record(eq=False)
class OptimizerFunction:
    """An optimizer that still waits for its configuration."""

    symbol: str
    arity: int


@record(eq=False)
class Operation:
    """An intrinsic with what its brackets and type arguments say, all known."""

    name: str
    arity: int
    axes: tuple[int, ...] | None = None
    shape: tuple[int, ...] | None = None
    einsum: EinsumSpec | None = None
    arguments: tuple[TypeArgument, ...] = ()


@record(eq=False)
class Partial:
    """A function that has some of its arguments."""

    function: Callable
    given: tuple[Value, ...]

    @property
    def arity(self) -> int:
        return self.function.arity - len(self.given)


@record(eq=False)
class Bundle:
    """The parameters of one model value, by name in declaration order. Slots of an optimizer are bundles too."""

    model: str
    fields: Mapping[str, Value]

    def leaves(self, prefix: str = "") -> Iterator[tuple[str, Value]]:
        """Every tensor with its path, in parameter order."""
        for name, value in self.fields.items():
            if isinstance(value, Bundle):
                yield from value.leaves(f"{prefix}{name}.")
            elif isinstance(value, StackValue):
                yield from value.layer.leaves(f"{prefix}{name}.")
            else:
                yield prefix + name, value

    def rebuilt(self, values: Iterator[Value]) -> Bundle:
        """The same tree with its tensors replaced in parameter order."""
        fields: dict[str, Value] = {}
        for name, value in self.fields.items():
            if isinstance(value, Bundle):
                fields[name] = value.rebuilt(values)
            elif isinstance(value, StackValue):
                fields[name] = StackValue(value.count, value.layer.rebuilt(values))
            else:
                fields[name] = next(values)
        return Bundle(self.model, fields)


@record(eq=False)
class StackValue:
    """`count` layers of one model; every tensor of `layer` has a leading axis of that size."""

    count: int
    layer: Bundle


@record
class ModelValue:
    """A model with its sizes."""

    symbol: str
    dims: tuple[int, ...]


@record(eq=False)
class OptimizerValue:
    symbol: str
    configuration: tuple[Value, ...]


@record
class LearnerValue:
    symbol: str


@record(eq=False)
class SlotsValue:
    """One bundle a slot, in slot order."""

    slots: Mapping[str, Bundle]


@record
class PolicyValue:
    symbol: str


@record
class SourceValue:
    """A citation. `kind` is `manual`, `header`, `run` or `model`."""

    kind: str
    citation: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class DataSource:
    """`kind` is `csv`, `idx`, `npy` or `bytes`; `specification` the value it was applied to."""

    kind: str
    specification: Value
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Initialiser:
    """`kind` is `zeros`, `ones`, `filled`, `normal`, `uniform`, `glorot` or `he`; `scale` its f32 argument."""

    kind: str
    scale: float = 0.0


@record(eq=False)
class TraceValue:
    """Where a demand comes from; opaque to the language."""

    derivation: object


Callable = Closure | ConstructorFunction | OptimizerFunction | Operation | Partial
Value = (
    int | str | Amount | Scalar | Staged | KeyValue | ListValue | TupleValue | Record | Variant | Callable | Bundle
    | StackValue | ModelValue | OptimizerValue | LearnerValue | SlotsValue | PolicyValue | SourceValue | DataSource
    | Initialiser | TraceValue
)  # fmt: skip

FUNCTIONS = (Closure, ConstructorFunction, OptimizerFunction, Operation, Partial)
"""The classes of `Callable`, for `isinstance`."""

TRUE = Scalar(Dtype.BOOL, True)
FALSE = Scalar(Dtype.BOOL, False)


def boolean(value: bool) -> Scalar:
    return TRUE if value else FALSE

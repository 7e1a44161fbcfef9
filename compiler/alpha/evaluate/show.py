"""Values as people read them: in messages, proofs and descriptions."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.whole import readable
from alpha.core.term import Amount
from alpha.evaluate.canonical import number
from alpha.evaluate.values import (
    FUNCTIONS,
    Bundle,
    DataSource,
    Initialiser,
    KeyValue,
    LearnerValue,
    ListValue,
    ModelValue,
    OptimizerValue,
    PolicyValue,
    Record,
    Scalar,
    SlotsValue,
    SourceValue,
    StackValue,
    Staged,
    TraceValue,
    TupleValue,
    Value,
    Variant,
)

LONGEST = 80


def show(value: Value) -> str:
    """The value as Alpha source where it has one, cut to one line."""
    text = _show(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _show(value: Value) -> str:
    match value:
        case bool() | int():
            return readable(value, grouped=True)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        case Amount():
            return amount(value)
        case Scalar(Dtype.BOOL, held):
            return "True" if held else "False"
        case Scalar(dtype, held):
            return number(float(held), dtype) if dtype.is_float else str(held)
        case ListValue(items):
            shown = ", ".join(_show(item) for item in items[:20])
            return f"[{shown}{', ...' if len(items) > 20 else ''}]"
        case TupleValue(items):
            return f"({', '.join(_show(item) for item in items)})"
        case Record(_, fields):
            return (
                "{ " + ", ".join(f"{name} = {_show(item)}" for name, item in fields.items()) + " }"
            )
        case Variant():
            return " ".join([value.name, *(_nested(item) for item in value.arguments)])
        case SourceValue(kind, citation):
            return " ".join([kind, *(_show(part) for part in citation)])
        case Staged(node):
            return f"a tensor {node.type}"
        case KeyValue():
            return "a key"
        case TraceValue():
            return "a trace"
        case Bundle(model):
            return f"the parameters of {_name(model)}"
        case ModelValue(symbol, dims):
            return f"the model {_name(symbol)} [{', '.join(f'{size:_}' for size in dims)}]"
        case StackValue(count, layer):
            return f"{count:_} layers of {_name(layer.model)}"
        case OptimizerValue(symbol):
            return f"the optimizer {_name(symbol)}"
        case LearnerValue(symbol):
            return f"the learner {_name(symbol)}"
        case PolicyValue(symbol):
            return f"the policy {_name(symbol)}"
        case SlotsValue():
            return "the slots of an optimizer"
        case DataSource(kind):
            return f"a data source of kind {kind}"
        case Initialiser(kind):
            return f"the initialiser {kind}"
        case _:
            assert isinstance(value, FUNCTIONS)
            return "a function"


def _name(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def _nested(value: Value) -> str:
    text = _show(value)
    wrapped = isinstance(value, Variant) and value.arguments
    return f"({text})" if wrapped else text


_UNITS = {
    (0, 0, 0): "",
    (1, 0, 0): " B",
    (0, 1, 0): "s",
    (0, 0, 1): " FLOP",
    (0, -1, 0): " Hz",
    (1, -1, 0): " B/s",
    (0, -1, 1): " FLOP/s",
}


def amount(value: Amount) -> str:
    """`present`, `4_294_967_296 B`, `1/3 s^2`."""
    if value.feature:
        return "present" if value.value else "absent"
    figure = readable(value.value.numerator, grouped=True)
    if value.value.denominator != 1:
        figure += f"/{value.value.denominator:_}"
    names = zip(("B", "s", "FLOP"), value.unit, strict=True)
    other = " " + " ".join(f"{name}^{power}" for name, power in names if power)
    return figure + _UNITS.get(value.unit, other)

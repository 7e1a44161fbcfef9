"""Keys and draws. A key is three u32: k0, k1 and the step (specification, section 13)."""

from __future__ import annotations

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import OperationError
from alpha.graph.ops import rules
from alpha.graph.ops.row import Attributes, Operation, Rule, Types

KEY = TensorType(Dtype.U32, (3,))


def _word(name: str, key: str, attributes: Attributes, bits: int = 32) -> None:
    value = rules.integer(name, key, attributes[key])
    if not 0 <= value < 1 << bits:
        raise OperationError(
            "E0402", f"`{key}` of `{name}` is {value}, which does not fit {bits} bits"
        )


def _key(types: Types, attributes: Attributes) -> TensorType:
    rules.count("key", types, 0)
    for name in ("k0", "k1", "step"):
        _word("key", name, attributes)
    return KEY


def _of_key(name: str, types: Types) -> None:
    if not types or types[0] != KEY:
        raise OperationError("E0301", f"`{name}` needs a key")


def _derive(types: Types, attributes: Attributes) -> TensorType:
    _of_key("deriveKey", types)
    _word("deriveKey", "tag", attributes)
    _word("deriveKey", "index", attributes, 64)
    if len(types) > 2 or (len(types) == 2 and types[1] != TensorType(Dtype.U32, ())):
        raise OperationError("E0401", "a key is derived with a known number or a u32 scalar")
    if len(types) == 2 and attributes["index"] != 0:
        raise OperationError("E0301", "a key is derived with one index, known or computed")
    return KEY


def _draw(name: str) -> Rule:
    def rule(types: Types, attributes: Attributes) -> TensorType:
        rules.count(name, types, 1)
        _of_key(name, types)
        return TensorType(Dtype.F32, rules.shape_of(name, attributes))

    return rule


ROWS: tuple[Operation, ...] = (
    Operation("key", "the key (k0, k1, step)", _key, ("k0", "k1", "step")),
    Operation(
        "deriveKey",
        "child(key, tag, index): the first two words of philox((index mod 2^32, index div 2^32, tag, 1); key), step;"
        " a second operand is the index",
        _derive,
        ("index", "tag"),
    ),
    Operation(
        "uniform",
        "element e = (words(key, e div 4)[e mod 4] >> 8) * 2^-24",
        _draw("uniform"),
        ("shape",),
    ),
    Operation(
        "normal",
        "rho * cos phi for even e, rho * sin phi for odd e, from words 0,1 or 2,3 of block e div 4:"
        " u = ((w >> 8) + 1) * 2^-24, rho = sqrt(-2 * log u), phi = ((w' >> 8) * 2^-24) * 6.2831855",
        _draw("normal"),
        ("shape",),
    ),
)

"""Every operation of the language: what the checker emits and the evaluator runs.

An operation is an `Intrinsic` in the core. An *ordinary* one has a signature in `Alpha.Prelude` (or another shipped
module) and carries the arguments of its scheme; the *special* ones in the tables below have a typing rule of their own
and carry no type arguments, except `cast`. Operators share names with graph operations where there is one.

**Operators** (arity 2 unless said; the evaluator selects by the values of the operands)

| written | intrinsic | operands |
|---|---|---|
| `+ - *` | `add sub mul` | Int, Amount, tensors (broadcast), mixed Int and Amount for `mul` |
| `/` | `div` | Amount (or Amount by Int), float tensors |
| `// %` | `floorDiv rem` | Int, or an integer tensor by a known Int or scalar |
| `^` | `power` | Int by Int; float tensor by a known Int or by a u32 scalar |
| unary `-` | `neg` (arity 1) | Int, Amount, tensors |
| `@` | `matmul` | float tensors |
| `++` | `append` | two lists or two texts |
| `== != < <= > >=` | `equal notEqual less lessEqual greater greaterEqual` | `eq`, `ord` values, tensors |
| `and or not` | `and or not` (arity 1) | bool tensors (broadcast), Bool included; both sides are always evaluated |

**Special operations** (attributes are fields of `Intrinsic`)

| intrinsic | arguments of Apply | attributes |
|---|---|---|
| `maximum minimum` | a, b | |
| `fma`, `select`, `clamp` | a, b, c; c, a, b; lo, hi, x | |
| `sum mean max min logSumExp` | x | `axes`, None for all |
| `argmax argmin softmax logSoftmax` | x | `axes` of one element |
| `transpose` | x | `axes`: the order; None reverses the two axes of a matrix |
| `repeat` | n : Int, x | `axes` of one element: the axis of the result |
| `concat` | a, b, ...: the elements of the written list | `axes` of one element |
| `pad` | lo : Int, hi : Int, x | `axes` of one element |
| `reshape` | x | `shape` |
| `fill` | c | `shape` |
| `positions` | n : Int | |
| `gather` | table, ids | |
| `conv2d` | p : Int, x, w | |
| `maxPool meanPool` | k : Int, x | |
| `cast` | x, an Int or a tensor | `arguments` is one element: the target Dtype |
| `einsum` | the operands | `einsum` |
| `grad valueAndGrad` | f, p, x | |
| `optimizerApply` | optimizer value, t, net, slots, grads | |
| `ofUnit` | an Amount of value 1 whose unit is required (E0310), the amount; gives the amount | |

Axes are from 0, or negative from the end where the shape has a leading axes variable. `n`, `lo`, `hi`, `p`, `k` and
the argument of `positions` are always `DimValue` or an integer `Literal`.

**Ordinary operations**: `Alpha.Prelude`, `Alpha.List` and the platform modules; their names are in `ORDINARY`.
"""

from __future__ import annotations

from enum import Enum

from alpha.base.dtype import Dtype
from alpha.base.record import record

FLOATS = frozenset({Dtype.F64, Dtype.F32, Dtype.BF16, Dtype.F16})
NO_DOUBLE = FLOATS - {Dtype.F64}
INTEGERS = frozenset({Dtype.I64, Dtype.I32, Dtype.U32, Dtype.U8})
NUMBERS = FLOATS | INTEGERS
SIGNED = NUMBERS - {Dtype.U32, Dtype.U8}
BOOL = frozenset({Dtype.BOOL})
ALL = NUMBERS | BOOL


class Rule(Enum):
    """How a special operation is typed; one function of `operation_rules` each."""

    ELEMENTWISE = "operands broadcast, one dtype"
    SELECT = "a bool condition, then two operands that broadcast"
    REDUCE = "some axes disappear"
    CHOOSE = "one axis disappears; the result is an index into it"
    ROW = "along one axis; the shape stays"
    TRANSPOSE = "axes permuted"
    GATHER = "rows of a table"
    GRAD = "the gradient of a scalar function"


@record
class Operation:
    """A special operation that is a function value. `arity` counts operands; `dtypes` are those it is defined on."""

    name: str
    rule: Rule
    arity: int
    dtypes: frozenset[Dtype]
    indexes: bool = False
    """Defined on `index n` too."""


SPECIAL: dict[str, Operation] = {
    row.name: row
    for row in (
        Operation("maximum", Rule.ELEMENTWISE, 2, NUMBERS),
        Operation("minimum", Rule.ELEMENTWISE, 2, NUMBERS),
        Operation("fma", Rule.ELEMENTWISE, 3, FLOATS),
        Operation("clamp", Rule.ELEMENTWISE, 3, NUMBERS),
        Operation("select", Rule.SELECT, 3, ALL, indexes=True),
        Operation("sum", Rule.REDUCE, 1, NUMBERS),
        Operation("mean", Rule.REDUCE, 1, FLOATS),
        Operation("max", Rule.REDUCE, 1, NUMBERS),
        Operation("min", Rule.REDUCE, 1, NUMBERS),
        Operation("logSumExp", Rule.REDUCE, 1, NO_DOUBLE),
        Operation("argmax", Rule.CHOOSE, 1, NUMBERS),
        Operation("argmin", Rule.CHOOSE, 1, NUMBERS),
        Operation("softmax", Rule.ROW, 1, NO_DOUBLE),
        Operation("logSoftmax", Rule.ROW, 1, NO_DOUBLE),
        Operation("transpose", Rule.TRANSPOSE, 1, ALL, indexes=True),
        Operation("gather", Rule.GATHER, 2, ALL, indexes=True),
        Operation("grad", Rule.GRAD, 3, FLOATS),
        Operation("valueAndGrad", Rule.GRAD, 3, FLOATS),
    )
}
"""Operations whose types depend on axes or on broadcasting, and that are ordinary functions otherwise."""

FORMS = frozenset(
    {"repeat", "concat", "pad", "reshape", "fill", "positions", "conv2d", "maxPool", "meanPool", "cast"}
)  # fmt: skip
"""Operations with an argument that is part of the type (a size, a shape literal, a dtype): it must be written out."""

WITH_AXES = frozenset(
    name
    for name, row in SPECIAL.items()
    if row.rule in (Rule.REDUCE, Rule.CHOOSE, Rule.ROW, Rule.TRANSPOSE)
) | {"repeat", "concat", "pad"}
"""Operations that may stand before tight brackets."""

ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floorDiv", "%": "rem"}
COMPARISONS = {
    "==": "equal", "!=": "notEqual", "<": "less", "<=": "lessEqual", ">": "greater", ">=": "greaterEqual",
}  # fmt: skip
OPERATORS = ARITHMETIC | COMPARISONS | {
    "^": "power", "@": "matmul", "++": "append", "and": "and", "or": "or", "not": "not",
}  # fmt: skip

ORDINARY_DTYPES: dict[str, frozenset[Dtype]] = {
    "abs": SIGNED,
    "sqrt": FLOATS,
    "relu": FLOATS,
    "sign": FLOATS,
    "floor": FLOATS,
    "round": FLOATS,
    "causal": FLOATS,
    "uniformLike": FLOATS,
    "normalLike": FLOATS,
    **dict.fromkeys(
        ("exp", "log", "tanh", "sigmoid", "erf", "sin", "cos", "rsqrt", "crossEntropy"), NO_DOUBLE
    ),
}
"""Where a signature's dtype variable does not stand for every dtype."""

ORDINARY = frozenset(ORDINARY_DTYPES) | {
    # Alpha.Prelude
    "oneHot", "through", "iterate", "stopGradient", "globalNorm", "clipByGlobalNorm", "countParams",
    "matmulTensorCoreBf16", "matmulTensorCoreF16", "matmulTensorCoreTf32",
    "split", "derive", "keyFrom",
    "present", "absent", "bytesOf", "positive", "ceilDiv", "toFloat",
    "zeros", "ones", "filled", "normal", "uniform", "glorot", "he",
    "csv", "idx", "npy", "bytes",
    "manual", "header", "run", "model",
    # Alpha.List
    "map", "filter", "fold", "range", "zip", "length", "sort",
    # Alpha.Admission
    "noTrace",
    # platforms
    "x8664Demands", "aarch64Demands", "nvidiaPlanDemands", "nvidiaHostDemands", "requests",
}  # fmt: skip
"""Every name that a shipped signature without a definition may have."""

"""Elementwise operations: an element from the operands' in the same place (specification, section 11)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import OperationError
from alpha.graph.formula import Term, exp, select
from alpha.graph.ops import rules
from alpha.graph.ops.row import Attributes, Gradient, Operation, Rule, Types, Use
from alpha.graph.scalar import limits

CASTS = {dtype.value: dtype for dtype in Dtype if dtype is not Dtype.BOOL}
"""Targets of `cast` by name; `bool` is none of them."""


def _comparison(types: Types, attributes: Attributes) -> TensorType:
    rules.count("comparison", types, 2)
    rules.equal_elements("comparison", types[0], types[1])
    rules.equal_shapes("comparison", types[0], types[1])
    return TensorType(Dtype.BOOL, types[0].shape)


def _select(types: Types, attributes: Attributes) -> TensorType:
    rules.count("select", types, 3)
    condition, chosen, otherwise = types
    rules.defined("select", condition, rules.BOOLEAN)
    rules.equal_elements("select", chosen, otherwise)
    rules.equal_shapes("select", condition, chosen)
    rules.equal_shapes("select", chosen, otherwise)
    return chosen


def _cast(types: Types, attributes: Attributes) -> TensorType:
    rules.count("cast", types, 1)
    target = CASTS.get(str(attributes["dtype"]))
    if target is None:
        raise OperationError("E0405", f"there is no cast to {attributes['dtype']}")
    return TensorType(target, types[0].shape)


def _power(types: Types, attributes: Attributes) -> TensorType:
    rules.count("pow", types, 1)
    rules.integer("pow", "exponent", attributes["exponent"])
    rules.defined("pow", types[0], rules.FLOATS)
    return types[0]


def _power_of_step(types: Types, attributes: Attributes) -> TensorType:
    rules.count("powStep", types, 2)
    rules.defined("powStep", types[0], rules.FLOATS)
    if types[1] != TensorType(Dtype.U32, ()):
        raise OperationError("E0401", f"an exponent is a number or a u32 scalar, not `{types[1]}`")
    return types[0]


def _division_by(name: str) -> Rule:
    def rule(types: Types, attributes: Attributes) -> TensorType:
        rules.count(name, types, 1)
        rules.defined(name, types[0], rules.INTEGERS)
        by = rules.integer(name, "by", attributes["by"])
        if by == 0:
            raise OperationError("E0504", f"`{name}` by zero")
        low, high = limits(types[0].dtype)
        if not low <= by <= high:
            raise OperationError("E0402", f"{by} does not fit {types[0].dtype.value}")
        return types[0]

    return rule


def _add(use: Use, g: Term) -> Sequence[Term]:
    """g, g"""
    return g, g


def _sub(use: Use, g: Term) -> Sequence[Term]:
    """g, -g"""
    return g, -g


def _mul(use: Use, g: Term) -> Sequence[Term]:
    """g * b, g * a"""
    a, b = use.operands
    return g * b, g * a


def _div(use: Use, g: Term) -> Sequence[Term]:
    """u and -(u * y) with u = g / b"""
    _, b = use.operands
    u = g / b
    return u, -(u * use.result)


def _neg(use: Use, g: Term) -> Sequence[Term]:
    """-g"""
    return (-g,)


def _abs(use: Use, g: Term) -> Sequence[Term]:
    """g * sign a"""
    (a,) = use.operands
    return (g * a.apply("sign"),)


def _fma(use: Use, g: Term) -> Sequence[Term]:
    """g * b, g * a, g"""
    a, b, _ = use.operands
    return g * b, g * a, g


def _pow(use: Use, g: Term) -> Sequence[Term]:
    """g * (n * x ^ (n - 1)), 0 if n is 0"""
    (x,) = use.operands
    n = use.integer("exponent")
    return (g * (n * x.apply("pow", exponent=n - 1)) if n else g.like(0),)


def _pow_step(use: Use, g: Term) -> Sequence[Term | None]:
    """g * (n * x ^ (n - 1)), 0 if n is 0; none to n"""
    x, n = use.operands
    number = Term(
        x.emitter, x.emitter.broadcast(n.apply("cast", dtype=x.type.dtype).node, x.shape), x.span
    )
    zero = n.equals(0)
    everywhere = Term(x.emitter, x.emitter.broadcast(zero.node, x.shape), x.span)
    return select(everywhere, 0, g * (number * x.apply("powStep", n - 1))), None


def _sqrt(use: Use, g: Term) -> Sequence[Term]:
    """(0.5 * g) / y"""
    return ((0.5 * g) / use.result,)


def _exp(use: Use, g: Term) -> Sequence[Term]:
    """g * y"""
    return (g * use.result,)


def _log(use: Use, g: Term) -> Sequence[Term]:
    """g / x"""
    return (g / use.operands[0],)


def _tanh(use: Use, g: Term) -> Sequence[Term]:
    """g * fma (-y) y 1"""
    y = use.result
    return (g * (-y).apply("fma", y, y.like(1)),)


def _sigmoid(use: Use, g: Term) -> Sequence[Term]:
    """g * (y * (1 - y))"""
    y = use.result
    return (g * (y * (1 - y)),)


def _erf(use: Use, g: Term) -> Sequence[Term]:
    """g * (1.1283792 * exp (-(x * x)))"""
    (x,) = use.operands
    return (g * (1.1283792 * exp(-(x * x))),)


def _sin(use: Use, g: Term) -> Sequence[Term]:
    """g * cos x"""
    return (g * use.operands[0].apply("cos"),)


def _cos(use: Use, g: Term) -> Sequence[Term]:
    """-(g * sin x)"""
    return (-(g * use.operands[0].apply("sin")),)


def _rsqrt(use: Use, g: Term) -> Sequence[Term]:
    """((-0.5 * g) * y) * (y * y)"""
    y = use.result
    return (((-0.5 * g) * y) * (y * y),)


def _relu(use: Use, g: Term) -> Sequence[Term]:
    """select (x > 0) g 0"""
    (x,) = use.operands
    return (select(x > 0, g, 0),)


def _zero(use: Use, g: Term) -> Sequence[Term]:
    """0"""
    return (g.like(0),)


def _maximum(use: Use, g: Term) -> Sequence[Term]:
    """to a where a >= b, else to b"""
    a, b = use.operands
    winner = a >= b
    return select(winner, g, 0), select(winner, 0, g)


def _minimum(use: Use, g: Term) -> Sequence[Term]:
    """to a where a <= b, else to b"""
    a, b = use.operands
    winner = a <= b
    return select(winner, g, 0), select(winner, 0, g)


def _select_gradient(use: Use, g: Term) -> Sequence[Term | None]:
    """g to a under the mask c, g to b under the mask not c (the sweep keeps the masks, section 14); none to c"""
    return None, g, g


def _cast_gradient(use: Use, g: Term) -> Sequence[Term] | None:
    """float to float: cast back; else none"""
    source = use.operands[0].type.dtype
    return (g.apply("cast", dtype=source),) if source.is_float else None


def _row(
    name: str,
    operands: int,
    dtypes: frozenset[Dtype],
    meaning: str,
    gradient: Gradient | None,
    attributes: tuple[str, ...] = (),
) -> Operation:
    return Operation(
        name,
        meaning,
        rules.elementwise(name, operands, dtypes),
        attributes,
        gradient=gradient,
        elementwise=True,
        arithmetic=True,
    )


def _compare(name: str, meaning: str) -> Operation:
    return Operation(name, meaning, _comparison, elementwise=True, arithmetic=True)


ROWS: tuple[Operation, ...] = (
    _row("add", 2, rules.NUMERIC, "a + b: one rounding; integers wrap", _add),
    _row("sub", 2, rules.NUMERIC, "a - b: one rounding; integers wrap", _sub),
    _row("mul", 2, rules.NUMERIC, "a * b: one rounding; integers wrap", _mul),
    _row("div", 2, rules.FLOATS, "a / b: one rounding", _div),
    _row("neg", 1, rules.SIGNED, "-a: floats change the sign bit only; integers wrap", _neg),
    _row("abs", 1, rules.SIGNED, "floats clear the sign bit only; integers wrap", _abs),
    _row("fma", 3, rules.FLOATS, "a * b + c: one rounding", _fma),
    Operation(
        "pow",
        "r = 1, b = x; for each bit of n from the lowest: r = r * b if set, then b = b * b; negative n: 1 / x ^ -n",
        _power,
        ("exponent",),
        gradient=_pow,
        elementwise=True,
        arithmetic=True,
    ),
    Operation(
        "powStep",
        "pow with the exponent in a u32 scalar, the second operand",
        _power_of_step,
        gradient=_pow_step,
        elementwise=True,
        arithmetic=True,
    ),
    Operation(
        "floorDiv", "a // by: floor division", _division_by("floorDiv"), ("by",), elementwise=True
    ),
    Operation("rem", "a % by: a - by * (a // by)", _division_by("rem"), ("by",), elementwise=True),
    _row("sqrt", 1, rules.FLOATS, "one rounding", _sqrt),
    _row("exp", 1, rules.ELEMENTARY, "section 12.4", _exp),
    _row("log", 1, rules.ELEMENTARY, "section 12.4", _log),
    _row("tanh", 1, rules.ELEMENTARY, "section 12.4", _tanh),
    _row("sigmoid", 1, rules.ELEMENTARY, "section 12.4", _sigmoid),
    _row("erf", 1, rules.ELEMENTARY, "section 12.4", _erf),
    _row("sin", 1, rules.ELEMENTARY, "section 12.4", _sin),
    _row("cos", 1, rules.ELEMENTARY, "section 12.4", _cos),
    _row("rsqrt", 1, rules.ELEMENTARY, "1 / sqrt x: two roundings", _rsqrt),
    _row("relu", 1, rules.FLOATS, "select (x <= 0) 0 x", _relu),
    _row("sign", 1, rules.FLOATS, "1 if x > 0, -1 if x < 0, else x; NaN stays", _zero),
    _row("floor", 1, rules.FLOATS, "toward -inf; -0 and NaN stay", _zero),
    _row(
        "round",
        1,
        rules.FLOATS,
        "to nearest even; the sign of a zero result is that of x; NaN stays",
        _zero,
    ),
    _row("maximum", 2, rules.NUMERIC, "NaN if either is NaN; +0 above -0", _maximum),
    _row("minimum", 2, rules.NUMERIC, "NaN if either is NaN; -0 below +0", _minimum),
    _compare("equal", "a == b, IEEE: NaN is unordered"),
    _compare("notEqual", "not (a == b)"),
    _compare("less", "a < b, IEEE: NaN is unordered"),
    _compare("lessEqual", "a <= b"),
    _compare("greater", "a > b"),
    _compare("greaterEqual", "a >= b"),
    Operation("and", "both", rules.elementwise("and", 2, rules.BOOLEAN), elementwise=True),
    Operation("or", "either", rules.elementwise("or", 2, rules.BOOLEAN), elementwise=True),
    Operation("not", "the other", rules.elementwise("not", 1, rules.BOOLEAN), elementwise=True),
    Operation(
        "select",
        "a where c, else b; bits unchanged",
        _select,
        gradient=_select_gradient,
        elementwise=True,
    ),
    Operation(
        "cast",
        "float to float and integer to float: nearest even; float to integer: truncate, saturate, NaN to 0;"
        " integer to integer: wrap; bool: 0 or 1",
        _cast,
        ("dtype",),
        gradient=_cast_gradient,
        elementwise=True,
    ),
)

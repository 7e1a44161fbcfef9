"""What one element of each elementwise operation is, in kernel operators (specification, section 11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from alpha.base.dtype import Dtype
from alpha.graph.node import Node
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.direct.cast import cast
from alpha.kernel.elementary import F32, FUNCTIONS
from alpha.kernel.node import Atom, Constant, Scalar, scalar_of

Element = Callable[[KernelBuilder, Node, Sequence[Atom]], Atom]
"""The result element from the operand elements; any number of lanes."""

DIRECT = {
    **{name: name for name in ("add", "sub", "mul", "div", "fma", "maximum", "minimum", "select")},
    **{name: name for name in ("sqrt", "floor", "and", "or", "equal", "notEqual")},
    **{name: name for name in ("less", "lessEqual", "greater", "greaterEqual")},
    "round": "roundEven",
}
"""Operations that are one operator."""

BITS_OF_STEP = 32


def _operator(name: str) -> Element:
    def element(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
        return builder.apply(name, *operands)

    return element


def _elementary(name: str) -> Element:
    function = FUNCTIONS[name]

    def element(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
        (x,) = operands
        return function(F32(builder, x.type.lanes), x)

    return element


def _like(x: Atom, value: int | float | bool) -> Constant:
    number = float(value) if x.type.scalar.is_float else value
    return Constant(number, x.type)


def _neg(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    (x,) = operands
    if x.type.scalar.is_float:
        return builder.apply("neg", x)
    return builder.apply("sub", _like(x, 0), x)


def _abs(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    (x,) = operands
    if x.type.scalar.is_float:
        return builder.apply("abs", x)
    below = builder.apply("less", x, _like(x, 0))
    return builder.apply("select", below, builder.apply("sub", _like(x, 0), x), x)


def _relu(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    """select (x <= 0) 0 x"""
    (x,) = operands
    return builder.apply("select", builder.apply("lessEqual", x, _like(x, 0)), _like(x, 0), x)


def _sign(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    (x,) = operands
    below = builder.apply("select", builder.apply("less", x, _like(x, 0)), _like(x, -1), x)
    return builder.apply("select", builder.apply("greater", x, _like(x, 0)), _like(x, 1), below)


def _not(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    (x,) = operands
    return builder.apply("xor", x, _like(x, True))


def _cast(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    return cast(builder, operands[0], scalar_of(Dtype(node.attribute("dtype"))))


def _pow(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    """r = 1, b = x; for each bit of n from the lowest: r = r * b if set, then b = b * b; negative n: 1 / x ^ -n"""
    (x,) = operands
    exponent = node.attribute("exponent")
    assert isinstance(exponent, int)
    left, base = abs(exponent), x
    product: Atom | None = None
    while left:
        if left & 1:
            # 1 * b is b.
            product = base if product is None else builder.apply("mul", product, base)
        left >>= 1
        if left:
            base = builder.apply("mul", base, base)
    result = _like(x, 1) if product is None else product
    return result if exponent >= 0 else builder.apply("div", _like(x, 1), result)


def _pow_step(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    """`pow` with the exponent in a u32: all 32 bits, of which those that are not set leave r alone."""
    x, exponent = operands

    def turn(_: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
        result, base, left = carried
        bit = builder.apply("and", left, _like(left, 1))
        is_set = builder.apply("notEqual", bit, _like(left, 0))
        product = builder.apply("mul", result, base)
        return (
            builder.apply("select", is_set, product, result),
            builder.apply("mul", base, base),
            builder.apply("shiftRight", left, _like(left, 1)),
        )

    return builder.fold(0, BITS_OF_STEP, (_like(x, 1), x, exponent), turn)[0]


def _divided(builder: KernelBuilder, x: Atom, by: int) -> Atom:
    """The floor of `x / by`; `by` may lie outside the type, and -1 does not overflow but wraps."""
    scalar = x.type.scalar
    bits = 8 * scalar.size
    largest = (1 << (bits - scalar.is_signed)) - 1
    zero = _like(x, 0)
    if by == -1:
        return builder.apply("sub", zero, x)
    if not scalar.is_signed:
        size = abs(by)
        quotient = builder.apply("quotient", x, _like(x, size)) if size <= largest else zero
        if by > 0:
            return quotient
        rest = builder.apply("remainder", x, _like(x, size)) if size <= largest else x
        ceiling = builder.add(quotient, _one_if(builder, builder.apply("notEqual", rest, zero), x))
        return builder.apply("sub", zero, ceiling)
    if not -largest - 1 <= by <= largest:
        beyond = builder.apply("less" if by > 0 else "greater", x, zero)
        return builder.apply("sub", zero, _one_if(builder, beyond, x))
    divisor = _like(x, by)
    rest = builder.apply("remainder", x, divisor)
    crosses = builder.apply(
        "and",
        builder.apply("notEqual", rest, zero),
        builder.apply("less", builder.apply("xor", rest, divisor), zero),
    )
    quotient = builder.apply("quotient", x, divisor)
    return builder.apply("sub", quotient, _one_if(builder, crosses, x))


def _one_if(builder: KernelBuilder, condition: Atom, like: Atom) -> Atom:
    return builder.apply("select", condition, _like(like, 1), _like(like, 0))


def _by(node: Node) -> int:
    by = node.attribute("by")
    assert isinstance(by, int)
    return by


def _floor_div(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    return _divided(builder, operands[0], _by(node))


def _rem(builder: KernelBuilder, node: Node, operands: Sequence[Atom]) -> Atom:
    """x - by * (x // by), which wraps"""
    (x,) = operands
    by = _by(node)
    product = builder.apply("mul", _divided(builder, x, by), _like(x, wrapped(by, x.type.scalar)))
    return builder.apply("sub", x, product)


def wrapped(value: int, scalar: Scalar) -> int:
    """`value` in two's complement of the type's width."""
    bits = 8 * scalar.size
    value %= 1 << bits
    return value - (1 << bits) if scalar.is_signed and value >> (bits - 1) else value


ELEMENTS: Mapping[str, Element] = MappingProxyType(
    {
        **{name: _operator(operator) for name, operator in DIRECT.items()},
        **{name: _elementary(name) for name in FUNCTIONS},
        "neg": _neg,
        "abs": _abs,
        "relu": _relu,
        "sign": _sign,
        "not": _not,
        "cast": _cast,
        "pow": _pow,
        "powStep": _pow_step,
        "floorDiv": _floor_div,
        "rem": _rem,
    }
)

WEIGHTS: Mapping[str, int] = MappingProxyType(
    {**dict.fromkeys(FUNCTIONS, 20), "pow": 8, "powStep": 64, "div": 4, "sqrt": 4}
)
"""About how many simple operations an element takes; 1 where nothing stands here."""

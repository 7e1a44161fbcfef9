"""Convolution over the two middle axes of an image (specification, section 11).

`conv2d` and its slope by the weights are composites: they pad the image and contract its windows. The contraction reads
the windows where they lie, so the padded image is all the memory that either takes.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.graph.errors import OperationError
from alpha.graph.formula import Term
from alpha.graph.ops import rules
from alpha.graph.ops.contraction import contracted_type
from alpha.graph.ops.row import Attributes, Operation, Types, Use

WINDOWS = "nhwkli"
"""The axes of an image's windows: `[k, l, i]` for every place `[n, h, w]`."""
WEIGHTS, RESULT = "klio", "nhwo"
"""The axes of the weights, and those of a convolution's result."""


def windows_of(x: TensorType, window: Sequence[int]) -> TensorType:
    """The windows of an image `[n, h, w, i]`, none of which reaches outside; E0503 if there is none."""
    n, *sides, channels = x.shape
    places = [side - size + 1 for side, size in zip(sides, window, strict=True)]
    for count in places:
        if count < 1:
            raise OperationError("E0503", f"`conv2d` makes an axis of size {count}")
    return rules.replaced(x, (n, *places, *window, channels))


def _images(name: str, types: Types) -> None:
    rules.count(name, types, 2)
    for type_ in types:
        rules.defined(name, type_, rules.FLOATS)
        if len(type_.shape) != 4:
            raise OperationError("E0413", f"`{name}` needs tensors of rank 4, not `{type_}`")
    rules.equal_elements(name, *types)


def _padded(
    name: str, x: TensorType, window: Sequence[int], attributes: Attributes
) -> tuple[TensorType, Sequence[int]]:
    """The image with zeros around it, and how many: fewer than the window is long, so that all see the image."""
    padding = rules.integers(name, "padding", attributes["padding"])
    for zeros, size in zip(padding, window, strict=True):
        if not 0 <= zeros < size:
            raise OperationError(
                "E0423", f"`{name}` pads with {zeros} zeros a window that is {size} long"
            )
    n, high, wide, channels = x.shape
    return rules.replaced(x, (n, high + 2 * padding[0], wide + 2 * padding[1], channels)), padding


def _conv2d(types: Types, attributes: Attributes) -> TensorType:
    _images("conv2d", types)
    x, w = types
    if x.shape[3] != w.shape[2]:
        raise OperationError(
            "E0412", f"`conv2d` reads {x.shape[3]} channels with weights for {w.shape[2]}"
        )
    window = w.shape[:2]
    padded, _ = _padded("conv2d", x, window, attributes)
    n, high, wide, *_ = windows_of(padded, window).shape
    return rules.replaced(x, (n, high, wide, w.shape[3]))


def _conv2d_weights(types: Types, attributes: Attributes) -> TensorType:
    """The size of the window is what the image has in excess of the result's places."""
    _images("conv2dWeights", types)
    g, x = types
    if g.shape[0] != x.shape[0]:
        raise OperationError(
            "E0412", f"`conv2dWeights` joins {g.shape[0]} results with {x.shape[0]} images"
        )
    padding = rules.integers("conv2dWeights", "padding", attributes["padding"])
    window = [x.shape[axis] + 2 * padding[axis - 1] - g.shape[axis] + 1 for axis in (1, 2)]
    padded, _ = _padded("conv2dWeights", x, window, attributes)
    windows_of(padded, window)
    return rules.replaced(x, (*window, x.shape[3], g.shape[3]))


def _contract_windows(types: Types, attributes: Attributes) -> TensorType:
    name = "contractWindows"
    _images(name, types)
    window = rules.integers(name, "window", attributes["window"])
    if len(window) != 2 or min(window) < 1:
        raise OperationError("E0503", f"`{name}` has windows of {list(window)}")
    letters = {"right": str(attributes["right"]), "result": str(attributes["result"])}
    return contracted_type(
        name, (windows_of(types[0], window), types[1]), {"left": WINDOWS, **letters}
    )


def _pad(x: Term, padding: Sequence[int]) -> Term:
    for axis, zeros in enumerate(padding, start=1):
        if zeros:
            x = x.apply("pad", axis=axis, low=zeros, high=zeros)
    return x


def _conv2d_meaning(use: Use) -> Term:
    """the windows of padded x, contracted over (k, l, i)"""
    x, w = use.operands
    return _pad(x, use.integers("padding")).apply(
        "contractWindows", w, window=w.shape[:2], right=WEIGHTS, result=RESULT
    )


def _conv2d_weights_meaning(use: Use) -> Term:
    """the windows of padded x, contracted over (n, h, w)"""
    g, x = use.operands
    return _pad(x, use.integers("padding")).apply(
        "contractWindows", g, window=use.result.shape[:2], right=RESULT, result=WEIGHTS
    )


def _turned(w: Term) -> Term:
    """w flipped, with i and o swapped"""
    return w.apply("reverse", axes=(0, 1)).apply("transpose", order=(0, 1, 3, 2))


def _rest(w: Term, padding: Sequence[int]) -> tuple[int, ...]:
    """kh - 1 - p and kw - 1 - p"""
    return tuple(size - 1 - zeros for size, zeros in zip(w.shape[:2], padding, strict=True))


def _conv2d_gradient(use: Use, g: Term) -> Sequence[Term]:
    """to x: conv2d of g, padded kh - 1 - p and kw - 1 - p, with w flipped and i, o swapped; to w: over (n, h, w) of g
    and padded x"""
    x, w = use.operands
    padding = use.integers("padding")
    return (
        g.apply("conv2d", _turned(w), padding=_rest(w, padding)),
        g.apply("conv2dWeights", x, padding=padding),
    )


def _conv2d_weights_gradient(use: Use, g: Term) -> Sequence[Term]:
    """to the result's adjoint: conv2d x g; to x: conv2d of it, padded kh - 1 - p and kw - 1 - p, with g turned"""
    adjoint, x = use.operands
    padding = use.integers("padding")
    return (
        x.apply("conv2d", g, padding=padding),
        adjoint.apply("conv2d", _turned(g), padding=_rest(g, padding)),
    )


ROWS: tuple[Operation, ...] = (
    Operation(
        "conv2d",
        "x padded with zeros, which take part, contracted with w over (kh, kw, i): section 12.2",
        _conv2d,
        ("padding",),
        expansion=_conv2d_meaning,
        gradient=_conv2d_gradient,
        arithmetic=True,
    ),
    Operation(
        "conv2dWeights",
        "g [n, h, w, o] and x padded with zeros, contracted over (n, h, w): the slope of conv2d by its weights",
        _conv2d_weights,
        ("padding",),
        expansion=_conv2d_weights_meaning,
        gradient=_conv2d_weights_gradient,
        arithmetic=True,
    ),
    Operation(
        "contractWindows",
        f"contract, with the windows [{', '.join(WINDOWS)}] of an image [n, H, W, i] on the left:"
        " x[n, h + k, w + l, i]",
        _contract_windows,
        ("result", "right", "window"),
        arithmetic=True,
    ),
)

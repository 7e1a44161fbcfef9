"""How Alpha says what other languages and frameworks call by another name: hints for a name that is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_BY_NAME = "operations stand by themselves, without a module in front: `sum x`, `exp x`"
_CONCAT = "arrays are joined by `concat[k] [a, b]`, along axis `k`"
_RESHAPE = "`reshape [n, 4] x` gives the same elements another shape"
_REPEAT = "`repeat[k] n x` makes a new axis `k` of size `n`"
_SELECT = "`select condition a b` chooses element by element"
_TRANSPOSE = "`transpose[1, 0] x` reorders axes; a matrix needs no brackets: `transpose x`"
_FILL = "`fill [n, 4] 0.0` is a tensor of one value"
_PRODUCT = "a matrix product is written `a @ b`, any other contraction with `einsum`"
_CAST = "`cast f32 x` converts to another dtype"
_DRAW = "`normalLike key x` and `uniformLike key x` draw numbers in the shape of `x`"
_GATHER = "`gather table ids` takes the rows of a table"
_SPREAD = "the variance is `mean[k] (d * d)`, with `d = x - repeat[k] n (mean[k] x)`"
_ENTROPY = "from logits and labels: `crossEntropy logits labels`"
_PROOF = "nothing is printed while a program is built: a `proof` or a `test` shows the values of its parts"
_POWER = "a power is written `x ^ 2`"
_SHAPE = "sizes are names in a signature, as `n` in `Tensor f32 [n, 4]`, and may be used as numbers"

_HINTS: Mapping[str, str] = {
    name: hint
    for names, hint in (
        ("np numpy jnp jax torch tf nn F math", _BY_NAME),
        ("concatenate cat stack hstack vstack", _CONCAT),
        ("flatten view squeeze ravel", _RESHAPE),
        ("unsqueeze expand expandDims broadcastTo tile newaxis", _REPEAT),
        ("cond", _SELECT),
        ("permute swapaxes moveaxis T", _TRANSPOSE),
        ("zerosLike onesLike full fullLike empty eye", _FILL),
        ("matmul dot mm bmm tensordot", _PRODUCT),
        ("astype float int double to", _CAST),
        ("rand randn random", _DRAW),
        ("take embedding indexSelect takeAlongAxis", _GATHER),
        ("std var variance", _SPREAD),
        ("nllLoss crossEntropyLoss", _ENTROPY),
        ("print", _PROOF),
        ("pow power square", _POWER),
        ("shape size ndim", _SHAPE),
        ("arange linspace", "`positions n` is 0, 1, ... n - 1 as a tensor, `range 0 n` as a list"),
        ("clip", "`clamp low high x` keeps numbers between two bounds"),
        ("len", "`length` counts the items of a list; a tensor's sizes are names in its type"),
        ("detach noGrad", "`stopGradient x` is `x` without a gradient"),
        ("backward", "`grad f p x` is the gradient of `f p x` by `p`"),
        ("amax", "`max[k] x` is the largest along axis `k`"),
        ("amin", "`min[k] x` is the smallest along axis `k`"),
        (
            "prod",
            "there is no product along an axis; `exp (sum (log x))` is one of positive numbers",
        ),
        ("foreach reduce foldl foldLeft", "`fold start combine items` goes over a list"),
        ("true", "the values are written `True` and `False`"),
        ("false", "the values are written `True` and `False`"),
        ("null none nil", "the value that is not there is `None`, of the type `Maybe a`"),
    )
    for name in names.split()
}


def hint(name: str) -> str:
    """What to write in Alpha for a name of another framework; "" if it is none."""
    return _HINTS.get(name) or _HINTS.get(camel(name), "")


def camel(name: str) -> str:
    """`leaky_relu` as it would be called here: `leakyRelu`."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def member_hint(name: str, operations: Iterable[str]) -> str:
    """What to write for `x.name` where `x` is a tensor."""
    if camel(name) in operations:
        return f"operations are functions that stand in front: `{camel(name)} x`"
    return hint(name)

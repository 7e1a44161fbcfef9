"""Faults of shapes: sizes, ranks, axes, bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from alpha.base.span import Span
from alpha.core.dim import Dim
from alpha.diagnostics.closest import closest_written, guesses
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label

Labels = tuple[Label, ...]


def sizes(span: Span, left: Dim, right: Dim, labels: Labels) -> Diagnostic:
    return Diagnostic(
        "E0412",
        f"the sizes differ: {left} and {right}",
        span,
        labels,
        f"`{left}` and `{right}` are different for every choice of their names"
        if left.value is None or right.value is None
        else "both axes must have the same size",
    )


def inner_sizes(span: Span, left: Dim, right: Dim, labels: Labels, vector: bool) -> Diagnostic:
    """`vector` means that the right side has one axis."""
    place = "the only axis" if vector else "the last axis but one"
    return Diagnostic(
        "E0412",
        f"the sizes differ: {left} and {right}",
        span,
        labels,
        f"`@` adds over the last axis of its left side, {left}, and {place} of its right side, {right}",
    )


ALL_ELEMENTS = (
    "a comparison of tensors is a tensor; in a `test`, `max (abs (a - b)) == 0.0` is one answer",
)


def ranks(
    span: Span, left: str, right: str, labels: Labels, hints: tuple[str, ...] = ()
) -> Diagnostic:
    return Diagnostic(
        "E0413",
        f"the shapes have different numbers of axes: `{left}` and `{right}`",
        span,
        labels,
        "shapes are matched axis by axis from the right",
        hints,
    )


def counts(span: Span, found: Dim, wanted: Dim, decided: bool, labels: Labels) -> Diagnostic:
    return Diagnostic(
        "E0414",
        f"`reshape` cannot turn {found} elements into {wanted}",
        span,
        labels,
        "a reshape keeps the number of elements, for every choice of the names",
        () if decided else ("if the two are equal, say so with `where` in the signature",),
    )


def undecided(span: Span, left: Dim, right: Dim, labels: Labels) -> Diagnostic:
    names = sorted(n for n in left.names | right.names)
    single = next((n for n in names if left == Dim.variable(n) or right == Dim.variable(n)), None)
    other = right if single is not None and left == Dim.variable(single) else left
    hints = (f"add `where {single} = {other}` to the signature",) if single else ()
    return Diagnostic(
        "E0415",
        f"cannot decide whether `{left}` equals `{right}`",
        span,
        labels,
        "they are equal for some sizes and different for others",
        hints,
    )


def lost_axis(
    span: Span, left: Dim, right: Dim, labels: Labels, fixes: tuple[Fix, ...], *, decided: bool
) -> Diagnostic:
    """One operand is the other without an axis, as `keepdims` would keep it."""
    message = (
        f"the sizes differ: {left} and {right}"
        if decided
        else f"cannot decide whether `{left}` equals `{right}`"
    )
    return Diagnostic(
        "E0412" if decided else "E0415",
        message,
        span,
        labels,
        "shapes are matched axis by axis from the right, and broadcasting only adds leading axes",
        () if fixes else ("`repeat[k] n x` gives `x` the axis `k` back",),
        fixes,
    )


def undetermined(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0415",
        f"nothing determines the {name} here",
        span,
        cause="it stands in no argument, and nothing says what result is expected",
        hints=("write the expected type, for example `let x : Tensor f32 [2, 4] = ...`",),
    )


def where_twice(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0415",
        f"the equations behind `where` do not solve `{name}` once",
        span,
        cause="each equation solves one name, and they may not go in a circle",
    )


def stretch(
    span: Span, wanted: Dim, labels: Labels, place: int, fixes: tuple[Fix, ...]
) -> Diagnostic:
    return Diagnostic(
        "E0417",
        f"an axis of size 1 does not stretch to {wanted}",
        span,
        labels,
        "broadcasting only adds leading axes",
        (f"index the axis away and use `repeat[-{place}] {_tight(wanted)}`",),
        fixes,
    )


def axis_name(span: Span, name: str, shape: str, places: Sequence[int]) -> Diagnostic:
    if places:
        where = " and ".join(map(str, places))
        return Diagnostic(
            "E0418",
            f"the axis `{name}` is ambiguous: it stands at positions {where} of `{shape}`",
            span,
            cause="an axis name must stand in the shape exactly once",
            hints=(f"write the position instead: {' or '.join(f'`{p}`' for p in places)}",),
        )
    return Diagnostic(
        "E0418",
        f"no axis of `{shape}` is called `{name}`",
        span,
        cause="an axis is a dimension name that stands in the shape alone, or a number",
        hints=(
            *guesses(name, re.findall(r"[a-z]\w*", shape)),
            "a number works too: 0 is the first axis, -1 the last",
        ),
        fixes=closest_written(span, name, re.findall(r"[a-z]\w*", shape)),
    )


def axis_number(span: Span, number: int, shape: str) -> Diagnostic:
    return Diagnostic(
        "E0418",
        f"`{shape}` has no axis {number} that is known here",
        span,
        cause="axes count from 0, or from -1 backwards; behind an axes variable only from the end",
    )


def axis_twice(span: Span, text: str, labels: Labels = ()) -> Diagnostic:
    return Diagnostic(
        "E0418", f"the axis `{text}` is given twice", span, labels, "each axis can be used once"
    )


def axis_form(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0418",
        "an axis is a number or the name of a dimension",
        span,
        cause="axes are fixed before the program runs",
    )


def axis_count(span: Span, name: str, wanted: str) -> Diagnostic:
    return Diagnostic(
        "E0418", f"`{name}` needs {wanted}", span, cause="it works along the axes in its brackets"
    )


def no_axes(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0418",
        f"`{name}` takes no axes",
        span,
        cause="tight brackets behind an operation name its axes",
    )


def does_not_divide(span: Span, dim: Dim, divisor: int) -> Diagnostic:
    return Diagnostic(
        "E0419",
        f"{divisor} does not divide `{dim}`" if divisor else "a size cannot be divided by zero",
        span,
        cause="`//` on dimensions is exact: it must divide every coefficient",
        hints=(f"name the part instead: write `{divisor} * m` where `{dim}` stands now",)
        if divisor and dim.value is None and str(dim).isidentifier()
        else (),
    )


def no_dimension(span: Span, operator: str) -> Diagnostic:
    return Diagnostic(
        "E0422",
        f"`{operator}` cannot stand in a size",
        span,
        cause="sizes are built from numbers and dimension names with `+`, `-`, `*`, and `//` by a number",
    )


def shape_literal(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0422",
        f"`{name}` needs its shape written out here",
        span,
        cause="a shape is part of the type, so it is a list of expressions over numbers and dimension names",
        hints=(f"write `{name} [n, 4 * m] ...`",),
    )


def size_expression(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0422",
        "this is part of a shape, and not built from numbers and dimension names alone",
        span,
        cause="a size is part of the type, so the compiler must see it as a formula",
        hints=("name the size in the signature, or write the number",),
    )


def bounds(span: Span, what: str, size: Dim, decided: bool, labels: Labels = ()) -> Diagnostic:
    return Diagnostic(
        "E0423",
        f"{what} is outside an axis of size {size}"
        if decided
        else f"cannot decide whether {what} is inside an axis of size {size}",
        span,
        labels,
        "places count from 0 up to the size",
        ()
        if decided or not str(size).isidentifier()
        else (f"names are at least 1: a size written as `{size} + k` has more than k places",),
    )


def bound_expression(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0423",
        "an index is built from numbers and dimension names",
        span,
        cause="its place must be known to lie inside the axis",
        hints=("use `gather` for an index that is computed",),
    )


def empty_slice(span: Span, size: Dim) -> Diagnostic:
    return Diagnostic(
        "E0503",
        f"this slice would have size {size}",
        span,
        cause="every axis has at least one element",
    )


def size_below_one(span: Span, size: int) -> Diagnostic:
    return Diagnostic(
        "E0503", f"a size cannot be {size}", span, cause="every axis has at least one element"
    )


def einsum(span: Span, message: str, cause: str, labels: Labels = ()) -> Diagnostic:
    return Diagnostic("E0420", message, span, labels, cause)


def initialiser(span: Span, name: str, shape: str) -> Diagnostic:
    return Diagnostic(
        "E0421",
        f"`{name}` does not fit a parameter of shape `{shape}`",
        span,
        cause="it is scaled by the sizes of the last two axes, so it needs two",
        hints=("use `zeros`, `normal` or `uniform`",),
    )


def _tight(dim: Dim) -> str:
    text = str(dim)
    return f"({text})" if " " in text else text

"""From a mismatch of two types to the message with the code of what differs innermost."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.check import errors_shapes, errors_types
from alpha.check.conversions import cast_of
from alpha.check.show import Shower
from alpha.check.solver import Mismatch
from alpha.core.dim import Dim
from alpha.core.types import (
    Constraint,
    Shape,
    Tensor,
    Type,
    TypeVar,
)
from alpha.diagnostics.diagnostic import Diagnostic, Label


def mismatch_diagnostic(
    shower: Shower,
    mismatch: Mismatch,
    found: Type,
    expected: Type,
    span: Span,
    labels: tuple[Label, ...],
) -> Diagnostic:
    """The message for two types that cannot be one. `labels` say where the expected one comes from."""
    left, right = mismatch.left, mismatch.right
    code = mismatch.code
    found_text, expected_text = shower.text(found), shower.text(expected)
    whole = (Label(span, f"found `{found_text}`"),)
    if code == "E0412" or code == "E0415":
        assert isinstance(left, Dim) and isinstance(right, Dim)
        one, two = shower.dim(left), shower.dim(right)
        pair = (Label(span, f"found {one}, in `{found_text}`"), *labels)
        if code == "E0412":
            return errors_shapes.sizes(span, one, two, pair)
        return errors_shapes.undecided(span, one, two, pair)
    if code == "E0413":
        assert isinstance(left, Shape) and isinstance(right, Shape)
        texts = shower.shape(left), shower.shape(right)
        compared = found_text.startswith("Tensor bool ") and not right.axes
        hints = errors_shapes.ALL_ELEMENTS if compared else ()
        return errors_shapes.ranks(span, *texts, (*whole, *labels), hints)
    if code == "E0401":
        fixes = (
            cast_of(span, right, argument=True)
            if isinstance(left, Dtype) and isinstance(right, Dtype)
            else ()
        )
        return errors_types.dtypes(
            span, shower.element(left), shower.element(right), (*whole, *labels), fixes
        )
    if code == "E0403":
        name = shower.element(left) if isinstance(left, Dtype) else "a literal"
        return errors_types.unchecked_index(span, name, shower.element(right), labels)
    if code == "E0402":
        inner = next((x for x in (right, left) if isinstance(x, Tensor | Dtype)), right)
        return errors_types.literal(span, span.text, shower.part(inner))
    if code == "E0308":
        assert isinstance(right, Constraint)
        return errors_types.constraint(span, shower.part(left), right, labels)
    if mismatch.note == "infinite":
        return errors_types.infinite(span, shower.part(left), shower.part(right))
    detail = ""
    rigid = next(
        (x for x in (left, right) if isinstance(x, TypeVar) and x.name[0] not in "?!"), None
    )
    if rigid is not None:
        detail = f"`{rigid.name}` may be any type that a user of the definition chooses"
    elif shower.part(left) != found_text:
        detail = f"`{shower.part(left)}` and `{shower.part(right)}` have no value in common"
    return errors_types.differ(span, found_text, expected_text, labels, detail)

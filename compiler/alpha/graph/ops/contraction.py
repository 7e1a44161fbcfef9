"""The contraction of two operands: every `@` and every `einsum` (language page, sections 11, 12.2 and 14)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.graph.errors import OperationError
from alpha.graph.formula import Term
from alpha.graph.ops import rules
from alpha.graph.ops.row import Attributes, Operation, Types, Use


def contracted(left: str, right: str, result: str) -> str:
    """The letters absent from the result, in order of first appearance reading the operands left to right."""
    letters = dict.fromkeys(left + right)
    return "".join(letter for letter in letters if letter not in result)


def sizes(left: str, right: str, types: Types) -> dict[str, int]:
    """The size of each letter; E0412 if a letter has two."""
    found: dict[str, int] = {}
    for letters, type_ in ((left, types[0]), (right, types[1])):
        for letter, size in zip(letters, type_.shape, strict=True):
            if found.setdefault(letter, size) != size:
                raise OperationError(
                    "E0412", f"letter `{letter}` has the sizes {found[letter]} and {size}"
                )
    return found


def _contract(types: Types, attributes: Attributes) -> TensorType:
    rules.count("contract", types, 2)
    left, right, result = (str(attributes[key]) for key in ("left", "right", "result"))
    for letters, type_ in ((left, types[0]), (right, types[1])):
        rules.defined("contract", type_, rules.FLOATS)
        if len(letters) != len(type_.shape):
            raise OperationError(
                "E0413",
                f"the letters `{letters}` name {len(letters)} axes of a tensor of rank {len(type_.shape)}",
            )
    rules.equal_elements("contract", types[0], types[1])
    for letters in (left, right, result):
        if len(set(letters)) != len(letters):
            raise OperationError("E0420", f"a letter stands twice in `{letters}`")
    known = sizes(left, right, types)
    for letter in result:
        if letter not in known:
            raise OperationError("E0420", f"letter `{letter}` of the result stands in no operand")
    return TensorType(types[0].dtype, tuple(known[letter] for letter in result))


def _gradient_to(
    target: str, shape: tuple[int, ...], g: Term, result: str, other: Term, letters: str
) -> Term:
    """einsum g[result], other[letters] to [target]; a letter found in neither is repeated."""
    present = "".join(letter for letter in target if letter in result or letter in letters)
    product = g.apply("contract", other, left=result, right=letters, result=present)
    return product.repeated(
        [axis for axis, letter in enumerate(target) if letter not in present], shape
    )


def _gradient(use: Use, g: Term) -> Sequence[Term]:
    """einsum g[γ], B[β] to [α] and einsum g[γ], A[α] to [β]; a letter found in neither operand is repeated"""
    a, b = use.operands
    left, right, result = use.text("left"), use.text("right"), use.text("result")
    return (
        _gradient_to(left, a.shape, g, result, b, right),
        _gradient_to(right, b.shape, g, result, a, left),
    )


ROWS: tuple[Operation, ...] = (
    Operation(
        "contract",
        "section 12.2: acc = +0, then acc = fma(a_k, b_k, acc) for ascending k over the letters absent from the result,"
        " in order of first appearance, flattened row-major",
        _contract,
        ("left", "right", "result"),
        gradient=_gradient,
        arithmetic=True,
    ),
)

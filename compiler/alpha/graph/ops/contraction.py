"""Contractions: every `@` and `einsum`, and those of tensor cores (specification, sections 11, 12.2, 12.6, 14)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import OperationError
from alpha.graph.formula import Term
from alpha.graph.ops import rules
from alpha.graph.ops.row import Attributes, Operation, Rule, Types, Use


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
    return contracted_type("contract", types, attributes)


def contracted_type(name: str, types: Types, attributes: Attributes) -> TensorType:
    """The type of a contraction with the letters `left`, `right` and `result`; `name` is what messages call it."""
    rules.count(name, types, 2)
    left, right, result = (str(attributes[key]) for key in ("left", "right", "result"))
    for letters, type_ in ((left, types[0]), (right, types[1])):
        rules.defined(name, type_, rules.FLOATS)
        if len(letters) != len(type_.shape):
            raise OperationError(
                "E0413",
                f"the letters `{letters}` name {len(letters)} axes of a tensor of rank {len(type_.shape)}",
            )
    rules.equal_elements(name, types[0], types[1])
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


def _matrices(name: str, dtype: Dtype) -> Rule:
    """Two matrices of the dtype that a tensor core takes, to one of f32."""

    def rule(types: Types, attributes: Attributes) -> TensorType:
        rules.count(name, types, 2)
        for type_ in types:
            rules.defined(name, type_, frozenset({dtype}))
            if len(type_.shape) != 2:
                raise OperationError("E0413", f"`{name}` needs matrices, not `{type_}`")
        (rows, inner), (other, columns) = types[0].shape, types[1].shape
        if inner != other:
            raise OperationError("E0412", f"`{name}` joins rows of {inner} with columns of {other}")
        return TensorType(Dtype.F32, (rows, columns))

    return rule


def _tensor_core(name: str, dtype: Dtype, operands: str) -> Operation:
    return Operation(
        name,
        f"section 12.6: within K * 2^-23 * sum |a_k b_k| of the exact sum of products of {operands}",
        _matrices(name, dtype),
        interval=True,
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
    _tensor_core("matmulTensorCoreBf16", Dtype.BF16, "bf16 operands"),
    _tensor_core("matmulTensorCoreF16", Dtype.F16, "f16 operands"),
    _tensor_core(
        "matmulTensorCoreTf32",
        Dtype.F32,
        "operands rounded to 10 fraction bits, ties away from zero",
    ),
)

"""The table of operations is complete, and the builder refuses wrong operands with a code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.errors import OperationError
from alpha.graph.ops import TABLE
from alpha.graph.ops.contraction import contracted
from laws.graphs import OPERATIONS, applications

NUMERICS = Path(__file__).parents[2] / "docs" / "numerics.md"
ELEMENTARY = Path(__file__).parents[2] / "compiler" / "alpha" / "base" / "elementary.toml"


def test_every_row_says_what_it_means() -> None:
    for row in TABLE.values():
        assert row.meaning, row.name
        for function in (row.gradient, row.expansion):
            assert function is None or function.__doc__, (
                f"{row.name} has a formula without its text"
            )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_generator_knows_every_row(operation: str) -> None:
    assert applications(operation) is not None


def test_the_numerics_page_prints_the_constants_of_the_table() -> None:
    page = NUMERICS.read_text("utf-8")
    for line in ELEMENTARY.read_text("utf-8").splitlines():
        for word in (
            line.partition("#")[0].replace("[", " ").replace("]", " ").replace(",", " ").split()
        ):
            written = word.strip('"')
            if written.startswith(("0x1.", "-0x1.")) and not line.startswith(
                ("magic", "underflow", "ceiling")
            ):
                assert written in page, f"{written} is missing from the page"


@pytest.mark.parametrize(
    ("code", "operation", "operands", "attributes"),
    [
        ("E0401", "add", ["f32 2 3", "f16 2 3"], {}),
        ("E0412", "add", ["f32 2 3", "f32 2 4"], {}),
        ("E0413", "add", ["f32 2 3", "f32 3"], {}),
        ("E0404", "add", ["bool 2", "bool 2"], {}),
        ("E0404", "add", ["index<3> 2", "index<3> 2"], {}),
        ("E0404", "exp", ["f64 2"], {}),
        ("E0404", "neg", ["u32 2"], {}),
        ("E0404", "div", ["i32 2", "i32 2"], {}),
        ("E0404", "pow", ["i32 2"], {"exponent": 2}),
        ("E0401", "powStep", ["f32 2", "i32"], {}),
        ("E0404", "floorDiv", ["f32 2"], {"by": 2}),
        ("E0504", "floorDiv", ["i32 2"], {"by": 0}),
        ("E0402", "rem", ["u8 2"], {"by": 300}),
        ("E0401", "equal", ["index<3> 2", "index<4> 2"], {}),
        ("E0404", "select", ["f32 2", "f32 2", "f32 2"], {}),
        ("E0401", "select", ["bool 2", "f32 2", "i32 2"], {}),
        ("E0405", "cast", ["f32 2"], {"dtype": "bool"}),
        ("E0418", "sum", ["f32 2 3"], {"axes": (2,)}),
        ("E0418", "sum", ["f32 2 3"], {"axes": (1, 0)}),
        ("E0418", "sum", ["f32 2 3"], {"axes": (1, 1)}),
        ("E0418", "softmax", ["f32"], {"axis": 0}),
        ("E0404", "mean", ["i32 2"], {"axes": (0,)}),
        ("E0404", "logSumExp", ["f64 2"], {"axes": (0,)}),
        ("E0403", "crossEntropy", ["f32 2 3", "i32 2"], {}),
        ("E0412", "crossEntropy", ["f32 2 3", "index<4> 2"], {}),
        ("E0412", "pick", ["f32 2 3", "index<3> 4"], {}),
        ("E0404", "contract", ["i32 2", "i32 2"], {"left": "i", "right": "i", "result": ""}),
        ("E0413", "contract", ["f32 2", "f32 2"], {"left": "ij", "right": "i", "result": ""}),
        ("E0420", "contract", ["f32 2 2", "f32 2"], {"left": "ii", "right": "i", "result": ""}),
        ("E0420", "contract", ["f32 2", "f32 2"], {"left": "i", "right": "i", "result": "j"}),
        ("E0412", "contract", ["f32 2", "f32 3"], {"left": "i", "right": "i", "result": ""}),
        ("E0401", "contract", ["f32 2", "bf16 2"], {"left": "i", "right": "i", "result": ""}),
        ("E0417", "broadcast", ["f32 2 1"], {"shape": (2, 3)}),
        ("E0412", "broadcast", ["f32 2"], {"shape": (2, 3)}),
        ("E0413", "broadcast", ["f32 2 3"], {"shape": (3,)}),
        ("E0414", "reshape", ["f32 2 3"], {"shape": (5,)}),
        ("E0503", "reshape", ["f32 2 3"], {"shape": (6, 0)}),
        ("E0418", "transpose", ["f32 2 3"], {"order": (0, 0)}),
        ("E0418", "repeat", ["f32 2"], {"axis": 2, "count": 2}),
        ("E0503", "repeat", ["f32 2"], {"axis": 0, "count": 0}),
        ("E0412", "concat", ["f32 2 3", "f32 2 4"], {"axis": 0}),
        ("E0413", "concat", ["f32 2", "f32 2 1"], {"axis": 0}),
        ("E0503", "pad", ["f32 2"], {"axis": 0, "low": -1, "high": 0}),
        ("E0423", "slice", ["f32 2"], {"low": (0,), "high": (3,)}),
        ("E0503", "slice", ["f32 2"], {"low": (1,), "high": (1,)}),
        ("E0412", "gather", ["f32 4 2", "index<3> 5"], {}),
        ("E0403", "gather", ["f32 4 2", "u32 5"], {}),
        ("E0403", "oneHot", ["i32 5"], {}),
        ("E0412", "causal", ["f32 2 3"], {}),
        ("E0503", "positions", [], {"count": 0}),
        ("E0402", "key", [], {"k0": 1 << 32, "k1": 0, "step": 0}),
        ("E0301", "uniform", ["u32 2"], {"shape": (2,)}),
        ("E0401", "deriveKey", ["u32 3", "i32"], {"tag": 2}),
        ("E0302", "neg", ["f32", "f32"], {}),
    ],
)
def test_a_wrong_operand_is_refused(
    code: str, operation: str, operands: list[str], attributes: dict[str, Any]
) -> None:
    builder = Builder()
    nodes = [builder.input(str(place), read(text)) for place, text in enumerate(operands)]
    with pytest.raises(OperationError) as caught:
        builder.apply(operation, nodes, **attributes)
    assert caught.value.code == code
    assert caught.value.diagnostic().code == code


def read(text: str) -> TensorType:
    name, *sizes = text.split()
    shape = tuple(map(int, sizes))
    if name.startswith("index"):
        return TensorType(Dtype.I32, shape, int(name[len("index<") : -1]))
    return TensorType(Dtype(name), shape)


def test_constants_are_values_of_their_dtype() -> None:
    builder = Builder()
    assert builder.constant(0.1, Dtype.F32).attribute("value") == 0.10000000149011612
    assert builder.constant(0.1, Dtype.BF16).attribute("value") == 0.10009765625
    assert builder.constant(70000.0, Dtype.F16).attribute("value") == float("inf")
    assert builder.constant(3, Dtype.F32).attribute("value").hex() == "0x1.8000000000000p+1"  # type: ignore[union-attr]
    for value, dtype in ((256, Dtype.U8), (-1, Dtype.U32), (1 << 31, Dtype.I32), (0.5, Dtype.I32)):
        with pytest.raises(OperationError, match="E0402"):
            builder.constant(value, dtype)
    for wrong, kind in ((True, Dtype.F32), (1, Dtype.BOOL)):
        with pytest.raises(OperationError, match="E0401"):
            builder.constant(wrong, kind)


def test_equal_calls_make_two_nodes_in_order() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(Dtype.F32, ()))
    first, second = builder.apply("neg", (x,)), builder.apply("neg", (x,))
    assert first is not second
    assert x.serial < first.serial < second.serial


def test_misuse_by_the_compiler_is_no_users_error() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(Dtype.F32, ()))
    for call in (
        lambda: builder.apply("input", ()),
        lambda: builder.apply("nonsense", (x,)),
        lambda: builder.apply("sum", (x,)),
        lambda: builder.apply("neg", (x,), axis=0),
        lambda: builder.input("x", x.type),
    ):
        with pytest.raises(ValueError):
            call()


def test_contracted_letters_stand_in_order_of_first_appearance() -> None:
    assert contracted("kij", "jlk", "li") == "kj"
    assert contracted("zb", "ab", "") == "zba"
    assert contracted("ij", "jk", "ijk") == ""

"""The law of kernels: what the verifier accepts is in bounds and free of races, and what breaks a law is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import replace
from alpha.diagnostics.diagnostic import Refused
from alpha.graph.passes import optimise
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device import DEVICE
from alpha.kernel.direct import site
from alpha.kernel.direct.lane import DIRECT
from alpha.kernel.errors import KernelFault
from alpha.kernel.lane import Lane
from alpha.kernel.lower import lower
from alpha.kernel.node import (
    INDEX,
    LANES,
    Atom,
    Buffer,
    Carried,
    Compute,
    Constant,
    If,
    Kernel,
    Load,
    Loop,
    Scalar,
    Statement,
    Store,
    ValueType,
    Variable,
)
from alpha.kernel.text import to_text
from alpha.kernel.verify import verify
from laws.graphs import OPERATIONS
from laws.wide_graphs import wide

MANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
F32 = ValueType(Scalar.F32)
WIDE = ValueType(Scalar.F32, LANES)


@pytest.fixture(autouse=True)
def every_kernel_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "PARALLEL_WORK", 1)


# Every element of a result is written once: an interpreter of indices that knows nothing of the verifier.


def writes(kernel: Kernel) -> Counter[tuple[int, int]]:
    """How often each element of each buffer is stored to, over all turns of all loops."""
    found: Counter[tuple[int, int]] = Counter()

    def value(atom: Atom, known: Mapping[Variable, int]) -> int | None:
        if isinstance(atom, Constant):
            return atom.value if isinstance(atom.value, int) else None
        return known.get(atom)

    def run(statements: tuple[Statement, ...], known: dict[Variable, int]) -> None:
        for statement in statements:
            match statement:
                case Compute(result=result, operator=operator, operands=operands):
                    numbers = [value(atom, known) for atom in operands]
                    if result.type == INDEX and None not in numbers and operator in OPERATORS:
                        known[result] = OPERATORS[operator](*numbers)
                case Store(buffer=buffer, index=place, value=stored):
                    first = value(place, known)
                    assert first is not None
                    for lane in range(stored.type.lanes):
                        found[buffer, first + lane] += 1
                case Loop(index=variable, start=start, stop=stop, step=step, body=body):
                    if any(isinstance(item, Store | Loop) for item in body):
                        for turn in range(start, stop, step):
                            run(body, {**known, variable: turn})
                case If() | Load():
                    pass

    run(kernel.body, {})
    return found


OPERATORS: Mapping[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "quotient": lambda a, b: a // b,
    "remainder": lambda a, b: a % b,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(MANY, max_examples=5)
@given(data=st.data())
def test_every_element_of_a_result_is_written_once(operation: str, data: st.DataObject) -> None:
    graph = optimise(data.draw(wide(operation, Dtype.F32)))
    for kernel in lower(graph).kernels:
        if kernel.accumulates:
            continue
        (target,) = kernel.written
        counts = writes(kernel)
        assert counts == {(target, place): 1 for place in range(kernel.buffers[target].count)}


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(MANY, max_examples=3)
@given(data=st.data())
def test_a_smaller_result_is_refused(operation: str, data: st.DataObject) -> None:
    """Each template writes its last element, so one element less is out of bounds."""
    graph = optimise(data.draw(wide(operation, Dtype.F32)))
    for kernel in lower(graph).kernels:
        target = kernel.written[0]
        buffers = list(kernel.buffers)
        buffers[target] = replace(buffers[target], count=buffers[target].count - 1)
        with pytest.raises(KernelFault, match="inside"):
            verify(replace(kernel, buffers=tuple(buffers)))


# One broken law after the other.


def made(
    write: Callable[[KernelBuilder, int, int], None], parallel: bool = False, **changes: Any
) -> Kernel:
    """A kernel with 64 elements to read and 64 to write."""
    builder = KernelBuilder()
    source = builder.reads(Buffer("source", Scalar.F32, 64))
    target = builder.writes(Buffer("target", Scalar.F32, 64))
    write(builder, source, target)
    kernel = builder.kernel("test", "test", 64, parallel, None)
    return replace(kernel, **changes)


def blocks(stride: int, constant: int, turns: int, lanes: int = LANES) -> Any:
    """A parallel loop that stores `lanes` elements at `stride * turn + constant`."""

    def write(builder: KernelBuilder, source: int, target: int) -> None:
        with builder.loop(turns, parallel=True) as turn:
            place = builder.affine([(turn, stride)], constant)
            builder.store(target, place, Constant(0.0, ValueType(Scalar.F32, lanes)))

    return write


def both(*parts: Any) -> Any:
    def write(builder: KernelBuilder, source: int, target: int) -> None:
        for part in parts:
            part(builder, source, target)

    return write


def under_rows(stride: int, turns: int, row: int) -> Any:
    """A serial loop of two rows around a parallel one."""

    def write(builder: KernelBuilder, source: int, target: int) -> None:
        with builder.loop(2) as outer, builder.loop(turns, parallel=True) as turn:
            place = builder.affine([(turn, stride), (outer, row)])
            builder.store(target, place, Constant(0.0, F32))

    return write


@pytest.mark.parametrize(
    "write",
    [
        blocks(16, 0, 4),
        blocks(1, 0, 64, 1),
        both(blocks(16, 0, 3), blocks(1, 48, 16, 1)),
        under_rows(1, 32, 32),
        under_rows(2, 16, 32),
    ],
)
def test_turns_that_write_apart_are_accepted(write: Any) -> None:
    verify(made(write, parallel=True))


@pytest.mark.parametrize(
    "write",
    [
        blocks(15, 0, 3),
        blocks(0, 0, 4),
        both(blocks(16, 0, 3), blocks(16, 32, 2)),
        both(blocks(1, 0, 10, 1), blocks(1, 9, 10, 1)),
        under_rows(1, 32, 31),
        under_rows(1, 33, 31),
    ],
)
def test_turns_that_meet_are_refused(write: Any) -> None:
    with pytest.raises(KernelFault, match="apart"):
        verify(made(write, parallel=True))


def test_a_store_outside_of_the_parallel_loops_is_refused() -> None:
    def write(builder: KernelBuilder, source: int, target: int) -> None:
        blocks(16, 0, 3)(builder, source, target)
        builder.store(target, index(60), Constant(0.0, F32))

    with pytest.raises(KernelFault, match="apart"):
        verify(made(write, parallel=True))


def test_a_parallel_loop_in_a_serial_kernel_is_refused() -> None:
    with pytest.raises(KernelFault, match="apart"):
        verify(made(blocks(16, 0, 4)))


@pytest.mark.parametrize(("place", "lanes"), [(-1, 1), (64, 1), (49, 16), (48, 16)])
def test_places_outside_of_a_buffer_are_refused(place: int, lanes: int) -> None:
    def write(builder: KernelBuilder, source: int, target: int) -> None:
        builder.store(target, index(0), builder.load(source, index(0)))
        builder.load(source, index(place), lanes)

    kernel = made(write)
    if 0 <= place <= 64 - lanes:
        verify(kernel)
    else:
        with pytest.raises(KernelFault, match="inside"):
            verify(kernel)


def test_an_unchecked_index_from_memory_is_refused_and_a_bounded_one_accepted() -> None:
    def gathered(bound: int | None) -> Kernel:
        builder = KernelBuilder()
        ids = builder.reads(Buffer("ids", Scalar.I32, 1, bound))
        source = builder.reads(Buffer("source", Scalar.F32, 8))
        target = builder.writes(Buffer("target", Scalar.F32, 1))
        place = builder.convert(builder.load(ids, index(0)), Scalar.I64)
        builder.store(target, index(0), builder.load(source, place))
        return builder.kernel("gathered", "gather", 1, False, None)

    verify(gathered(8))
    for bound in (None, 9):
        with pytest.raises(KernelFault, match="inside"):
            verify(gathered(bound))


def test_undeclared_stores_and_loads_of_results_are_refused() -> None:
    def write(builder: KernelBuilder, source: int, target: int) -> None:
        builder.store(target, index(0), builder.load(source, index(0)))

    verify(made(write))
    for written in ((), (0, 1)):
        with pytest.raises(KernelFault, match="declared"):
            verify(made(write, written=written))

    def reads_back(builder: KernelBuilder, source: int, target: int) -> None:
        builder.store(target, index(0), builder.load(target, index(1)))

    with pytest.raises(KernelFault, match="declared"):
        verify(made(reads_back))
    verify(made(reads_back, accumulates=True))


ZERO = Constant(0.0, F32)
V = [Variable(number, F32) for number in range(4)]
N = Variable(9, INDEX)


@pytest.mark.parametrize(
    ("law", "body"),
    [
        ("defined", (Store(1, index(0), V[0]),)),
        ("defined", (Compute(V[0], "add", (V[1], ZERO)),)),
        ("defined", (Compute(V[0], "neg", (ZERO,)), Compute(V[0], "neg", (ZERO,)))),
        ("defined", (Loop(N, 0, 2, 1, False, (), (Load(V[0], 0, N),)), Store(1, index(0), V[0]))),
        ("typed", (Compute(V[0], "add", (ZERO, Constant(1, INDEX))),)),
        ("typed", (Compute(V[0], "conjure", (ZERO,)),)),
        ("typed", (Compute(V[0], "and", (ZERO, ZERO)),)),
        ("typed", (Store(1, index(0), Constant(1, INDEX)),)),
        ("typed", (Load(Variable(3, INDEX), 0, index(0)),)),
        ("typed", (If(ZERO, ()),)),
        (
            "typed",
            (Loop(N, 0, 2, 1, False, (Carried(V[0], V[1], ZERO, index(0)),), ()),),
        ),
        ("unambiguous", (Compute(N, "quotient", (index(4), index(0))),)),
        ("unambiguous", (Compute(N, "remainder", (index(4), index(-1))),)),
        ("unambiguous", (Compute(N, "shiftLeft", (index(4), index(64))),)),
    ],
)
def test_a_broken_law_is_named(law: str, body: tuple[Statement, ...]) -> None:
    buffers = (Buffer("source", Scalar.F32, 4), Buffer("target", Scalar.F32, 4))
    kernel = Kernel("broken", "test", buffers, (1,), body, False, 1)
    with pytest.raises(KernelFault, match=f"the law `{law}`"):
        verify(kernel)


@pytest.mark.parametrize("lane", [DIRECT, DEVICE], ids=lambda lane: lane.name)
def test_an_operation_without_a_template_is_refused_by_name(lane: Lane) -> None:
    from alpha.graph.builder import Builder

    builder = Builder()
    key = builder.apply("key", (), k0=1, k1=2, step=3)
    graph = builder.graph("none", [("y", builder.apply("uniform", (key,), shape=(3,)))])
    templates = {name: t for name, t in lane.templates.items() if name != "uniform"}
    with pytest.raises(Refused) as refused:
        lower(graph, replace(lane, templates=templates))
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "T0404"
    assert diagnostic.message == f"`uniform` has no lowering in the {lane.name} lane"


@pytest.mark.parametrize("lane", [DIRECT, DEVICE], ids=lambda lane: lane.name)
def test_operations_of_tensor_cores_are_refused_as_such(lane: Lane) -> None:
    from alpha.graph.builder import Builder

    builder = Builder()
    x = builder.input("x", TensorType(Dtype.F32, (8, 8)))
    product = builder.apply("matmulTensorCoreTf32", (x, x))
    with pytest.raises(Refused) as refused:
        lower(builder.graph("none", [("y", product)]), lane)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "T0404"
    assert "of tensor cores" in diagnostic.message and f"the {lane.name} lane" in diagnostic.message


def test_the_text_of_a_kernel_shows_loops_buffers_and_what_is_carried() -> None:
    def write(builder: KernelBuilder, source: int, target: int) -> None:
        first = builder.load(source, index(0), LANES)

        def turn(place: Atom, carried: Any) -> list[Atom]:
            return [builder.add(carried[0], builder.load(source, place, LANES))]

        (lanes,) = builder.fold(16, 64, [first], turn, 16)
        builder.store(target, index(0), builder.apply("treeAdd", lanes, to=F32))

    kernel = made(write)
    verify(kernel)
    assert to_text(kernel) == (
        "kernel test  operation test  work 64\n"
        "  buffer 0 `source` : f32[64]\n"
        "  buffer 1 `target` : f32[64] written\n"
        "  %0 : f32x16 = load 0[0]\n"
        "  for %1 in 16 .. 64 by 16\n"
        "    carry %2 : f32x16 = %0\n"
        "    %3 : f32x16 = load 0[%1]\n"
        "    %4 : f32x16 = add %2, %3\n"
        "    next %2 = %4  gives %5\n"
        "  %6 : f32 = treeAdd %5\n"
        "  store 1[0] = %6\n"
    )

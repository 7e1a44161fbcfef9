"""What a thread reads and writes: global memory behind the addresses it was launched with, and shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.kernel.node import Grid, Kernel, Load, Scalar, SharedLoad, SharedStore, Store
from alpha.targets.nvidia.operators import kind_of
from alpha.targets.nvidia.places import Place, Places
from alpha.targets.nvidia.ptx import (
    SHARED,
    Address,
    Kind,
    Name,
    Operand,
    Parameter,
    Register,
    Vector,
    Whole,
)
from alpha.targets.nvidia.writer import Writer

SMALL = {Scalar.U8: "u8", Scalar.BOOL: "u8", Scalar.U16: "u16", Scalar.BF16: "u16"}
"""Elements of fewer bits than the registers that hold them."""
TYPES = {Kind.B16: "b16", Kind.B32: "b32", Kind.B64: "b64", Kind.F32: "f32", Kind.F64: "f64"}


class Accesses:
    """Loads and stores of one kernel. The bases stand in registers from the start of the entry."""

    __slots__ = ("_arguments", "_grid", "_kernel", "_places", "_shared", "_writer")

    def __init__(self, kernel: Kernel, grid: Grid, writer: Writer, places: Places) -> None:
        self._kernel = kernel
        self._grid = grid
        self._writer = writer
        self._places = places
        if grid.shared:
            self._shared = writer.once("mov.u32", Name(SHARED))
        self._arguments = [
            writer.once("ld.param.u64", Parameter(number)) for number in range(len(kernel.buffers))
        ]

    def load(self, statement: Load | SharedLoad, place: Place) -> Sequence[Operand]:
        """The elements from a place on, one a lane."""
        scalar, lanes = statement.result.type.scalar, statement.result.type.lanes
        form, address = self._where(statement, place)
        kind = Kind.B32 if scalar is Scalar.BOOL else kind_of(scalar)
        type_ = SMALL.get(scalar) or TYPES[kind]
        found = [self._writer.fresh(kind) for _ in range(lanes)]
        if lanes > 1:
            self._writer.emit(f"{form}.v{lanes}.{type_}", Vector(tuple(found)), address)
        else:
            self._writer.emit(f"{form}.{type_}", found[0], address)
        if scalar is Scalar.BOOL:
            return [self._writer.made("setp.ne.s32", item, Whole(0)) for item in found]
        return found

    def store(self, statement: Store | SharedStore, place: Place, lanes: Sequence[Operand]) -> None:
        """Writes the lanes to a place and those behind it."""
        scalar = statement.value.type.scalar
        form, address = self._where(statement, place)
        held = [self._stored(item, scalar) for item in lanes]
        type_ = SMALL.get(scalar) or TYPES[held[0].kind]
        if len(held) > 1:
            self._writer.emit(f"{form}.v{len(held)}.{type_}", address, Vector(tuple(held)))
        else:
            self._writer.emit(f"{form}.{type_}", address, held[0])

    def _where(
        self, statement: Load | Store | SharedLoad | SharedStore, place: Place
    ) -> tuple[str, Address]:
        """The form without its type, and the address."""
        word = "ld" if isinstance(statement, Load | SharedLoad) else "st"
        if isinstance(statement, SharedLoad | SharedStore):
            array, start = (
                self._grid.shared[statement.array],
                self._grid.shared_places[statement.array],
            )
            address = self._places.address(self._shared, place, array.scalar.size, start)
            return f"{word}.shared", address
        number = statement.buffer
        size = self._kernel.buffers[number].scalar.size
        address = self._places.address(self._arguments[number], place, size)
        changes = number in self._kernel.written or number in self._kernel.aligned
        return f"{word}.global" if changes else f"{word}.global.nc", address

    def _stored(self, value: Operand, scalar: Scalar) -> Register:
        if isinstance(value, Register) and value.kind is Kind.PRED:
            return self._writer.made("selp.b32", Whole(1), Whole(0), value)
        if isinstance(value, Whole) and kind_of(scalar) in (Kind.B16, Kind.B64):
            form = "mov.b16" if kind_of(scalar) is Kind.B16 else "mov.u64"
            return self._writer.once(form, value)
        return self._writer.held(value)

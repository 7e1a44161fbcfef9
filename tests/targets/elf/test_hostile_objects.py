"""Whatever bytes an object holds, the linker refuses it by name or writes a file that keeps every law."""

from __future__ import annotations

import struct
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.host import HostTarget
from alpha.elf.errors import LinkError
from alpha.elf.read import read_object
from alpha.elf.reloc import (
    AARCH64,
    ABSOLUTE,
    ADR,
    DATA,
    IMM12,
    IMM14,
    IMM19,
    IMM26,
    LOW_12,
    NONE,
    PAGES,
    Field,
    apply,
)
from alpha.elf.stubs import stub_object
from alpha.elf.verify import verify
from alpha.targets import HOSTS
from targets.elf.emitter import Emitter
from targets.elf.linker_under_test import REAL
from targets.elf.random_modules import random_module

relaxed = settings(max_examples=250, suppress_health_check=list(HealthCheck))
_TELLING = st.sampled_from([0, 1, 1 << 63, (1 << 64) - 1, 1 << 32, 0x7FFFFFFF, 0x1000])


@cache
def _compiled() -> dict[str, list[bytes]]:
    """A few real objects for each host."""
    with Emitter() as emitter:
        return {
            host.name: [
                emitter.emit(random_module(seed), host, level) for seed, level in ((0, 3), (3, 1))
            ]
            for host in HOSTS
        }


def _mutate(draw: st.DataObject, data: bytearray) -> bytearray:
    """One change: a bit, a byte of the header, a field of a table, eight bytes anywhere, or a cut."""
    table = min(struct.unpack_from("<Q", data, 40)[0], len(data) - 8)
    how = draw.draw(st.sampled_from(["bit", "header", "table", "word", "cut"]))
    if how == "bit":
        data[draw.draw(st.integers(0, len(data) - 1))] ^= 1 << draw.draw(st.integers(0, 7))
    elif how == "header":
        data[draw.draw(st.integers(0, 63))] = draw.draw(st.integers(0, 255))
    elif how == "table":
        at = table + 8 * draw.draw(st.integers(0, (len(data) - 8 - table) // 8))
        data[at : at + 8] = draw.draw(_TELLING).to_bytes(8, "little")
    elif how == "word":
        at = draw.draw(st.integers(64, len(data) - 8))
        data[at : at + 8] = draw.draw(st.integers(0, (1 << 64) - 1)).to_bytes(8, "little")
    else:
        data = data[: draw.draw(st.integers(80, len(data)))]
    return data


@pytest.mark.slow
@relaxed
@given(draw=st.data(), host=st.sampled_from(HOSTS))
def test_a_damaged_object_is_refused_or_linked_soundly(
    draw: st.DataObject, host: HostTarget
) -> None:
    data = bytearray(draw.draw(st.sampled_from(_compiled()[host.name])))
    for _ in range(draw.draw(st.integers(1, 6))):
        if len(data) > 80:
            data = _mutate(draw, data)
    try:
        image = REAL.link(stub_object(host), bytes(data), machine=host.machine)
    except LinkError:
        return
    try:
        verify(image, host)
    except LinkError as refusal:
        # What a damaged pointer or frame says is not the linker's to judge; the re-reader does notice.
        assert refusal.where in ("relocations", "frames")


@relaxed
@given(data=st.binary(max_size=400))
def test_noise_is_refused(data: bytes) -> None:
    try:
        read_object("noise", data)
    except LinkError:
        return
    raise AssertionError("accepted")


def _decode(field: Field, word: int) -> int:
    """The number in an immediate, read as the processor reads it."""
    if field is IMM12:
        return word >> 10 & 0xFFF
    bits, number = {
        IMM14: (14, word >> 5),
        IMM19: (19, word >> 5),
        IMM26: (26, word),
        ADR: (21, (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3),
    }[field]
    number &= (1 << bits) - 1
    return number - (number >> bits - 1 << bits)


@pytest.mark.slow
@settings(max_examples=600)
@given(
    kind=st.sampled_from(sorted(kind for kind, row in AARCH64.items() if row.field is not DATA)),
    place=st.integers(0, 1 << 38).map(lambda number: number * 4),
    distance=st.integers(-(1 << 21), 1 << 21),
    far=st.sampled_from([1, 4, 64, 1 << 10, 1 << 12]),
    word=st.integers(0, (1 << 32) - 1),
)
def test_the_processor_reads_back_what_was_written(
    kind: int, place: int, distance: int, far: int, word: int
) -> None:
    row, value = AARCH64[kind], place + distance * far
    number = {PAGES: (value >> 12) - (place >> 12), LOW_12: value & 0xFFF}.get(
        row.formula, value - place
    )
    assert row.formula not in (NONE, ABSOLUTE)
    try:
        after = int.from_bytes(apply(row, word.to_bytes(4, "little"), place, value), "little")
    except LinkError:
        assert not row.low <= number < row.high or number % (1 << row.scale)
        return
    assert _decode(row.field, after) << row.scale == number
    rest = _decode_mask(row.field)
    assert after & ~rest == word & ~rest


def _decode_mask(field: Field) -> int:
    return {
        IMM12: 0xFFF << 10,
        IMM14: 0x3FFF << 5,
        IMM19: 0x7FFFF << 5,
        IMM26: 0x3FFFFFF,
        ADR: 0x7FFFF << 5 | 3 << 29,
    }[field]

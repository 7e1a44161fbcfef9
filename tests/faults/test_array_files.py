"""Headers of IDX and NPY files that lie, are cut off, or say what is not read: a diagnostic, never a traceback."""

from __future__ import annotations

import io
import struct

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core_builder as c
from alpha.base.dtype import Dtype
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.evaluate.array_files import ArrayFile, idx_file, npy_file


def npy(array: object, version: tuple[int, int] = (1, 0)) -> bytes:
    stream = io.BytesIO()
    numpy.lib.format.write_array(stream, numpy.asarray(array), version)
    return stream.getvalue()


def npy_with(header: str | bytes, payload: bytes = bytes(24)) -> bytes:
    text = header.encode() if isinstance(header, str) else header
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + payload


def idx(kind: int, shape: tuple[int, ...], payload: bytes) -> bytes:
    sizes = b"".join(struct.pack(">I", size) for size in shape)
    return bytes((0, 0, kind, len(shape))) + sizes + payload


def fault(data: bytes, read: object = npy_file) -> Diagnostic:
    with pytest.raises(Refused) as caught:
        read("a.npy", data, c.SPAN)  # type: ignore[operator]
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


class TestNpy:
    @pytest.mark.parametrize("version", [(1, 0), (2, 0)])
    @pytest.mark.parametrize(
        ("code", "dtype"),
        [("<f4", Dtype.F32), ("<i4", Dtype.I32), ("|u1", Dtype.U8), ("|b1", Dtype.BOOL)],
    )
    def test_what_numpy_writes(self, version: tuple[int, int], code: str, dtype: Dtype) -> None:
        data = npy(numpy.ones((2, 3), code), version)
        found = npy_file("a.npy", data, c.SPAN)
        assert (found.dtype, found.shape) == (dtype, (2, 3))
        assert len(data) - found.skip == 6 * dtype.size

    def test_no_examples_are_a_size(self) -> None:
        assert npy_file("a.npy", npy(numpy.ones((0, 3), "<f4")), c.SPAN).shape == (0, 3)

    @pytest.mark.parametrize("size", [0, 5, 9, 11, 60, 127, 130, 151])
    def test_a_file_that_was_cut_off(self, size: int) -> None:
        assert fault(npy(numpy.ones((2, 3), "<f4"))[:size]).code == "E0904"

    def test_something_behind_the_elements(self) -> None:
        found = fault(npy(numpy.ones((2, 3), "<f4")) + b"\0")
        assert found.code == "E0904"
        assert "24 bytes, but 25 follow" in found.message

    @pytest.mark.parametrize(
        ("array", "said"),
        [
            (numpy.asfortranarray(numpy.ones((2, 3), "<f4")), "Fortran order"),
            (numpy.ones((2, 3), ">f4"), "`>f4`"),
            (numpy.ones((2, 3), "<f8"), "`<f8`"),
            (numpy.ones((2, 3), "<i8"), "`<i8`"),
            (numpy.ones(2, [("a", "<f4")]), "`[('a', '<f4')]`"),
            (numpy.float32(1), "no axis of examples"),
        ],
    )
    def test_what_is_not_read(self, array: object, said: str) -> None:
        found = fault(npy(array))
        assert found.code == "E0903"
        assert said in found.message

    def test_another_version(self) -> None:
        data = bytearray(npy_with(GOOD))
        data[6] = 3
        assert fault(bytes(data)).code == "E0903"

    @pytest.mark.parametrize(
        "shape", ["(-2, -3)", "(2, -3)", "(True, 6)", "(2.0, 3)", "[2, 3]", "6", "('2', 3)", "None"]
    )
    def test_shapes_that_are_none(self, shape: str) -> None:
        assert fault(npy_with(GOOD.replace("(2, 3)", shape))).code == "E0904"

    @pytest.mark.parametrize("shape", ["(2, 4)", f"({2**62}, 3)", f"({10**300}, 0x10)", "(0, 3)"])
    def test_shapes_that_do_not_fit_the_length(self, shape: str) -> None:
        assert fault(npy_with(GOOD.replace("(2, 3)", shape))).code == "E0904"

    @pytest.mark.parametrize(
        "header",
        [
            "",
            "{",
            "[]",
            "{}",
            GOOD.replace("descr", "deskr"),
            GOOD.replace("}", "'more': 1}"),
            "(" * 5000,
            "{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': (2, 3)}",
            GOOD.replace("'<f4'", "'<f4' * 3"),
            GOOD.replace("'<f4'", "'<fé4'"),
            GOOD.encode().replace(b"<f4", b"<\xff4"),
            GOOD + "\0",
            GOOD.replace("2", "9" * 5000),
        ],
    )
    def test_headers_that_are_damaged(self, header: str | bytes) -> None:
        assert fault(npy_with(header)).code == "E0904"

    @pytest.mark.parametrize("flag", ["True", "0", "None", "'False'"])
    def test_an_order_that_is_not_c(self, flag: str) -> None:
        assert fault(npy_with(GOOD.replace("False", flag))).code == "E0903"

    def test_a_length_that_lies(self) -> None:
        data = bytearray(npy_with(GOOD))
        data[8:10] = b"\xff\xff"
        assert fault(bytes(data)).code == "E0904"
        second = b"\x93NUMPY\x02\0" + struct.pack("<I", 2**32 - 1) + GOOD.encode()
        assert fault(second).code == "E0904"
        long = GOOD + " " * 70000
        second = b"\x93NUMPY\x02\0" + struct.pack("<I", len(long)) + long.encode() + bytes(24)
        assert fault(second).code == "E0904"


class TestIdx:
    @pytest.mark.parametrize(
        ("kind", "dtype"), [(0x08, Dtype.U8), (0x0C, Dtype.I32), (0x0D, Dtype.F32)]
    )
    def test_what_is_read(self, kind: int, dtype: Dtype) -> None:
        data = idx(kind, (2, 3), bytes(6 * dtype.size))
        assert idx_file("a.idx", data, c.SPAN) == ArrayFile(dtype, (2, 3), 12, True)

    @pytest.mark.parametrize("kind", [0x00, 0x09, 0x0B, 0x0E, 0xFF])
    def test_other_types(self, kind: int) -> None:
        assert fault(idx(kind, (2, 3), bytes(6)), idx_file).code == "E0903"

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\0\0\x08",
            b"\1\0\x08\1" + bytes(8),
            b"\0\0\x08\3" + bytes(8),
            idx(0x08, (2, 3), bytes(5)),
            idx(0x08, (2, 3), bytes(7)),
            idx(0x08, (2**32 - 1, 2**32 - 1, 2**32 - 1), bytes(7)),
            b"\0\0\x08\xff" + b"\xff" * 1020,
        ],
    )
    def test_files_that_are_damaged(self, data: bytes) -> None:
        assert fault(data, idx_file).code == "E0904"

    def test_no_axis(self) -> None:
        assert fault(idx(0x08, (), b"x"), idx_file).code == "E0903"


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_changed_byte_is_read_or_refused(data: st.DataObject) -> None:
    read, good = data.draw(
        st.sampled_from(
            [
                (npy_file, npy(numpy.ones((2, 3), "<f4"))),
                (npy_file, npy(numpy.ones((2, 3), "|u1"), (2, 0))),
                (idx_file, idx(0x0C, (2, 3), bytes(24))),
            ]
        )
    )
    changed = bytearray(good)
    place = data.draw(st.integers(0, len(good) - 1))
    changed[place] = data.draw(st.integers(0, 255))
    try:
        found = read("a", bytes(changed), c.SPAN)
    except Refused as refused:
        assert {item.code for item in refused.diagnostics} <= {"E0903", "E0904"}
    else:
        count = 1
        for size in found.shape:
            count *= size
        assert found.skip + count * found.dtype.size == len(good)

"""Files of one array: IDX (big-endian) and NPY 1.0 and 2.0 (little-endian, C order).

IDX: two zero bytes, a type, the number of axes, each size as 32 bits, the elements (Y. LeCun, "THE MNIST DATABASE").
NPY: NEP 1, "A Simple File Format for NumPy Arrays", and `numpy.lib.format`.
"""

from __future__ import annotations

import ast

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import data_errors

IDX_DTYPES = {0x08: Dtype.U8, 0x0C: Dtype.I32, 0x0D: Dtype.F32}
NPY_DTYPES = {"<f4": Dtype.F32, "<i4": Dtype.I32, "|u1": Dtype.U8, "|b1": Dtype.BOOL}
NPY_MAGIC = b"\x93NUMPY"
NPY_KEYS = {"descr", "fortran_order", "shape"}
MAX_HEADER = 65535
"""Bytes of an NPY header; one of a plain array takes about a hundred."""


@record
class ArrayFile:
    """What the header of a file says; its elements fill the rest of the file from byte `skip` on. `big`: big-endian."""

    dtype: Dtype
    shape: tuple[int, ...]
    skip: int
    big: bool

    def __str__(self) -> str:
        return TensorType(self.dtype, self.shape).written


def idx_file(path: str, data: bytes, span: Span) -> ArrayFile:
    """The header of an IDX file, checked against its length. E0903 for other dtypes, E0904 if it is damaged."""
    if len(data) < 4 or data[:2] != b"\0\0":
        raise Refused(data_errors.no_array(path, "it does not begin like an IDX file", span))
    dtype = IDX_DTYPES.get(data[2])
    if dtype is None:
        what = f"its elements are of type 0x{data[2]:02X}"
        raise Refused(
            data_errors.array_not_read(path, what, "0x08 (u8), 0x0C (i32), 0x0D (f32)", span)
        )
    skip = 4 + 4 * data[3]
    if len(data) < skip:
        raise Refused(data_errors.no_array(path, "it was cut off in its header", span))
    shape = tuple(int.from_bytes(data[at : at + 4], "big") for at in range(4, skip, 4))
    return _whole(path, data, ArrayFile(dtype, shape, skip, True), span)


def npy_file(path: str, data: bytes, span: Span) -> ArrayFile:
    """The header of an NPY file, checked against its length. E0903 for what is not read, E0904 if it is damaged."""
    if len(data) < 10 or data[:6] != NPY_MAGIC:
        raise Refused(data_errors.no_array(path, "it does not begin like an NPY file", span))
    version = (data[6], data[7])
    if version not in {(1, 0), (2, 0)}:
        what = f"its version is {version[0]}.{version[1]}"
        raise Refused(data_errors.array_not_read(path, what, "versions 1.0 and 2.0", span))
    begin = 10 if version == (1, 0) else 12
    length = int.from_bytes(data[8:begin], "little")
    if begin > len(data) or length > len(data) - begin:
        raise Refused(data_errors.no_array(path, "it was cut off in its header", span))
    if length > MAX_HEADER:
        raise Refused(data_errors.no_array(path, f"its header has {length:,} bytes", span))
    header = _dictionary(data[begin : begin + length])
    if header is None:
        raise Refused(data_errors.no_array(path, "its header is damaged", span))
    descr, fortran, shape = header["descr"], header["fortran_order"], header["shape"]
    dtype = NPY_DTYPES.get(descr) if isinstance(descr, str) else None
    if dtype is None:
        what = f"its elements are of type `{descr}`"[:80]
        known = "float32, int32, uint8 and bool, little-endian"
        raise Refused(data_errors.array_not_read(path, what, known, span))
    if fortran is not False:
        what = "its elements are in Fortran order"
        known = "C order: save `numpy.ascontiguousarray(x)`"
        raise Refused(data_errors.array_not_read(path, what, known, span))
    if not isinstance(shape, tuple) or not all(type(size) is int and size >= 0 for size in shape):
        raise Refused(data_errors.no_array(path, "its shape is none", span))
    return _whole(path, data, ArrayFile(dtype, shape, begin + length, False), span)


def _dictionary(text: bytes) -> dict[str, object] | None:
    try:
        found = ast.literal_eval(text.decode("ascii").strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return found if isinstance(found, dict) and set(found) == NPY_KEYS else None


def _whole(path: str, data: bytes, file: ArrayFile, span: Span) -> ArrayFile:
    if not file.shape:
        what = "it has no axis of examples"
        raise Refused(data_errors.array_not_read(path, what, "arrays with a leading axis", span))
    expected = file.dtype.size
    for size in file.shape:
        expected *= size
    found = len(data) - file.skip
    if found != expected:
        raise Refused(data_errors.array_length(path, str(file), expected, found, span))
    return file

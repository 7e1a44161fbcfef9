"""The sources `idx` and `npy`: a file for each field of the batch type, with one example behind the other."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from fractions import Fraction

from alpha.base.dtype import Dtype, TensorType
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import data_errors
from alpha.evaluate.array_files import ArrayFile, idx_file, npy_file
from alpha.evaluate.literals import DoesNotFit, converted
from alpha.evaluate.source_files import SourceFiles, entries, items, require_fields, text
from alpha.evaluate.storage import CODES, smallest
from alpha.evaluate.system import ArrayLayout, Data, DataField, DataFile, Tensor
from alpha.evaluate.values import Value

_NEGATIVE_ZERO = 0x80000000


def read_idx_files(
    specification: Value, files: SourceFiles, fields: Sequence[Tensor], bundle: bool, span: Span
) -> Data:
    return _read("idx", idx_file, specification, files, fields, bundle, span)


def read_npy_files(
    specification: Value, files: SourceFiles, fields: Sequence[Tensor], bundle: bool, span: Span
) -> Data:
    return _read("npy", npy_file, specification, files, fields, bundle, span)


def _read(
    kind: str,
    opened: Callable[[str, bytes, Span], ArrayFile],
    specification: Value,
    files: SourceFiles,
    fields: Sequence[Tensor],
    bundle: bool,
    span: Span,
) -> Data:
    named = [entries(item) for item in items(specification)]
    require_fields(
        [text(item["name"]) for item in named],
        [field.name for field in fields],
        f"the source `{kind}`",
        span,
    )
    paths = {text(item["name"]): text(item["file"]) for item in named}
    found: list[DataFile] = []
    loaded: list[DataField] = []
    skips: list[int] = []
    examples = -1
    for field in fields:
        file, data = files.locked(paths[field.name])
        held = opened(file.path, data, span)
        type = TensorType(field.type.dtype, field.type.shape[1:], field.type.bound)
        if held.shape[1:] != type.shape or not _converts(held.dtype, type):
            raise Refused(
                data_errors.array_does_not_fit(file.path, str(held), field.name, type.written, span)
            )
        if examples not in (-1, held.shape[0]):
            raise Refused(
                data_errors.examples_differ(found[0].path, examples, file.path, held.shape[0], span)
            )
        examples = held.shape[0]
        loaded.append(_field(file.path, held, data, field.name, type, bundle, span))
        found.append(file)
        skips.append(held.skip)
    layout = ArrayLayout(tuple(skips), kind == "idx")
    return Data(kind, tuple(found), examples, examples, tuple(loaded), layout)


def _converts(dtype: Dtype, type: TensorType) -> bool:
    """Whether elements of a file convert to those of a field: to their own dtype, or from integers to any number."""
    if dtype is type.dtype:
        return True
    return (
        dtype.is_integer and (type.dtype.is_float or type.dtype.is_integer) and type.dtype in CODES
    )


def _field(
    path: str, held: ArrayFile, data: bytes, name: str, type: TensorType, bundle: bool, span: Span
) -> DataField:
    """The elements as they are in the file, little-endian; bundled ones in the smallest dtype."""
    payload = data[held.skip :]
    if held.dtype is Dtype.BOOL:
        wrong = payload.translate(None, b"\0\1")
        if wrong:
            place = payload.index(wrong[:1])
            raise Refused(data_errors.array_value(path, place, type, str(wrong[0]), span))
        return DataField(name, type, Dtype.BOOL, payload)
    values: array[int] | array[float] = array(CODES[held.dtype], payload)
    if (sys.byteorder == "big") != held.big:
        values.byteswap()
    distinct = set(values)
    if held.dtype.is_integer and (type.dtype.is_integer or type.dtype is Dtype.F16):
        for value in distinct:
            if not _exact(value, type):
                place = next(p for p, found in enumerate(values) if found == value)
                raise Refused(data_errors.array_value(path, place, type, str(value), span))
    if not bundle:
        return DataField(name, type, held.dtype, _little(values))
    stored = type.dtype
    if not (held.dtype.is_float and _NEGATIVE_ZERO in array("I", values.tobytes())):
        stored = smallest(distinct, type.dtype) if distinct else type.dtype
    if stored is not held.dtype:
        values = _as_type(values, stored)
    return DataField(name, type, stored, _little(values))


def _exact(value: int | float, type: TensorType) -> bool:
    try:
        found = converted(Fraction(value), type.dtype)
    except DoesNotFit:
        return False
    return type.bound is None or 0 <= found < type.bound


def _as_type(values: array[int] | array[float], dtype: Dtype) -> array[int] | array[float]:
    """The same numbers in a dtype that holds them, or floats nearest to them."""
    if dtype.is_integer:
        return array(CODES[dtype], [int(value) for value in values])
    return array(CODES[dtype], [float(value) for value in values])


def _little(values: array[int] | array[float]) -> bytes:
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()

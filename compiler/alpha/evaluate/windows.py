"""The source `bytes`: overlapping windows of any file, and the same windows one byte later.

A file of n bytes has (n - 1 - context) // stride + 1 windows. They are never made: a batch is gathered from the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import data_errors
from alpha.evaluate.source_files import SourceFiles, entries, require_fields, text
from alpha.evaluate.system import Data, DataField, Tensor, WindowLayout
from alpha.evaluate.values import Value

BYTES = 256


def read(
    specification: Value, files: SourceFiles, fields: Sequence[Tensor], bundle: bool, span: Span
) -> Data:
    """Each byte is stored as it is, bundled or not."""
    given = entries(specification)
    path, names = text(given["file"]), (text(given["input"]), text(given["target"]))
    stride = given["stride"]
    assert isinstance(stride, int)
    if stride < 1:
        raise Refused(data_errors.stride_below_one(stride, span))
    require_fields(names, [field.name for field in fields], f"the source of `{path}`", span)
    for field in fields:
        if len(field.type.shape) != 2 or field.type.bound != BYTES:
            raise Refused(data_errors.no_window(field.name, field.type.written, span))
    context = fields[0].type.shape[1]
    if fields[1].type.shape[1] != context:
        raise Refused(data_errors.windows_differ(*names, span))
    file, data = files.locked(path)
    windows = max(0, (file.size - 1 - context) // stride + 1)
    if windows == 0:
        raise Refused(data_errors.shorter_than_a_window(path, file.size, context, span))
    type = TensorType(Dtype.I32, (context,), BYTES)
    loaded = tuple(
        DataField(f.name, type, Dtype.U8, data, names.index(f.name), window=stride) for f in fields
    )
    return Data("bytes", (file,), windows, windows, loaded, WindowLayout(stride))


def training(data: Data, hold_out: int) -> int:
    """How many examples are trained on when the last `hold_out` are not. Windows that reach into those are left out."""
    first = data.examples - hold_out
    if hold_out == 0 or not isinstance(data.layout, WindowLayout):
        return max(0, first)
    (context,) = data.fields[0].type.shape
    # the last byte of window i is the target's, i * stride + context; the held-out part begins at first * stride
    stride = data.layout.stride
    return max(0, (first * stride - 1 - context) // stride + 1)

"""The source `csv`: columns of a table of numbers as fields of the batch type."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import csv, data_errors
from alpha.evaluate.source_files import SourceFiles, entries, items, require_fields, text
from alpha.evaluate.storage import packed, smallest
from alpha.evaluate.system import CsvLayout, Data, DataField, Tensor
from alpha.evaluate.values import Scalar, Value


def read(
    specification: Value, files: SourceFiles, fields: Sequence[Tensor], bundle: bool, span: Span
) -> Data:
    given = entries(specification)
    path = text(given["file"])
    header = given["header"]
    assert isinstance(header, Scalar)
    named = [entries(item) for item in items(given["fields"])]
    source = f"the source of `{path}`"
    require_fields([text(f["name"]) for f in named], [f.name for f in fields], source, span)
    columns = {
        text(item["name"]): tuple(
            place for place in items(item["columns"]) if isinstance(place, int)
        )
        for item in named
    }
    file, data = files.locked(path)
    table = csv.read(path, data, bool(header.value), span)
    if not table.rows:
        raise Refused(data_errors.no_examples(path, span))
    loaded = tuple(_field(table, field, columns[field.name], bundle, span) for field in fields)
    layout = CsvLayout(bool(header.value), tuple(columns[field.name] for field in fields))
    return Data("csv", (file,), len(table.rows), len(table.rows), loaded, layout)


def _field(
    table: csv.Table, field: Tensor, columns: tuple[int, ...], bundle: bool, span: Span
) -> DataField:
    type = TensorType(field.type.dtype, field.type.shape[1:], field.type.bound)
    texts, values = csv.field(table, field.name, columns, type, span)
    stored = smallest(values.values(), type.dtype) if bundle else type.dtype
    return DataField(field.name, type, stored, packed(texts, values, stored))

"""Data sources at build: the file is read, its digest compared, every value converted (language page, section 17)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.digest import sha256
from alpha.base.dtype import TensorType
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.diagnostics.not_yet import not_yet
from alpha.evaluate import csv, data_errors
from alpha.evaluate.files import FileAccess, FileFault
from alpha.evaluate.policies import Settings
from alpha.evaluate.storage import packed, smallest
from alpha.evaluate.system import CsvLayout, Data, DataField, Tensor
from alpha.evaluate.values import ListValue, Record, Scalar, Value


def load(files: FileAccess, module: str, settings: Settings, fields: Sequence[Tensor]) -> Data:
    """The examples that a policy's source names, as fields of the batch type.

    `fields` are those of a whole batch. Refuses with E0901 (missing), E0902 (digest), E0903 (does not fit the batch
    type), E0904 (corrupt) and E0905 (examples, `holdOut` and `batch` do not fit).
    """
    source = settings.data
    span = settings.place("data")
    if source.kind != "csv":
        raise Refused(not_yet(f"the data source `{source.kind}`", span))
    specification = _record(source.specification)
    path = _text(specification.fields["file"])
    header = specification.fields["header"]
    assert isinstance(header, Scalar)
    columns = _columns(specification, path, [field.name for field in fields], span)
    data = _locked(files, module, path, span)
    table = csv.read(path, data, bool(header.value), span)
    if not table.rows:
        raise Refused(data_errors.no_examples(path, span))
    loaded = tuple(
        _field(table, field, columns[field.name], settings.bundle, span) for field in fields
    )
    _check_counts(path, len(table.rows), settings)
    layout = CsvLayout(bool(header.value), tuple(columns[field.name] for field in fields))
    return Data(path, sha256(data), len(table.rows), loaded, layout)


def _locked(files: FileAccess, module: str, path: str, span: Span) -> bytes:
    """The bytes of a file whose digest is the one in the lock."""
    try:
        data = files.read(module, path)
    except FileFault as fault:
        raise Refused(data_errors.missing(path, str(fault), span)) from None
    locked, found = files.locked(module, path), sha256(data)
    if locked is None:
        raise Refused(data_errors.not_locked(path, span))
    if locked != found:
        raise Refused(data_errors.digest_differs(path, found, locked, span))
    return data


def _columns(
    specification: Record, path: str, names: Sequence[str], span: Span
) -> dict[str, tuple[int, ...]]:
    """The columns of each field of the batch type."""
    columns: dict[str, tuple[int, ...]] = {}
    for item in _items(specification.fields["fields"]):
        fields = _record(item).fields
        name = _text(fields["name"])
        if name not in names:
            raise Refused(data_errors.field_unknown(name, names, span))
        if name in columns:
            raise Refused(data_errors.field_twice(name, span))
        columns[name] = tuple(
            place for place in _items(fields["columns"]) if isinstance(place, int)
        )
    for name in names:
        if name not in columns:
            raise Refused(data_errors.field_missing(name, path, span))
    return columns


def _field(
    table: csv.Table, field: Tensor, columns: tuple[int, ...], bundle: bool, span: Span
) -> DataField:
    type = TensorType(field.type.dtype, field.type.shape[1:], field.type.bound)
    texts, values = csv.field(table, field.name, columns, type, span)
    stored = smallest(values.values(), type.dtype) if bundle else type.dtype
    return DataField(field.name, type, stored, packed(texts, values, stored))


def _check_counts(path: str, examples: int, settings: Settings) -> None:
    hold_out, batch = settings.hold_out, settings.batch
    if hold_out < 0 or hold_out % batch:
        raise Refused(data_errors.hold_out_not_whole(hold_out, batch, settings.place("holdOut")))
    if examples - hold_out < batch:
        place = settings.place("holdOut" if hold_out else "batch")
        raise Refused(data_errors.too_few_examples(path, examples, hold_out, batch, place))


def _record(value: Value) -> Record:
    assert isinstance(value, Record)
    return value


def _items(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, ListValue)
    return value.items


def _text(value: Value) -> str:
    assert isinstance(value, str)
    return value

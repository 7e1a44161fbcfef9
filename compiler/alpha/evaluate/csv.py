"""CSV files of numbers: rows separated by newlines, values by `,`, every row equally long, no blank rows."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from fractions import Fraction

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import data_errors
from alpha.evaluate.literals import DoesNotFit, converted
from alpha.evaluate.storage import CODES

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
"""The exponent has at most four digits: no dtype holds what a longer one says."""


@record
class Table:
    """The values of a file as text. `first` is the row number, from 1, of `rows[0]` in the file."""

    path: str
    rows: tuple[tuple[str, ...], ...]
    first: int

    @property
    def width(self) -> int:
        return len(self.rows[0]) if self.rows else 0


def read(path: str, data: bytes, header: bool, span: Span) -> Table:
    """The table of a file. Blank and uneven rows, and numbers that are not ASCII, are E0904.

    The names of a header are passed over, so they may be any text; only their number is looked at.
    """
    names = data.find(b"\n") + 1 if header and b"\n" in data else 0
    try:
        text = data[:names].decode("latin-1") + data[names:].decode("ascii")
    except UnicodeDecodeError as failure:
        place = data.count(b"\n", 0, names + failure.start) + 1
        raise Refused(data_errors.not_text(path, place, data.startswith(BOM_UTF8), span)) from None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    rows = [tuple(line.removesuffix("\r").split(",")) for line in lines]
    for number, row in enumerate(rows, start=1):
        if row == ("",):
            raise Refused(data_errors.blank_row(path, number, span))
        if len(row) != len(rows[0]):
            raise Refused(data_errors.row_length(path, number, len(row), len(rows[0]), span))
    start = 1 if header else 0
    return Table(path, tuple(rows[start:]), start + 1)


def field(
    table: Table, name: str, columns: Sequence[int], type: TensorType, span: Span
) -> tuple[list[str], dict[str, int | float]]:
    """The texts of the columns of all rows, row-major, and for each text its value, exactly one of the field's dtype.

    Apart, because files of numbers hold few different ones.
    """
    if len(columns) != type.count:
        raise Refused(
            data_errors.columns_do_not_fit(name, len(columns), type.written, type.count, span)
        )
    for column in columns:
        if not 0 <= column < table.width:
            raise Refused(data_errors.column_outside(table.path, name, column, table.width, span))
    if type.dtype not in CODES:
        raise Refused(data_errors.field_type(name, type.written, span))
    texts = [row[column] for row in table.rows for column in columns]
    known: dict[str, int | float] = {}
    for number, text in enumerate(texts):
        if text not in known:
            place, to = divmod(number, len(columns))
            known[text] = _value(table, place, columns[to], text, type, span)
    return texts, known


def _value(
    table: Table, place: int, column: int, text: str, type: TensorType, span: Span
) -> int | float:
    row = table.first + place
    if NUMBER.fullmatch(text) is None:
        raise Refused(data_errors.not_a_number(table.path, row, column, text, span))
    exact = Fraction(text)
    try:
        value = converted(exact, type.dtype)
    except DoesNotFit:
        raise Refused(
            data_errors.value_does_not_fit(table.path, row, column, text, type, span)
        ) from None
    if type.bound is not None and not 0 <= value < type.bound:
        raise Refused(data_errors.value_does_not_fit(table.path, row, column, text, type, span))
    if value == 0 and text.startswith("-") and type.dtype.is_float:
        return -0.0
    return value

"""Faults of data sources (E0901 to E0905) and of cited files (E0704)."""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.dtype import TensorType
from alpha.base.span import Span
from alpha.diagnostics.closest import file_beside
from alpha.diagnostics.diagnostic import Diagnostic

_COUNTED = "rows are counted from 1, columns from 0"


def _at(written: str, span: Span) -> Span:
    """The place of a text within the source's fields, where it stands there once; else all of them."""
    quoted = f'"{written}"'
    if span.text.count(quoted) != 1:
        return span
    start = span.start + span.text.index(quoted)
    return Span(span.source, start, start + len(quoted))


def missing(path: str, why: str, beside: str | None, span: Span) -> Diagnostic:
    """`beside` is the path of a file that `path` names from the folder of the policy's module."""
    place = _at(path, span)
    return Diagnostic(
        "E0901",
        f"data file `{path}` {why}",
        place,
        cause="paths are relative to the source root of the policy's module, and none leaves it",
        fixes=file_beside(path, beside, place),
    )


def digest_differs(path: str, found: str, locked: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0902",
        f"data file `{path}` is not the one that `alpha.lock` names",
        _at(path, span),
        cause=f"its SHA-256 is {found}, the lock has {locked}",
        hints=("`alpha lock` writes the lock again, if the change is meant",),
    )


def not_locked(path: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0902",
        f"data file `{path}` has no line in `alpha.lock`",
        _at(path, span),
        cause="every file a package cites stands in its lock with its SHA-256",
        hints=("`alpha lock` writes it",),
    )


def field_missing(name: str, source: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"the batch type has a field `{name}`, but {source} does not fill it",
        span,
        cause="a source fills every field of the learner's batch type",
    )


def field_unknown(name: str, known: Iterable[str], span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"the source fills a field `{name}` that the batch type does not have",
        _at(name, span),
        cause="the batch type has " + ", ".join(f"`{other}`" for other in sorted(known)),
    )


def field_twice(name: str, span: Span) -> Diagnostic:
    return Diagnostic("E0903", f"the source fills the field `{name}` twice", _at(name, span))


def columns_do_not_fit(name: str, columns: int, type: str, needed: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"field `{name}` has {_columns(columns)}, but one example of type `{type}` has {needed}",
        _at(name, span),
        cause="the columns of a field are reshaped, row-major, to the field's shape without its first axis",
    )


def _columns(count: int) -> str:
    return "one column" if count == 1 else f"{count} columns"


def column_outside(path: str, name: str, column: int, width: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"field `{name}` names column {column}, but the rows of `{path}` have {width}",
        _at(name, span),
        cause="columns are counted from 0",
    )


def field_type(name: str, type: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"field `{name}` of type `{type}` cannot be filled from text",
        _at(name, span),
        cause="text converts to float and integer dtypes and to `index n`",
    )


def stride_below_one(stride: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0503",
        f"`stride` is {stride}",
        span,
        cause="it is the number of bytes from the beginning of one window to that of the next",
    )


def no_window(name: str, type: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"field `{name}` of type `{type}` cannot be filled with windows of a file",
        _at(name, span),
        cause="both fields of the source `bytes` have the type `Tensor (index 256) [batch, context]`",
    )


def windows_differ(input: str, target: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"the fields `{input}` and `{target}` are not of the same length",
        span,
        cause="the target of a window is the same window one byte later",
    )


def shorter_than_a_window(path: str, size: int, context: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0905",
        f"`{path}` has {size:,} bytes, but a window with its target takes {context + 1:,}",
        _at(path, span),
    )


def no_array(path: str, why: str, span: Span) -> Diagnostic:
    return Diagnostic("E0904", f"`{path}` cannot be read: {why}", _at(path, span))


def array_length(path: str, type: str, expected: int, found: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0904",
        f"`{path}` states an array `{type}`, which takes {expected:,} bytes, but {found:,} follow its header",
        _at(path, span),
        cause="it was cut off, or has something behind its elements",
    )


def array_not_read(path: str, what: str, known: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903", f"`{path}` cannot be used: {what}", span, cause=f"what is read is {known}"
    )


def array_does_not_fit(path: str, found: str, name: str, type: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0903",
        f"`{path}` holds `{found}`, but one example of the field `{name}` is `{type}`",
        _at(name, span),
        cause="the first axis counts the examples, and integers alone convert to another dtype",
    )


def array_value(path: str, place: int, type: TensorType, value: str, span: Span) -> Diagnostic:
    """`place` counts the elements of the file from 0."""
    row, element = divmod(place, type.count)
    return Diagnostic(
        "E0904",
        f"`{path}`, example {row + 1}, element {element + 1}: {value} is no value of {_kind(type)}",
        _at(path, span),
        cause="examples and elements are counted from 1",
    )


def examples_differ(path: str, examples: int, other: str, others: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0905",
        f"`{path}` holds {examples:,} examples, but `{other}` holds {others:,}",
        _at(path, span),
        cause="every field has the same examples",
    )


def not_text(path: str, row: int, marked: bool, span: Span) -> Diagnostic:
    """`marked`: the file begins with a byte order mark."""
    return Diagnostic(
        "E0904",
        f"`{path}`, row {row}: a character is not ASCII",
        _at(path, span),
        cause="a csv file holds ASCII numbers separated by `,`",
        hints=("it begins with a byte order mark: save it as plain UTF-8",) if marked else (),
    )


def blank_row(path: str, row: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0904",
        f"`{path}`, row {row}: the row is blank",
        _at(path, span),
        cause="a csv file has no blank rows",
    )


def row_length(path: str, row: int, found: int, expected: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0904",
        f"`{path}`, row {row}: {found} values, but the first row has {expected}",
        _at(path, span),
        cause="every row of a csv file is equally long",
    )


def not_a_number(path: str, row: int, column: int, value: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0904",
        f"`{path}`, row {row}, column {column}: `{_shown(value)}` is no number",
        _at(path, span),
        cause=f"a value is a decimal number such as `12`, `-0.5` or `3e-4`; {_COUNTED}",
        hints=("if the first row names the columns, write `header = True`",) if row == 1 else (),
    )


def value_does_not_fit(
    path: str, row: int, column: int, value: str, type: TensorType, span: Span
) -> Diagnostic:
    why = "integers are converted exactly, floats to the nearest value"
    if type.bound is not None:
        why = f"its values are whole numbers from 0 to {type.bound - 1}"
    return Diagnostic(
        "E0904",
        f"`{path}`, row {row}, column {column}: `{_shown(value)}` is no value of {_kind(type)}",
        _at(path, span),
        cause=f"{why}; {_COUNTED}",
    )


def _kind(type: TensorType) -> str:
    return type.dtype.value if type.bound is None else f"index {type.bound}"


def _shown(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:40]}..."


def no_examples(path: str, span: Span) -> Diagnostic:
    return Diagnostic("E0905", f"data file `{path}` holds no example", span)


def hold_out_not_whole(hold_out: int, batch: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0905",
        f"`holdOut` is {hold_out}, which is no whole number of batches of {batch}",
        span,
        cause="metrics are computed on whole batches",
        hints=(
            f"use {max(0, hold_out) // batch * batch} or {(max(0, hold_out) // batch + 1) * batch}",
        ),
    )


def too_few_examples(path: str, examples: int, hold_out: int, batch: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0905",
        f"`{path}` holds {examples:,} examples: without the {hold_out:,} held out, not one batch of {batch:,} is left",
        span,
        cause="an epoch has at least one whole batch; windows that reach into the held-out part are left out",
    )


def record_missing(path: str, why: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0704",
        f"run record `{path}` {why}",
        _at(path, span),
        cause="measured evidence cites a file of the package whose digest stands in `alpha.lock`",
    )

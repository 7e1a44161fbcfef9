"""The tables of a system's data: how a batch is gathered from stored rows, and which files a run reads them from."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

from alpha.base.record import record
from alpha.evaluate.system import ArrayLayout, CsvLayout, Data, System
from alpha.plan.arena import rounded
from alpha.plan.plan import ProgramPlan
from alpha.runtime import abi
from alpha.runtime.tables import Address, Content, Row, Tables


@record
class DataBlob:
    """Bundled rows: `symbol` becomes a hidden read-only symbol aligned to `align` bytes."""

    symbol: str
    data: bytes
    align: int


def data_bytes(system: System) -> int:
    """Bytes of what a run reads when the data is not bundled; each part is aligned like a buffer of the arena."""
    return 0 if system.bundle else sum(map(rounded, _parts(system.data)))


def _parts(data: Data) -> list[int]:
    """The bytes of each part: the rows of each field of a csv file, else each file whole."""
    if isinstance(data.layout, CsvLayout):
        return [data.examples * field.apart for field in data.fields]
    return [file.size for file in data.files]


def _places(data: Data) -> list[int]:
    """Where each part begins."""
    ends = accumulate(map(rounded, _parts(data)), initial=0)
    return list(ends)[:-1]


def input_offset(programs: Mapping[str, ProgramPlan], program: str, name: str) -> int:
    """Where an input of a program lies in the arena; NONE if the program, or the input, is not there."""
    return dict(programs[program].inputs).get(name, abi.NONE) if program in programs else abi.NONE


def field_rows(
    tables: Tables, system: System, programs: Mapping[str, ProgramPlan]
) -> tuple[Address, tuple[DataBlob, ...]]:
    """The rows of the fields, and the bundled data they refer to."""
    rows: list[Row] = []
    blobs: list[DataBlob] = []
    data, places = system.data, _places(system.data)
    columns: tuple[tuple[int, ...], ...] = ((),) * len(data.fields)
    if isinstance(data.layout, CsvLayout) and not system.bundle:
        columns = data.layout.columns
    for position, field in enumerate(data.fields):
        content = Address(None)
        if system.bundle:
            if field.window is None or not blobs:  # windows are all of the same bytes
                blobs.append(DataBlob(f"alpha_data_{position}", field.content, 64))
            content = tables.data(blobs[-1].symbol)
        file = data.files[position if len(data.files) > 1 else 0]
        rows.append(
            {
                "name": field.name,
                "stored": abi.DTYPES.index(field.stored.value),
                "code": abi.DTYPES.index(field.type.dtype.value),
                "count": field.type.count,
                "bound": field.type.bound or 0,
                "rows": content,
                "place": places[position if len(places) > 1 else 0],
                "first": field.first,
                "apart": field.apart,
                "file": Address(None) if system.bundle else file.path,
                "step_offset": input_offset(programs, "step", f"batch.{field.name}"),
                "evaluate_offset": input_offset(programs, "evaluate", f"batch.{field.name}"),
                "columns": tables.numbers(f"columns.{field.name}", columns[position]),
            }
        )
    return tables.rows("system.fields", abi.FIELD, rows), tuple(blobs)


def file_rows(tables: Tables, system: System) -> dict[str, Content]:
    """The files that a run reads before its first step."""
    data, layout = system.data, system.data.layout
    if system.bundle:
        return {"files": Address(None), "file_count": 0, "data_header": 0, "data_columns": 0}
    header, columns = 0, -1
    if isinstance(layout, CsvLayout):
        header = int(layout.header)
        columns = max((column for field in layout.columns for column in field), default=-1)
    # all rows of a csv file stand in as many places as there are fields; the file has none
    rows: list[Row] = []
    for position, (file, place) in enumerate(zip(data.files, _places(data), strict=False)):
        skip, swap = 0, 0
        if isinstance(layout, ArrayLayout):
            skip = layout.skips[position]
            size = data.fields[position].stored.size
            swap = size if layout.big and size > 1 else 0
        rows.append(
            {
                "path": file.path,
                "digest": file.digest,
                "length": file.size,
                "csv": int(isinstance(layout, CsvLayout)),
                "place": place,
                "skip": skip,
                "swap": swap,
            }
        )
    return {
        "files": tables.rows("system.files", abi.FILE, rows),
        "file_count": len(rows),
        "data_header": header,
        "data_columns": columns + 1,
    }

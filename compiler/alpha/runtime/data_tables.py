"""The tables of a system's data: how a batch is gathered from stored rows, and which files a run reads them from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.evaluate.system import ArrayLayout, CsvLayout, DataFile, System
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
    return 0 if system.bundle else sum(map(rounded, _parts(system)))


def _parts(system: System) -> list[int]:
    """The bytes of each part: the rows of each field of a csv file, else each file whole; then the weights' file."""
    data, weights = system.data, system.weights
    if isinstance(data.layout, CsvLayout):
        parts = [data.examples * field.apart for field in data.fields]
    else:
        parts = [file.size for file in data.files]
    return parts if weights is None else [*parts, weights.file.size]


def _places(system: System) -> list[int]:
    """Where each part begins."""
    ends = accumulate(map(rounded, _parts(system)), initial=0)
    return list(ends)[:-1]


def input_offset(programs: Mapping[str, ProgramPlan], program: str, name: str) -> int:
    """Where an input of a program lies in the arena; NONE if the program, or the input, is not there."""
    return dict(programs[program].inputs).get(name, abi.NONE) if program in programs else abi.NONE


def field_rows(
    tables: Tables, system: System, programs: Mapping[str, ProgramPlan], stored: bool = True
) -> tuple[Address, tuple[DataBlob, ...]]:
    """The rows of the fields, and the bundled data they refer to, which is left out unless `stored`."""
    rows: list[Row] = []
    blobs: list[DataBlob] = []
    data, places = system.data, _places(system)
    columns: tuple[tuple[int, ...], ...] = ((),) * len(data.fields)
    if isinstance(data.layout, CsvLayout) and not system.bundle:
        columns = data.layout.columns
    for position, field in enumerate(data.fields):
        content = Address(None)
        if system.bundle and stored:
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
                "place": places[0 if field.window else position],
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
    for position, (file, place) in enumerate(zip(data.files, _places(system), strict=False)):
        skip, swap = 0, 0
        if isinstance(layout, ArrayLayout):
            skip = layout.skips[position]
            size = data.fields[position].stored.size
            swap = size if layout.big and size > 1 else 0
        is_csv = int(isinstance(layout, CsvLayout))
        rows.append({**_whole(file, place), "csv": is_csv, "skip": skip, "swap": swap})
    if system.weights is not None:
        rows.append(_whole(system.weights.file, _places(system)[-1]))
    return {
        "files": tables.rows("system.files", abi.FILE, rows),
        "file_count": len(rows),
        "data_header": header,
        "data_columns": columns + 1,
    }


def _whole(file: DataFile, place: int) -> Row:
    """A file whose bytes are read as they are."""
    return {
        "path": file.path,
        "digest": file.digest,
        "length": file.size,
        "csv": 0,
        "place": place,
        "skip": 0,
        "swap": 0,
    }


def weights_rows(
    tables: Tables, system: System, state: Sequence[tuple[str, TensorType, int]]
) -> tuple[dict[str, Content], tuple[DataBlob, ...]]:
    """What a fresh run copies to its parameters, and the bundled bytes it copies from. `state` has their places."""
    weights = system.weights
    if weights is None:
        nothing = Address(None)
        return {
            "weights": nothing,
            "weights_place": 0,
            "weights_copies": nothing,
            "weights_count": 0,
        }, ()
    targets = {name: (offset, kind.bytes) for name, kind, offset in state}
    copies: list[Row] = []
    packed = bytearray()
    for parameter, place in zip(system.parameters, weights.places, strict=True):
        offset, size = targets[f"net.{parameter.name}"]
        copies.append(
            {"source": len(packed) if system.bundle else place, "target": offset, "bytes": size}
        )
        packed += weights.content[place : place + size]
    blobs = (DataBlob("alpha_weights", bytes(packed), 64),) if system.bundle else ()
    return {
        "weights": tables.data("alpha_weights") if system.bundle else Address(None),
        "weights_place": 0 if system.bundle else _places(system)[-1],
        "weights_copies": tables.rows("system.weights", abi.COPY, copies),
        "weights_count": len(copies),
    }, blobs

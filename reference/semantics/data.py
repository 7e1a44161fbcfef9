"""The examples of a described system, read from its files as specification, section 17 says.

This reads of a description's `data`: `source`, `files`, `header`, and of each field `name`, `type`, `file` (a place in
`files`) and what its source needs: `columns` (csv), `first` and `stride` (bytes). Of `start`: `file`, and
`tensors` from each parameter to its name in the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy

from semantics.graph import read_type
from semantics.numerics import Array

IDX_TYPES = {0x08: ">u1", 0x0C: ">i4", 0x0D: ">f4"}


def read_examples(description: Mapping[str, Any], folder: Path) -> dict[str, Array]:
    """Each field's values with a leading axis of all examples. The paths of the files are relative to `folder`."""
    data = description["data"]
    paths = [folder / item["file"] for item in data["files"]]
    if data["source"] == "csv":
        return _table(data, paths[0])
    if data["source"] == "bytes":
        return _windows(data, paths[0])
    opened = _idx if data["source"] == "idx" else _npy
    return {item["name"]: opened(paths[item["file"]]) for item in data["fields"]}


def _table(data: Mapping[str, Any], path: Path) -> dict[str, Array]:
    """Columns, row-major. Whole numbers stay whole; decimal text is rounded once, to the dtype of its field."""
    lines = path.read_bytes().split(b"\n")[1 if data["header"] else 0 :]
    rows = [line.strip(b"\r").split(b",") for line in lines if line]
    found = {}
    for item in data["fields"]:
        type_ = read_type(item["type"])
        texts = [[row[column] for column in item["columns"]] for row in rows]
        values = numpy.array([[_number(text, type_.dtype) for text in row] for row in texts])
        found[item["name"]] = values.reshape(-1, *type_.shape)
    return found


def _number(text: bytes, dtype: str) -> Any:
    if dtype == "f32":
        return _nearest_f32(text)
    return float(text) if dtype == "f64" else int(Fraction(text.decode()))


def _nearest_f32(text: bytes) -> numpy.float32:
    """One rounding of the exact decimal, unlike the cast of the nearest binary64."""
    exact = Fraction(text.decode())
    guess = numpy.float32(float(exact))
    around = [numpy.nextafter(guess, numpy.float32(side)) for side in (-numpy.inf, numpy.inf)]
    finite = [value for value in (guess, *around) if numpy.isfinite(value)]

    def order(value: numpy.float32) -> tuple[Fraction, int]:
        return abs(Fraction(float(value)) - exact), int(value.view(numpy.uint32)) & 1

    best = min(finite, key=order)
    return numpy.float32(-0.0) if best == 0 and text.startswith(b"-") else best


def _windows(data: Mapping[str, Any], path: Path) -> dict[str, Array]:
    content = numpy.fromfile(path, numpy.uint8)
    found = {}
    for item in data["fields"]:
        (context,) = read_type(item["type"]).shape
        windows = numpy.lib.stride_tricks.sliding_window_view(content[item["first"] :], context)
        found[item["name"]] = windows[:: item["stride"]][: data["examples"]]
    return found


def _idx(path: Path) -> Array:
    content = path.read_bytes()
    axes = content[3]
    shape = numpy.frombuffer(content, ">u4", axes, 4).astype(int)
    values = numpy.frombuffer(content, IDX_TYPES[content[2]], offset=4 + 4 * axes)
    return values.astype(values.dtype.newbyteorder("<")).reshape(shape)


def _npy(path: Path) -> Array:
    found: Array = numpy.load(path, allow_pickle=False)
    return found


def read_weights(description: Mapping[str, Any], folder: Path) -> dict[str, Array]:
    """The parameters, by path, of the safetensors file that `start` of a description names; none for a fresh start."""
    start = description.get("start")
    if start is None:
        return {}
    content = (folder / start["file"]).read_bytes()
    begin = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:begin])
    found = {}
    for parameter, name in start["tensors"].items():
        first, last = header[name]["data_offsets"]
        values = numpy.frombuffer(content[begin + first : begin + last], "<f4")
        found[parameter] = values.reshape(header[name]["shape"])
    return found

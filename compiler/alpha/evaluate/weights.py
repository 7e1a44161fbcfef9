"""`start = Weights { file, rename }`: parameters read from a safetensors file (specification, sections 16 and 17).

The file is 8 bytes N, little-endian; N bytes of JSON, an object of tensors by name with `dtype`, `shape` and
`data_offsets`; then the tensors, row-major and little-endian, without gaps (the format of the `safetensors` library).

Its names, after `rename`, are those of the parameters, each once and no other. A checkpoint of an Alpha program is
recognised by its `format`: there `net.w1` is the parameter `w1`, and the optimizer's slots are left aside.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import weights_errors
from alpha.evaluate.source_files import SourceFiles, entries, items, text
from alpha.evaluate.system import Tensor, Weights
from alpha.evaluate.values import TupleValue, Variant

CHECKPOINT = "alpha.checkpoint/1"
DTYPES = {
    "F64": Dtype.F64,
    "F32": Dtype.F32,
    "BF16": Dtype.BF16,
    "F16": Dtype.F16,
    "I64": Dtype.I64,
    "I32": Dtype.I32,
    "U32": Dtype.U32,
    "U8": Dtype.U8,
    "BOOL": Dtype.BOOL,
}


@record
class Held:
    """A tensor of a file: `first` is its place among the file's bytes. `dtype` is as the file spells it."""

    dtype: str
    shape: tuple[int, ...]
    first: int
    size: int

    def __str__(self) -> str:
        known = DTYPES.get(self.dtype)
        if known is None:
            return f"{self.dtype} {list(self.shape)}"
        return TensorType(known, self.shape).written


def load(start: Variant, files: SourceFiles, parameters: Sequence[Tensor]) -> Weights | None:
    """The weights that a policy starts from; None if it starts fresh.

    Refuses with E0901 (missing), E0902 (digest), E0904 (corrupt) and E0906 (names, shapes or dtypes differ).
    """
    if start.name != "Weights":
        return None
    given = entries(start.arguments[0])
    path = text(given["file"])
    renamed: list[tuple[str, str]] = []
    for pair in items(given["rename"]):
        assert isinstance(pair, TupleValue)
        renamed.append((text(pair.items[0]), text(pair.items[1])))
    file, data = files.locked(path)
    held, checkpoint = _header(path, data, files.span)
    names = _names(path, list(held), renamed, checkpoint, files.span)
    places: list[int] = []
    for parameter in parameters:
        name = names.get(parameter.name)
        if name is None:
            raise Refused(weights_errors.missing(path, parameter.name, held, files.span))
        if not _same(held[name], parameter.type):
            raise Refused(
                weights_errors.differs(
                    path, name, str(held[name]), parameter.name, parameter.type.written, files.span
                )
            )
        places.append(held[name].first)
    known = [parameter.name for parameter in parameters]
    for parameter_name, name in names.items():
        if parameter_name not in known:
            raise Refused(weights_errors.unknown(path, name, parameter_name, known, files.span))
    return Weights(file, tuple(names[name] for name in known), tuple(places), data)


def _names(
    path: str, held: Sequence[str], renamed: Sequence[tuple[str, str]], checkpoint: bool, span: Span
) -> dict[str, str]:
    """The name in the file of each parameter that it has a tensor for."""
    given: dict[str, str] = {}
    for name, parameter in renamed:
        if name not in held:
            raise Refused(weights_errors.renamed_unknown(path, name, held, span))
        if name in given:
            raise Refused(weights_errors.renamed_twice(name, span))
        given[name] = parameter
    found: dict[str, str] = {}
    for name in held:
        parameter = given.get(name, name)
        if checkpoint and name not in given:
            if name.startswith("slots."):
                continue
            parameter = name.removeprefix("net.")
        if parameter in found:
            raise Refused(weights_errors.named_twice(path, parameter, found[parameter], name, span))
        found[parameter] = name
    return found


def _same(held: Held, type: TensorType) -> bool:
    return DTYPES.get(held.dtype) is type.dtype and held.shape == type.shape


def _header(path: str, data: bytes, span: Span) -> tuple[dict[str, Held], bool]:
    """The tensors of a file by name, and whether it is a checkpoint. E0904 if it is damaged."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise Refused(weights_errors.corrupt(path, "it was cut off in its header", span))
    try:
        header = json.loads(data[8 : 8 + length].decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Refused(weights_errors.corrupt(path, "its header is damaged", span)) from None
    if not isinstance(header, dict):
        raise Refused(weights_errors.corrupt(path, "its header is damaged", span))
    metadata = header.pop("__metadata__", {})
    held: dict[str, Held] = {}
    for name, entry in header.items():
        tensor = _entry(entry, 8 + length)
        if tensor is None:
            why = f"the entry `{name}` of its header is damaged"
            raise Refused(weights_errors.corrupt(path, why, span))
        held[name] = tensor
    place = 8 + length
    for tensor in sorted(held.values(), key=lambda tensor: (tensor.first, tensor.size)):
        if tensor.first != place:
            why = "its tensors overlap or leave gaps"
            raise Refused(weights_errors.corrupt(path, why, span))
        place += tensor.size
    if place != len(data):
        why = f"its tensors end at byte {place:,}, but it has {len(data):,}"
        raise Refused(weights_errors.corrupt(path, why, span))
    is_checkpoint = isinstance(metadata, dict) and metadata.get("format") == CHECKPOINT
    return held, is_checkpoint


def _once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _entry(entry: object, begin: int) -> Held | None:
    if not isinstance(entry, Mapping) or set(entry) != {"dtype", "shape", "data_offsets"}:
        return None
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if (
        not isinstance(dtype, str)
        or not _counts(shape)
        or not _counts(offsets)
        or len(offsets) != 2
    ):
        return None
    size = offsets[1] - offsets[0]
    known = DTYPES.get(dtype)
    expected = size if known is None else TensorType(known, tuple(shape)).bytes
    return Held(dtype, tuple(shape), begin + offsets[0], size) if size == expected >= 0 else None


def _counts(value: object) -> bool:
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)

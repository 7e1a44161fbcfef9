r"""The exact bytes of a checkpoint file (specification, section 18).

A checkpoint is a safetensors file:

    8 bytes       N, the length of the header, u64 little-endian
    N bytes       the header: UTF-8 JSON, then spaces (0x20) up to the next multiple of 8, so N mod 8 = 0
    the rest      the data section: the tensors one after the other, row-major, little-endian, without gaps

The header is one JSON object without any space or newline. Its members stand in this order:

1. `"__metadata__"`: an object of texts, in this order: `format` (always `alpha.checkpoint/1`), `step` (decimal),
   `seed` (decimal), `policy`, `learner`, `data` (64 lower-case hexadecimal digits each: the SHA-256 of the UTF-8 of
   the system's `policy_text`, `learner_text`, `data_text`), `alpha` (the compiler's version), `stop` (below),
   `tensors` (the SHA-256 of the data section, 64 lower-case hexadecimal digits).
2. one member for each tensor in checkpoint order (`net.<p>` in parameter order, then `slots.<s>.<p>` slot by slot):
   `"net.w1":{"dtype":"F32","shape":[64,32],"data_offsets":[0,8192]}`, with the members in exactly this order; offsets
   count from the start of the data section. dtype names: F64 F32 BF16 F16 I64 I32 U32 U8 BOOL.

In texts only `"` and `\` are escaped, by a backslash; nothing else in a checkpoint's texts needs an escape.

`stop` is the state of the stop rules: a JSON array with one object a rule of the policy, in its order: `{}` for
`NotFinite` and `Below`; `{"lowest":L,"since":C}` for `Plateau`, where L is the bit pattern of the lowest f32 value
seen (decimal; 2139095040, +infinity, before the first evaluation) and C the number of evaluations since it was seen.
A policy with `stop = [NotFinite]` has the text `[{}]`, a policy without rules `[]`.

A NaN in a float tensor is written as 0x7FC00000 (f32; the quiet NaN with a clear sign and payload for other dtypes).
The file depends on nothing else: no time, host, thread count or path. Its name is `step-` and the step in 8 digits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy

Array = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]

FORMAT = "alpha.checkpoint/1"
DTYPE_NAMES = {
    "f64": "F64",
    "f32": "F32",
    "bf16": "BF16",
    "f16": "F16",
    "i64": "I64",
    "i32": "I32",
    "u32": "U32",
    "u8": "U8",
    "bool": "BOOL",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a checkpoint says of its run, besides the step and the tensors. Digests are hexadecimal."""

    seed: int
    policy: str
    learner: str
    data: str
    alpha: str


def file_name(step: int) -> str:
    return f"step-{step:08d}.safetensors"


def digest(text: str) -> str:
    """The SHA-256 of a canonical text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def stop_text(states: Sequence[tuple[int, int] | None]) -> str:
    """The text of the stop rules' state: (bits of the lowest value, evaluations since) for `Plateau`, else None."""
    items = (
        "{}" if state is None else f'{{"lowest":{state[0]},"since":{state[1]}}}' for state in states
    )
    return f"[{','.join(items)}]"


def data_bytes(dtype: str, array: Array) -> bytes:
    """One tensor's bytes. bf16 and f16 values are held exactly in float32 arrays."""
    if dtype == "bf16":
        words = numpy.ascontiguousarray(array, dtype="<f4").view("<u4")
        halves = (words >> 16).astype("<u2")
        halves[numpy.isnan(array)] = 0x7FC0
        return halves.tobytes()
    values = numpy.array(array, order="C", copy=True, dtype="f2" if dtype == "f16" else None)
    if values.dtype.kind == "f":
        values[numpy.isnan(values)] = numpy.nan
    return values.astype(values.dtype.newbyteorder("<")).tobytes()


def checkpoint_bytes(
    tensors: Sequence[tuple[str, str, Array]], step: int, identity: Identity, stop: str
) -> bytes:
    """The whole file. `tensors` are (name, dtype, values) in checkpoint order."""
    entries: list[str] = []
    chunks: list[bytes] = []
    offset = 0
    for name, dtype, array in tensors:
        chunk = data_bytes(dtype, array)
        shape = ",".join(str(size) for size in array.shape)
        entries.append(
            f'{_text(name)}:{{"dtype":"{DTYPE_NAMES[dtype]}","shape":[{shape}],'
            f'"data_offsets":[{offset},{offset + len(chunk)}]}}'
        )
        chunks.append(chunk)
        offset += len(chunk)
    data = b"".join(chunks)
    metadata = {
        "format": FORMAT,
        "step": str(step),
        "seed": str(identity.seed),
        "policy": identity.policy,
        "learner": identity.learner,
        "data": identity.data,
        "alpha": identity.alpha,
        "stop": stop,
        "tensors": hashlib.sha256(data).hexdigest(),
    }
    members = (f'"__metadata__":{_object(metadata)}', *entries)
    header = ("{" + ",".join(members) + "}").encode("utf-8")
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data


def _object(texts: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{_text(name)}:{_text(value)}" for name, value in texts.items()) + "}"


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

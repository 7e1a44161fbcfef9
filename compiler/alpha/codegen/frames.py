"""What the compiler and its worker process say to each other: frames of a JSON header and a body of bytes.

A frame is two little-endian u32, the lengths of header and body, then the header in UTF-8, then the body.
"""

from __future__ import annotations

import json
import struct
from typing import IO

_LENGTHS = struct.Struct("<II")
Header = dict[str, str | int]


def write_frame(stream: IO[bytes], header: Header, body: bytes) -> None:
    """Raises OSError if the other side is gone."""
    encoded = json.dumps(header, sort_keys=True).encode("utf-8")
    stream.write(_LENGTHS.pack(len(encoded), len(body)) + encoded + body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[Header, bytes] | None:
    """None at the end of the stream, also in the middle of a frame."""
    lengths = _read(stream, _LENGTHS.size)
    if lengths is None:
        return None
    header_length, body_length = _LENGTHS.unpack(lengths)
    header, body = _read(stream, header_length), _read(stream, body_length)
    if header is None or body is None:
        return None
    decoded: Header = json.loads(header)
    return decoded, body


def _read(stream: IO[bytes], count: int) -> bytes | None:
    data = stream.read(count)
    return data if len(data) == count else None

"""A reader of TensorBoard's event files, written from the format's description: TFRecord around `Event` messages."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """`version` is that of the file in its first event, else empty; `tag` and `value` are those of a scalar."""

    wall_time: float
    step: int
    version: str
    tag: str
    value: float


def crc32c(data: bytes) -> int:
    """CRC-32C by polynomial division, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data: bytes) -> Iterator[bytes]:
    """The bytes of each record; an assertion fails where a checksum or a length is wrong."""
    while data:
        (length,) = struct.unpack_from("<Q", data)
        assert struct.unpack_from("<I", data, 8) == (masked(data[:8]),)
        record = data[12 : 12 + length]
        assert len(record) == length
        assert struct.unpack_from("<I", data, 12 + length) == (masked(record),)
        yield record
        data = data[16 + length :]


def fields(message: bytes) -> dict[int, bytes | int]:
    """The fields of a protocol buffer by number; each stands once in what is read here."""
    found: dict[int, bytes | int] = {}
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(message, at)
            found[number] = value
            continue
        size = {1: 8, 5: 4}.get(kind, -1)
        if kind == 2:
            size, at = varint(message, at)
        assert size >= 0 and at + size <= len(message) and number not in found
        found[number] = message[at : at + size]
        at += size
    return found


def varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def events(data: bytes) -> list[Event]:
    return [_event(record) for record in records(data)]


def _event(record: bytes) -> Event:
    found = fields(record)
    wall_time, step, version, summary = (found.get(number) for number in (1, 2, 3, 5))
    assert isinstance(wall_time, bytes)
    tag, value = "", 0.0
    if isinstance(summary, bytes):
        scalar = fields(_bytes(fields(summary)[1]))
        tag = _bytes(scalar[1]).decode()
        (value,) = struct.unpack("<f", _bytes(scalar[2]))
    (time,) = struct.unpack("<d", wall_time)
    return Event(time, int(step or 0), _bytes(version or b"").decode(), tag, value)  # type: ignore[arg-type]


def _bytes(value: bytes | int) -> bytes:
    assert isinstance(value, bytes)
    return value

"""Unwind tables: the records of `.eh_frame`, and the sorted index over them that `.eh_frame_hdr` is.

Only the one form LLVM writes for us is read: version 1, augmentation `zR`, pointers as 4-byte distances.
Source: Linux Standard Base Core, 10.6 (Exception Frames).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from alpha.elf.errors import Fault, LinkError

TERMINATOR: Final = bytes(4)
_HEADER: Final = struct.Struct("<BBBBiI")
_ROW: Final = struct.Struct("<ii")
# Parent, code address, code size, size of the augmentation data. (A length of 0 would end the table for unwinders.)
_SHORTEST_FRAME: Final = 13
# DW_EH_PE_pcrel | sdata4, udata4, DW_EH_PE_datarel | sdata4
_POINTER, _COUNT, _TABLE = 0x1B, 0x03, 0x3B


def frame_offsets(data: bytes, where: str) -> Iterator[int]:
    """The offset of each frame description (FDE) in `.eh_frame`. Raises `LinkError` for a record of another form."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise LinkError(Fault.BAD_FRAME, where, f"cut short at {at:#x}")
        length, parent = struct.unpack_from("<II", data, at)
        end = at + 4 + length
        if end > len(data):
            raise LinkError(Fault.BAD_FRAME, where, f"length {length:#x} at {at:#x}")
        if parent == 0:
            _check_common(data[at + 8 : end], f"{where}+{at:#x}")
        elif parent > at + 4 or length < _SHORTEST_FRAME:
            raise LinkError(Fault.BAD_FRAME, where, f"no parent at {at:#x}")
        else:
            yield at
        at = end


def frame_count(data: bytes, where: str) -> int:
    return sum(1 for _ in frame_offsets(data, where))


def _check_common(record: bytes, where: str) -> None:
    """A common record (CIE) must hold: version 1, "zR", two LEB128 factors, return register, 1, pointer form."""
    if record[:4] != b"\x01zR\0":
        raise LinkError(Fault.BAD_FRAME, where, "version or augmentation")
    at = 4
    for _ in range(2):
        while at < len(record) and record[at] & 0x80:
            at += 1
        at += 1
    if record[at + 1 : at + 3] != bytes((1, _POINTER)):
        raise LinkError(Fault.BAD_FRAME, where, "pointer form")


def index_size(frames: int) -> int:
    return _HEADER.size + _ROW.size * frames


def frame_index(frames: bytes, frames_address: int, index_address: int) -> bytes:
    """`.eh_frame_hdr` for relocated frames (without the terminator): one row a function, sorted by its address."""
    rows = []
    for at in frame_offsets(frames, ".eh_frame"):
        (distance,) = struct.unpack_from("<i", frames, at + 8)
        rows.append(
            (
                frames_address + at + 8 + distance - index_address,
                frames_address + at - index_address,
            )
        )
    rows.sort()
    head = _HEADER.pack(1, _POINTER, _COUNT, _TABLE, frames_address - index_address - 4, len(rows))
    return head + b"".join(_ROW.pack(*row) for row in rows)

"""Notes: the build identity, and the branch protections that all code of the file keeps to."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from alpha.elf import form
from alpha.elf.errors import Fault, LinkError
from alpha.elf.read import Object

PROPERTY_SECTION: Final = ".note.gnu.property"
BUILD_ID_SECTION: Final = ".note.gnu.build-id"
BUILD_ID_SIZE: Final = 20
_HEADER: Final = struct.Struct("<III4s")
_NT_GNU_BUILD_ID, _NT_GNU_PROPERTY = 3, 5


def build_id_note(identity: bytes) -> bytes:
    return _HEADER.pack(4, BUILD_ID_SIZE, _NT_GNU_BUILD_ID, b"GNU\0") + identity


def property_note(machine: int, objects: Sequence[Object]) -> bytes:
    """The note of the protections that every object with code declares; empty where there is none in common."""
    features = 0xFFFFFFFF
    for each in objects:
        if any(section.size and section.flags & form.SHF_EXECINSTR for section in each.sections):
            features &= _declared_features(machine, each)
    if features in (0, 0xFFFFFFFF):
        return b""
    body = struct.pack("<IIII", form.FEATURE_PROPERTY[machine], 4, features, 0)
    return _HEADER.pack(4, len(body), _NT_GNU_PROPERTY, b"GNU\0") + body


def _declared_features(machine: int, each: Object) -> int:
    features = 0
    for section in each.sections:
        if section.name != PROPERTY_SECTION:
            continue
        data = section.data
        if len(data) < 16 or _HEADER.unpack_from(data) != (
            4,
            len(data) - 16,
            _NT_GNU_PROPERTY,
            b"GNU\0",
        ):
            raise LinkError(Fault.MALFORMED, section.where)
        at = 16
        while at < len(data):
            if at + 8 > len(data):
                raise LinkError(Fault.MALFORMED, section.where)
            kind, size = struct.unpack_from("<II", data, at)
            if at + 8 + size > len(data):
                raise LinkError(Fault.MALFORMED, section.where)
            if kind == form.FEATURE_PROPERTY[machine] and size == 4:
                features |= struct.unpack_from("<I", data, at + 8)[0]
            at = form.align_up(at + 8 + size, 8)
    return features

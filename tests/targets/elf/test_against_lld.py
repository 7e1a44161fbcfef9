"""LLD as an oracle: our relocator, given LLD's addresses, must give LLD's bytes."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from alpha.base.host import HostTarget
from alpha.elf.image import Image
from alpha.elf.read import Section, read_object
from alpha.elf.reloc import Formula, apply, row_of
from alpha.elf.resolve import Place, ReservedName, Resolution, resolve
from alpha.elf.stubs import stub_object
from alpha.elf.verify import verify
from alpha.targets import HOSTS
from requirements import require_tool
from targets.elf.emitter import Emitter
from targets.elf.linker_under_test import REAL
from targets.elf.random_modules import random_module

# A row of LLD's map: address, load address, size, alignment, then the input section.
_MAP_ROW = re.compile(r"\s*([0-9a-f]+)\s+[0-9a-f]+\s+[0-9a-f]+\s+\d+\s{9}(\S+):\(([^)]*)\)\s*$")
_FLAGS = (
    "-static",
    "-pie",
    "--no-dynamic-linker",
    "-z",
    "text",
    "--no-relax",
    "-O0",
    "--no-gc-sections",
)


class Lld:
    """What LLD made: its image, where it put every input section, and the values of its run-time relocations."""

    def __init__(
        self, folder: Path, tool: str, host: HostTarget, objects: dict[str, bytes]
    ) -> None:
        for name, data in objects.items():
            (folder / name).write_bytes(data)
        command = [tool, *_FLAGS, "--no-eh-frame-hdr", "-Map", "map", "-o", "out", *objects]
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        self.image = Image((folder / "out").read_bytes(), host)
        self.addresses: dict[tuple[str, str], list[int]] = {}
        for line in (folder / "map").read_text().splitlines():
            row = _MAP_ROW.match(line)
            if row:
                self.addresses.setdefault((row[2], row[3]), []).append(int(row[1], 16))
        table = self.image.section(".rela.dyn")
        body = self.image.bytes_at(table.address, table.size) if table else b""
        self.pointers = {place: value for place, _, value in struct.iter_unpack("<QQq", body)}
        got = self.image.section(".got")
        slots = range(got.address, got.address + got.size, 8) if got else ()
        self.slots = {self.pointers[slot]: slot for slot in slots if slot in self.pointers}


def _loaded(resolution: Resolution, lld: Lld) -> dict[Section, int]:
    """LLD's address of every loaded section with bytes; sections of one name come in file order."""
    found, seen = {}, dict.fromkeys(lld.addresses, 0)
    for each in resolution.objects:
        for section in each.sections:
            key = (each.name, section.name)
            # LLD rewrites frame records, so their bytes are not to be compared.
            if section.allocated and key in seen and section.name != ".eh_frame":
                found[section] = lld.addresses[key][seen[key]]
                seen[key] += 1
    return found


def _compare(host: HostTarget, resolution: Resolution, lld: Lld) -> int:
    """Relocate every section as LLD placed it; the number of relocations that agreed."""
    addresses, agreed = _loaded(resolution, lld), 0
    for section, base in addresses.items():
        if not section.data:
            continue
        body = bytearray(section.data)
        for offset, kind, symbol, addend in section.relocations:
            row, target = row_of(host.machine, kind), resolution.targets[section.owner][symbol]
            assert isinstance(target, Place) and not isinstance(target, ReservedName)
            value = addresses[target.section] + target.offset
            agreed += 1
            if row.formula is Formula.ABSOLUTE:
                assert lld.pointers[base + offset] == value + addend
                continue
            meant = lld.slots[value] if row.got else value
            end = offset + row.width
            body[offset:end] = apply(row, bytes(body[offset:end]), base + offset, meant + addend)
        assert bytes(body) == lld.image.bytes_at(base, section.size), f"{section.where} differs"
    return agreed


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_our_relocator_agrees_with_lld(host: HostTarget, emitter: Emitter, tmp_path: Path) -> None:
    tool = require_tool("ld.lld")
    agreed = 0
    for seed in range(20):
        data = emitter.emit(random_module(seed), host, level=(0, 3)[seed % 2])
        objects = {"stubs": stub_object(host), "module": data}
        lld = Lld(tmp_path, tool, host, objects)
        inputs = [read_object(name, bytes_) for name, bytes_ in objects.items()]
        agreed += _compare(host, resolve(inputs, "_start"), lld)
        verify(REAL.link(*objects.values(), machine=host.machine), host)
    assert agreed > 1000

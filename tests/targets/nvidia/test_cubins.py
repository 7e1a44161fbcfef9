"""Cubins are read strictly: what an assembler wrote, and nothing that differs from it in a way that matters."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.targets.nvidia.assemble import Assembler, assemble
from alpha.targets.nvidia.cubin import read_cubin
from alpha.targets.nvidia.errors import CubinFault
from targets.nvidia.modules import every_form

HEADER, SECTION, SYMBOL = "<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IBBHQQ"
NAME, KIND, FLAGS, ADDRESS, OFFSET, SIZE, LINK, INFO = range(8)
SHF_ALLOC = 2


class Bytes:
    """A cubin that can be changed, section by section."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        header = struct.unpack_from(HEADER, data)
        self.table, self.count, self.names = header[6], header[12], header[13]

    def row(self, number: int) -> list[int]:
        return list(struct.unpack_from(SECTION, self.data, self.table + 64 * number))

    def name(self, number: int) -> str:
        start = self.row(self.names)[OFFSET] + self.row(number)[NAME]
        return self.data[start : self.data.index(0, start)].decode()

    def find(self, name: str) -> int:
        (number,) = [number for number in range(self.count) if self.name(number) == name]
        return number

    def set(self, name: str, field: int, value: int) -> bytes:
        number = self.find(name)
        row = self.row(number)
        row[field] = value
        struct.pack_into(SECTION, self.data, self.table + 64 * number, *row)
        return bytes(self.data)

    def field(self, name: str, field: int) -> int:
        return self.row(self.find(name))[field]

    def rename(self, name: str, other: str) -> bytes:
        """A section gets another name of the same length."""
        assert len(name) == len(other)
        start = self.row(self.names)[OFFSET] + self.field(name, NAME)
        self.data[start : start + len(other)] = other.encode()
        return bytes(self.data)

    def put(self, name: str, at: int, value: bytes) -> bytes:
        start = self.field(name, OFFSET) + at
        self.data[start : start + len(value)] = value
        return bytes(self.data)

    def attributes(self, name: str) -> Iterator[tuple[int, int]]:
        """The number of each attribute, and where in the section what it says begins."""
        start, size = self.field(name, OFFSET), self.field(name, SIZE)
        at = 0
        while at < size:
            kind, number, length = struct.unpack_from("<BBH", self.data, start + at)
            yield number, at + (4 if kind == 4 else 2)
            at += 4 + (length if kind == 4 else 0)

    def attribute(self, name: str, number: int) -> int:
        return next(at for found, at in self.attributes(name) if found == number)


@pytest.fixture(scope="module")
def whole(assembler: Assembler) -> bytes:
    return assemble(assembler, every_form()).data


def refusal(data: bytes, architecture: int = 86) -> str:
    with pytest.raises(CubinFault) as raised:
        read_cubin(data, architecture)
    return str(raised.value)


def test_an_entry_has_its_code_and_what_a_launch_gives_it(whole: bytes) -> None:
    (code,) = read_cubin(whole, 86).entries
    found = Bytes(whole)
    start, size = found.field(".text.forms", OFFSET), found.field(".text.forms", SIZE)
    assert code.text == whole[start : start + size]
    assert (code.name, code.threads, code.shared, code.barriers) == ("forms", 64, 1_024, 1)
    assert (code.parameters, code.first + 16) == (2, code.constants)
    assert code.constants == found.field(".nv.constant0.forms", SIZE)
    assert code.registers == found.field(".text.forms", INFO) >> 24


def test_code_for_another_architecture_is_refused(whole: bytes) -> None:
    assert refusal(whole, 89) == "is for sm_86, not for sm_89"


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"MZ" + bytes(200), bytes(64)])
def test_what_is_no_cubin_is_refused(data: bytes) -> None:
    assert refusal(data)


def test_an_object_for_a_processor_is_refused(whole: bytes) -> None:
    data = bytearray(whole)
    struct.pack_into("<H", data, 18, 62)
    assert refusal(bytes(data)) == "is no cubin"


def test_no_beginning_of_a_cubin_is_one(whole: bytes) -> None:
    table = Bytes(whole).table + 64 * Bytes(whole).count
    for end in range(0, table, 7):
        assert refusal(whole[:end])


def test_relocations_of_anything_that_is_loaded_are_refused(whole: bytes) -> None:
    file = Bytes(whole)
    code = file.find(".text.forms")
    assert (
        refusal(file.set(".rel.debug_frame", INFO, code)) == ".rel.debug_frame: holds relocations"
    )


@pytest.mark.parametrize(
    ("section", "other"),
    [
        (".nv.shared.forms", ".nv.shared.other"),
        (".nv.constant0.forms", ".nv.constant3.forms"),
        (".nv.rel.action", ".nv.global.ini"),
        (".nv.shared.forms", ".nv.local0.forms"),
    ],
)
def test_a_section_of_another_kind_is_refused(whole: bytes, section: str, other: str) -> None:
    said = refusal(Bytes(whole).rename(section, other))
    assert said == f"{other}: is a section of a kind that is not supported"


def test_what_is_not_loaded_stays_so(whole: bytes) -> None:
    assert (
        refusal(Bytes(whole).set(".nv.callgraph", FLAGS, SHF_ALLOC)) == ".nv.callgraph: is loaded"
    )


def test_registers_are_said_twice_and_alike(whole: bytes) -> None:
    file = Bytes(whole)
    said = file.field(".text.forms", INFO)
    assert "registers that is not said alike" in refusal(
        file.set(".text.forms", INFO, said + (1 << 24))
    )


@pytest.mark.parametrize("number", [0x11, 0x12])
def test_a_frame_or_a_stack_is_refused(whole: bytes, number: int) -> None:
    file = Bytes(whole)
    at = file.attribute(".nv.info", number)
    said = refusal(file.put(".nv.info", at + 4, struct.pack("<I", 48)))
    assert said.endswith("takes 48 bytes of stack")


def test_a_function_of_another_size_than_its_code_is_refused(whole: bytes) -> None:
    file = Bytes(whole)
    size = file.field(".text.forms", SIZE)
    assert "is not the one function" in refusal(file.set(".text.forms", SIZE, size + 16))
    assert "does not hold whole" in refusal(Bytes(whole).set(".text.forms", SIZE, size + 8))


def test_code_that_can_be_written_is_refused(whole: bytes) -> None:
    file = Bytes(whole)
    flags = file.field(".text.forms", FLAGS)
    assert refusal(file.set(".text.forms", FLAGS, flags | 1)).endswith("is no section of code")


def test_shared_memory_that_begins_with_bytes_is_refused(whole: bytes) -> None:
    assert refusal(Bytes(whole).set(".nv.shared.forms", KIND, 1)).endswith("holds bytes")


def test_a_parameter_of_another_size_is_refused(whole: bytes) -> None:
    file = Bytes(whole)
    at = file.attribute(".nv.info.forms", 0x17)
    said = refusal(file.put(".nv.info.forms", at + 8, struct.pack("<I", 4 << 18)))
    assert said == "forms: takes something else than addresses"


def test_constants_end_with_the_parameters(whole: bytes) -> None:
    file = Bytes(whole)
    size = file.field(".nv.constant0.forms", SIZE)
    said = refusal(file.set(".nv.constant0.forms", SIZE, size - 8))
    assert said == "forms: has constants that do not end with its parameters"


def test_a_block_of_two_dimensions_is_refused(whole: bytes) -> None:
    file = Bytes(whole)
    at = file.attribute(".nv.info.forms", 0x10)
    said = refusal(file.put(".nv.info.forms", at + 4, struct.pack("<I", 2)))
    assert said.endswith("has blocks of more than one dimension")


def test_an_attribute_that_is_not_known_is_refused(whole: bytes) -> None:
    file = Bytes(whole)
    at = file.attribute(".nv.info.forms", 0x37)
    said = refusal(file.put(".nv.info.forms", at - 3, b"\x66"))
    assert said.endswith("has the attribute 0x66, which is not supported")


@settings(max_examples=300)
@given(st.data())
def test_damage_is_refused_or_leaves_a_cubin(whole: bytes, data: st.DataObject) -> None:
    """Whatever the bytes, the answer is a cubin or a refusal: nothing is followed out of the file."""
    changed = bytearray(whole)
    table = Bytes(whole).table
    places = (
        st.integers(0, len(whole) - 1) | st.integers(0, 63) | st.integers(table, len(whole) - 1)
    )
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(places)] = data.draw(st.integers(0, 255))
    try:
        cubin = read_cubin(bytes(changed), 86)
    except CubinFault:
        return
    for code in cubin.entries:
        assert code.text
        assert 1 <= code.registers <= 255
        assert code.first + 8 * code.parameters == code.constants

"""One object a refusal: the smallest change that must be refused, and the name it must be refused by."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from targets.elf.hand_made import (
    ABSOLUTE,
    ALLOC,
    ARM,
    DATA,
    EXECUTE,
    LOCAL,
    NOBITS,
    UNDEFINED,
    WRITE,
    X86,
    Name,
    Part,
    build,
    code,
    common_record,
    edit_header,
    edit_section,
    edit_symbol,
    frames,
    section_numbers,
    section_offset,
)


@dataclass(frozen=True)
class Refusal:
    title: str
    fault: str
    objects: tuple[bytes, ...]
    options: dict[str, Any] = field(default_factory=dict)


START = Name("_start", ".text")
GOOD = build([code()], [START])
GOOD_ARM = build([code(ARM)], [START], ARM)
RELOCATED = build([code(data=bytes(8), relocations=((0, 2, "_start", 0),))], [START])


def _with(*parts: Part, names: tuple[Name, ...] = (), machine: int = X86) -> bytes:
    return build([code(machine), *parts], [START, *names], machine)


def _patched(data: bytes, offset: int, value: bytes) -> bytes:
    return data[:offset] + value + data[offset + len(value) :]


def _relocation(
    kind: int, offset: int = 0, symbol: str = "_start", machine: int = X86, size: int = 8
) -> bytes:
    return build(
        [code(machine, bytes(size), relocations=((offset, kind, symbol, 0),))], [START], machine
    )


def _frame(record: bytes) -> bytes:
    return _with(Part(".eh_frame", ALLOC, record, 1))


def _frame_of_parent(distance: int, length: int = 20) -> bytes:
    """A common record, then a frame of `length` whose parent lies `distance` bytes before its own pointer."""
    body = (struct.pack("<IiI", distance, 0, 4) + bytes(8))[:length]
    return common_record() + struct.pack("<I", length) + body


def _cie(**changes: bytes) -> bytes:
    """A common record with one of its fields changed."""
    fields = {
        "id": bytes(4),
        "version": b"\1",
        "augmentation": b"zR\0",
        "code": b"\1",
        "data": b"\x78",
        "return": b"\x10",
        "size": b"\1",
        "pointer": b"\x1b",
    } | changes
    body = b"".join(fields.values())
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack("<I", len(body)) + body


def _two_symbol_tables() -> bytes:
    data = _with(Part(".symtab2", 0, bytes(24), kind=2, entry_size=24))
    return edit_section(data, ".symtab2", link=section_numbers(data)[".strtab"], info=1)


def _relocated_twice() -> bytes:
    data = _with(*(Part(name, 0, b"", kind=4, entry_size=24) for name in (".rela.text", ".rela.2")))
    symbols = section_numbers(data)[".symtab"]
    for name in (".rela.text", ".rela.2"):
        data = edit_section(data, name, link=symbols, info=1)
    return data


def _property(data: bytes) -> bytes:
    return _with(Part(".note.gnu.property", ALLOC, data, 8, kind=7))


_PROPERTY = struct.pack("<III4sIIII", 4, 16, 5, b"GNU\0", 0xC0000002, 4, 3, 0)

REFUSALS = [
    # The command
    Refusal("nothing", "NO_OBJECTS", ()),
    Refusal("an object of another machine", "OTHER_MACHINE", (GOOD, GOOD_ARM)),
    Refusal("objects of one machine for another host", "OTHER_MACHINE", (GOOD,), {"machine": ARM}),
    Refusal("no entry", "NO_ENTRY", (GOOD,), {"entry": "main"}),
    Refusal(
        "an entry that is data",
        "NO_ENTRY",
        (_with(Part(".data", 3, b"x"), names=(Name("d", ".data"),)),),
        {"entry": "d"},
    ),
    Refusal("a blob aligned to three", "BAD_ALIGNMENT", (GOOD,), {"blobs": (("b", b"x", 3),)}),
    Refusal("a blob aligned to zero", "BAD_ALIGNMENT", (GOOD,), {"blobs": (("b", b"x", 0),)}),
    Refusal(
        "a blob aligned beyond the page",
        "BAD_ALIGNMENT",
        (GOOD,),
        {"blobs": (("b", b"x", 0x2000),)},
    ),
    Refusal(
        "a blob with the name of a function",
        "DUPLICATE_SYMBOL",
        (GOOD,),
        {"blobs": (("_start", b"x", 1),)},
    ),
    # The file header
    Refusal("an empty file", "OUTSIDE_FILE", (b"",)),
    Refusal("a header cut short", "OUTSIDE_FILE", (GOOD[:63],)),
    Refusal("no ELF file", "NOT_AN_OBJECT", (b"!<arch>\n" + bytes(200),)),
    Refusal("a 32-bit file", "NOT_AN_OBJECT", (edit_header(GOOD, **{"class": 1}),)),
    Refusal("another operating system", "NOT_AN_OBJECT", (edit_header(GOOD, abi=9),)),
    Refusal("an executable", "NOT_AN_OBJECT", (edit_header(GOOD, kind=2),)),
    Refusal("a later version", "NOT_AN_OBJECT", (edit_header(GOOD, version=2),)),
    Refusal("an unknown machine", "OTHER_MACHINE", (edit_header(GOOD, machine=243),)),
    Refusal("section headers of another size", "MALFORMED", (edit_header(GOOD, entry_size=40),)),
    Refusal("no sections", "MALFORMED", (edit_header(GOOD, count=0),)),
    Refusal("too many sections", "MALFORMED", (edit_header(GOOD, count=0xFF00),)),
    Refusal("a section table outside", "OUTSIDE_FILE", (edit_header(GOOD, section_table=1 << 63),)),
    Refusal("a section table cut short", "OUTSIDE_FILE", (GOOD[:-1],)),
    Refusal("names in no section", "MALFORMED", (edit_header(GOOD, names=5),)),
    Refusal("names in a section of code", "MALFORMED", (edit_header(GOOD, names=1),)),
    # Sections
    Refusal("a section outside", "OUTSIDE_FILE", (edit_section(GOOD, ".text", offset=len(GOOD)),)),
    Refusal(
        "a section that ends outside",
        "OUTSIDE_FILE",
        (edit_section(GOOD, ".text", size=len(GOOD) - 63),),
    ),
    Refusal("a section name outside", "BAD_NAME", (edit_section(GOOD, ".text", name=999),)),
    Refusal(
        "a section name without end",
        "BAD_NAME",
        (edit_section(edit_section(GOOD, ".shstrtab", size=9), ".text", name=5),),
    ),
    Refusal(
        "a section name that is not text",
        "BAD_NAME",
        (_patched(GOOD, section_offset(GOOD, ".shstrtab") + 2, b"\xff"),),
    ),
    Refusal("an alignment of three", "BAD_ALIGNMENT", (edit_section(GOOD, ".text", align=3),)),
    Refusal(
        "a huge alignment",
        "BAD_ALIGNMENT",
        (_with(Part(".debug_str", 0x30, b"x\0", 1 << 17, entry_size=1)),),
    ),
    Refusal(
        "an alignment beyond the page",
        "BAD_ALIGNMENT",
        (edit_section(GOOD, ".text", align=1 << 13),),
    ),
    Refusal(
        "a section of 2 GiB", "TOO_LARGE", (_with(Part(".bss", 3, b"", kind=NOBITS, size=1 << 31)),)
    ),
    Refusal("an address in an object", "MALFORMED", (edit_section(GOOD, ".text", address=64),)),
    Refusal(
        "a large section", "LARGE_CODE_MODEL", (_with(Part(".lrodata", ALLOC | 0x10000000, b"x")),)
    ),
    Refusal(
        "an executable stack", "EXECUTABLE_STACK", (_with(Part(".note.GNU-stack", EXECUTE, b"")),)
    ),
    Refusal(
        "writable code", "WRITABLE_CODE", (_with(Part(".wx", ALLOC | WRITE | EXECUTE, b"\xc3")),)
    ),
    Refusal("a constructor", "CONSTRUCTOR", (_with(Part(".init_array", 3, bytes(8), kind=14)),)),
    Refusal("a destructor", "CONSTRUCTOR", (_with(Part(".fini_array", 3, bytes(8), kind=15)),)),
    Refusal(
        "an early constructor",
        "CONSTRUCTOR",
        (_with(Part(".preinit_array", 3, bytes(8), kind=16)),),
    ),
    Refusal("an old constructor", "CONSTRUCTOR", (_with(Part(".ctors", 3, bytes(8))),)),
    Refusal("an old destructor", "CONSTRUCTOR", (_with(Part(".dtors.65535", 3, bytes(8))),)),
    Refusal("a group", "SECTION_GROUP", (_with(Part(".group", 0, bytes(4), kind=17)),)),
    Refusal(
        "a member of a group",
        "SECTION_GROUP",
        (_with(Part(".text.f", ALLOC | EXECUTE | 0x200, b"\xc3")),),
    ),
    Refusal("a thread-local section", "THREAD_LOCAL", (_with(Part(".tdata", 3 | 0x400, b"x")),)),
    Refusal("a compressed section", "COMPRESSED", (_with(Part(".debug_info", 0x800, b"x")),)),
    Refusal(
        "relocations without addends",
        "IMPLICIT_ADDENDS",
        (_with(Part(".rel.text", 0, bytes(16), kind=9)),),
    ),
    Refusal(
        "an unknown note", "UNKNOWN_SECTION", (_with(Part(".note.vendor", ALLOC, b"x", kind=7)),)
    ),
    Refusal("an unknown unloaded section", "UNKNOWN_SECTION", (_with(Part(".stab", 0, b"x")),)),
    Refusal(
        "read-only zeros",
        "UNKNOWN_SECTION",
        (_with(Part(".zeros", ALLOC, b"", kind=NOBITS, size=8)),),
    ),
    Refusal(
        "executable zeros",
        "UNKNOWN_SECTION",
        (_with(Part(".zeros", ALLOC | EXECUTE, b"", kind=NOBITS, size=8)),),
    ),
    Refusal(
        "an unknown kind of section",
        "UNKNOWN_SECTION",
        (_with(Part(".odd", ALLOC, b"x", kind=0x60000001)),),
    ),
    Refusal(
        "zeros as debugging information",
        "UNKNOWN_SECTION",
        (_with(Part(".debug_x", 0, b"", kind=NOBITS, size=8)),),
    ),
    Refusal("a property note cut short", "MALFORMED", (_property(_PROPERTY[:12]),)),
    Refusal(
        "a property note of another vendor",
        "MALFORMED",
        (_property(_PROPERTY.replace(b"GNU", b"XYZ")),),
    ),
    Refusal(
        "a property beyond its note", "MALFORMED", (_property(_patched(_PROPERTY, 20, b"\x40")),)
    ),
    Refusal(
        "a property of half a header",
        "MALFORMED",
        (_property(_patched(_PROPERTY[:20], 4, b"\x04")),),
    ),
    # Symbols
    Refusal("two symbol tables", "MALFORMED", (_two_symbol_tables(),)),
    Refusal(
        "symbols of another size", "MALFORMED", (edit_section(GOOD, ".symtab", entry_size=16),)
    ),
    Refusal("half a symbol", "MALFORMED", (edit_section(GOOD, ".symtab", size=47),)),
    Refusal("symbols without names", "MALFORMED", (edit_section(GOOD, ".symtab", link=5),)),
    Refusal("symbols named by code", "MALFORMED", (edit_section(GOOD, ".symtab", link=1),)),
    Refusal("a symbol name outside", "BAD_NAME", (edit_symbol(GOOD, 1, name=99),)),
    Refusal("a symbol name without end", "BAD_NAME", (edit_section(GOOD, ".strtab", size=7),)),
    Refusal("a global among locals", "MALFORMED", (edit_section(GOOD, ".symtab", info=2),)),
    Refusal("a local among globals", "MALFORMED", (edit_section(GOOD, ".symtab", info=0),)),
    Refusal("a symbol of no section", "MALFORMED", (edit_symbol(GOOD, 1, section=77),)),
    Refusal(
        "a symbol of the first index too many", "MALFORMED", (edit_symbol(GOOD, 1, section=5),)
    ),
    Refusal("a symbol outside its section", "MALFORMED", (edit_symbol(GOOD, 1, value=2),)),
    Refusal("a symbol that ends outside", "MALFORMED", (edit_symbol(GOOD, 1, size=2),)),
    Refusal("a weak symbol", "WEAK_SYMBOL", (_with(names=(Name("w", ".text", binding=2),)),)),
    Refusal("a weak reference", "WEAK_SYMBOL", (_with(names=(Name("w", UNDEFINED, binding=2),)),)),
    Refusal("a unique symbol", "UNKNOWN_SYMBOL", (_with(names=(Name("u", ".text", binding=10),)),)),
    Refusal(
        "a symbol of unknown type", "UNKNOWN_SYMBOL", (_with(names=(Name("u", ".text", kind=7),)),)
    ),
    Refusal("a thread-local symbol", "THREAD_LOCAL", (_with(names=(Name("t", ".text", kind=6),)),)),
    Refusal(
        "an indirect function", "INDIRECT_FUNCTION", (_with(names=(Name("i", ".text", kind=10),)),)
    ),
    Refusal("a common symbol", "COMMON_SYMBOL", (edit_symbol(GOOD, 1, section=0xFFF2),)),
    Refusal(
        "an absolute symbol", "ABSOLUTE_SYMBOL", (_with(names=(Name("a", ABSOLUTE, 5, kind=0),)),)
    ),
    Refusal(
        "a file name in a section",
        "ABSOLUTE_SYMBOL",
        (_with(names=(Name("f", ".text", 0, 0, LOCAL, 4),)),),
    ),
    Refusal(
        "an undefined symbol",
        "UNDEFINED_SYMBOL",
        (_with(names=(Name("memcpy", UNDEFINED, kind=0),)),),
    ),
    Refusal("a symbol defined twice", "DUPLICATE_SYMBOL", (GOOD, GOOD)),
    Refusal(
        "a name of the linker's", "RESERVED_SYMBOL", (_with(names=(Name("__relro_end", ".text"),)),)
    ),
    # Relocations
    Refusal("half a relocation", "MALFORMED", (edit_section(RELOCATED, ".rela.text", size=23),)),
    Refusal(
        "relocations of another size",
        "MALFORMED",
        (edit_section(RELOCATED, ".rela.text", entry_size=12),),
    ),
    Refusal(
        "relocations of no section", "MALFORMED", (edit_section(RELOCATED, ".rela.text", info=0),)
    ),
    Refusal(
        "relocations of a section too many",
        "MALFORMED",
        (edit_section(RELOCATED, ".rela.text", info=6),),
    ),
    Refusal(
        "relocations without symbols", "MALFORMED", (edit_section(RELOCATED, ".rela.text", link=1),)
    ),
    Refusal(
        "relocations of symbols outside",
        "MALFORMED",
        (edit_section(RELOCATED, ".rela.text", link=6),),
    ),
    Refusal("relocations twice", "MALFORMED", (_relocated_twice(),)),
    Refusal(
        "relocations of zeros",
        "MALFORMED",
        (_with(Part(".bss", 3, b"", 8, ((0, 1, "_start", 0),), NOBITS, size=8)),),
    ),
    Refusal(
        "a relocation of no symbol",
        "MALFORMED",
        (_patched(RELOCATED, section_offset(RELOCATED, ".rela.text") + 12, b"\2"),),
    ),
    Refusal("an unknown relocation", "UNKNOWN_RELOCATION", (_relocation(19),)),
    Refusal("the other machine's relocation", "UNKNOWN_RELOCATION", (_relocation(2, machine=ARM),)),
    Refusal(
        "an unknown relocation of debugging",
        "UNKNOWN_RELOCATION",
        (_with(Part(".debug_info", 0, bytes(8), 1, ((0, 3, "_start", 0),))),),
    ),
    Refusal("a relocation that ends outside", "RELOCATION_OUTSIDE_SECTION", (_relocation(2, 5),)),
    Refusal("a relocation far outside", "RELOCATION_OUTSIDE_SECTION", (_relocation(2, 1 << 63),)),
    Refusal(
        "a pointer that ends outside",
        "RELOCATION_OUTSIDE_SECTION",
        (_with(Part(".data", 3, bytes(15), 8, ((8, 1, "_start", 0),))),),
    ),
    Refusal(
        "a relocation against nothing", "RELOCATION_WITHOUT_TARGET", (_relocation(2, symbol=""),)
    ),
    Refusal(
        "a relocation against a file name",
        "RELOCATION_WITHOUT_TARGET",
        (
            build(
                [code(data=bytes(8), relocations=((0, 2, "f", 0),))],
                [START, Name("f", ABSOLUTE, 0, 0, LOCAL, 4)],
            ),
        ),
    ),
    Refusal(
        "a relocation of debugging against nothing",
        "RELOCATION_WITHOUT_TARGET",
        (_with(Part(".debug_info", 0, bytes(8), 1, ((0, 10, "", 0),))),),
    ),
    Refusal(
        "a slot for debugging information",
        "RELOCATION_WITHOUT_TARGET",
        (_with(Part(".debug_info", 0, bytes(8), 1, ((0, 9, "_start", 0),))),),
    ),
    Refusal(
        "a distance that does not fit",
        "VALUE_OUT_OF_RANGE",
        (build([code(data=bytes(4), relocations=((0, 2, "_start", 1 << 31),))], [START]),),
    ),
    Refusal(
        "a branch into the middle of an instruction",
        "MISALIGNED_VALUE",
        (build([code(ARM, bytes(4), relocations=((0, 283, "_start", 2),))], [START], ARM),),
    ),
    Refusal(
        "an instruction at an odd place",
        "MISALIGNED_INSTRUCTION",
        (_relocation(283, 2, machine=ARM),),
    ),
    Refusal("a 32-bit address in code", "NOT_POSITION_INDEPENDENT", (_relocation(10),)),
    Refusal("a signed 32-bit address in code", "NOT_POSITION_INDEPENDENT", (_relocation(11),)),
    Refusal(
        "a 32-bit address in AArch64 code",
        "NOT_POSITION_INDEPENDENT",
        (_relocation(258, machine=ARM),),
    ),
    Refusal("a pointer in code", "READ_ONLY_ADDRESS", (_relocation(1),)),
    Refusal(
        "a pointer in constants",
        "READ_ONLY_ADDRESS",
        (_with(Part(".rodata", ALLOC, bytes(8), 8, ((0, 1, "_start", 0),))),),
    ),
    Refusal(
        "a reference to debugging information",
        "DISCARDED_TARGET",
        (
            build(
                [
                    code(data=bytes(4), relocations=((0, 2, "d", 0),)),
                    Part(".debug_str", 0x30, b"d\0"),
                ],
                [START, Name("d", ".debug_str", 0, 0, LOCAL, DATA)],
            ),
        ),
    ),
    Refusal(
        "a reference to an empty section",
        "DISCARDED_TARGET",
        (
            build(
                [code(data=bytes(4), relocations=((0, 2, "d", 0),)), Part(".data", 3, b"")],
                [START, Name("d", ".data", 0, 0, LOCAL, DATA)],
            ),
        ),
    ),
    # Frames
    Refusal("a frame table cut short", "BAD_FRAME", (_frame(common_record() + bytes(4)),)),
    Refusal(
        "a frame table of half a header", "BAD_FRAME", (_frame(common_record() + b"\x08\0\0\0"),)
    ),
    Refusal("an end within the frames", "BAD_FRAME", (_frame(bytes(8) + common_record()),)),
    Refusal(
        "a common record that is too short",
        "BAD_FRAME",
        (_frame(struct.pack("<II", 7, 0) + bytes(3)),),
    ),
    Refusal("a 64-bit frame record", "BAD_FRAME", (_frame(b"\xff" * 4 + bytes(20)),)),
    Refusal(
        "a frame record that ends outside",
        "BAD_FRAME",
        (_frame(struct.pack("<II", 17, 0) + _cie()[8:]),),
    ),
    Refusal("a frame that ends outside", "BAD_FRAME", (_frame(_frame_of_parent(28, length=32)),)),
    Refusal(
        "a frame record too short for its pointers",
        "BAD_FRAME",
        (_frame(_frame_of_parent(28, length=12)),),
    ),
    Refusal(
        "a frame whose parent would lie before the table",
        "BAD_FRAME",
        (_frame(_frame_of_parent(29)),),
    ),
    Refusal("another version", "BAD_FRAME", (_frame(_cie(version=b"\4")),)),
    Refusal("another augmentation", "BAD_FRAME", (_frame(_cie(augmentation=b"zPLR\0")),)),
    Refusal("another pointer form", "BAD_FRAME", (_frame(_cie(pointer=b"\x03")),)),
    Refusal("more augmentation data", "BAD_FRAME", (_frame(_cie(size=b"\2")),)),
    Refusal(
        "an endless factor",
        "BAD_FRAME",
        (_frame(struct.pack("<II", 20, 0) + b"\x01zR\0" + b"\xff" * 12),),
    ),
    Refusal(
        "frames that would need padding",
        "BAD_FRAME",
        (_with(Part(".eh_frame", ALLOC, common_record(), 16)),),
    ),
    Refusal(
        "a pointer to nothing",
        "RELOCATION_WITHOUT_TARGET",
        (_with(Part(".data", 3, bytes(8), 8, ((0, 1, "", 0),))),),
    ),
    Refusal(
        "writable data of an unknown kind",
        "UNKNOWN_SECTION",
        (_with(Part(".data", 3, b"x", kind=7)),),
    ),
    Refusal(
        "an unloaded section to be left out",
        "UNKNOWN_SECTION",
        (_with(Part(".llvmbc", 0x80000000, b"x")),),
    ),
    Refusal(
        "frames of an unknown kind",
        "UNKNOWN_SECTION",
        (_with(Part(".eh_frame", ALLOC, common_record(), 8, kind=7)),),
    ),
]
LONG_FACTOR = _frame(_cie(data=b"\xf8\x7f"))
SHORTEST_FRAME = build(
    [code(), Part(".eh_frame", ALLOC, _frame_of_parent(28, length=13), 1, ((32, 2, "_start", 0),))],
    [Name("_start", ".text")],
)
WITH_FRAMES = build([code(), frames([1], ["_start"])], [START])

"""Objects to be refused for their headers, sections and symbols: the smallest change, and the name of the refusal."""

from __future__ import annotations

import struct

from targets.elf.hand_made import (
    ABSOLUTE,
    ALLOC,
    ARM,
    EXECUTE,
    LOCAL,
    NOBITS,
    UNDEFINED,
    WRITE,
    Name,
    Part,
    edit_header,
    edit_section,
    edit_symbol,
    section_numbers,
    section_offset,
)
from targets.elf.refusal import GOOD, GOOD_ARM, Refusal, patched, with_parts


def _two_symbol_tables() -> bytes:
    data = with_parts(Part(".symtab2", 0, bytes(24), kind=2, entry_size=24))
    return edit_section(data, ".symtab2", link=section_numbers(data)[".strtab"], info=1)


def _property(data: bytes) -> bytes:
    return with_parts(Part(".note.gnu.property", ALLOC, data, 8, kind=7))


_PROPERTY = struct.pack("<III4sIIII", 4, 16, 5, b"GNU\0", 0xC0000002, 4, 3, 0)

FILE_REFUSALS = [
    # The command
    Refusal("nothing", "NO_OBJECTS", ()),
    Refusal("an object of another machine", "OTHER_MACHINE", (GOOD, GOOD_ARM)),
    Refusal("objects of one machine for another host", "OTHER_MACHINE", (GOOD,), {"machine": ARM}),
    Refusal("no entry", "NO_ENTRY", (GOOD,), {"entry": "main"}),
    Refusal(
        "an entry that is data",
        "NO_ENTRY",
        (with_parts(Part(".data", 3, b"x"), names=(Name("d", ".data"),)),),
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
        (patched(GOOD, section_offset(GOOD, ".shstrtab") + 2, b"\xff"),),
    ),
    Refusal("an alignment of three", "BAD_ALIGNMENT", (edit_section(GOOD, ".text", align=3),)),
    Refusal(
        "a huge alignment",
        "BAD_ALIGNMENT",
        (with_parts(Part(".debug_str", 0x30, b"x\0", 1 << 17, entry_size=1)),),
    ),
    Refusal(
        "an alignment beyond the page",
        "BAD_ALIGNMENT",
        (edit_section(GOOD, ".text", align=1 << 13),),
    ),
    Refusal(
        "a section of 2 GiB",
        "TOO_LARGE",
        (with_parts(Part(".bss", 3, b"", kind=NOBITS, size=1 << 31)),),
    ),
    Refusal("an address in an object", "MALFORMED", (edit_section(GOOD, ".text", address=64),)),
    Refusal(
        "a large section",
        "LARGE_CODE_MODEL",
        (with_parts(Part(".lrodata", ALLOC | 0x10000000, b"x")),),
    ),
    Refusal(
        "an executable stack",
        "EXECUTABLE_STACK",
        (with_parts(Part(".note.GNU-stack", EXECUTE, b"")),),
    ),
    Refusal(
        "writable code",
        "WRITABLE_CODE",
        (with_parts(Part(".wx", ALLOC | WRITE | EXECUTE, b"\xc3")),),
    ),
    Refusal(
        "a constructor", "CONSTRUCTOR", (with_parts(Part(".init_array", 3, bytes(8), kind=14)),)
    ),
    Refusal(
        "a destructor", "CONSTRUCTOR", (with_parts(Part(".fini_array", 3, bytes(8), kind=15)),)
    ),
    Refusal(
        "an early constructor",
        "CONSTRUCTOR",
        (with_parts(Part(".preinit_array", 3, bytes(8), kind=16)),),
    ),
    Refusal("an old constructor", "CONSTRUCTOR", (with_parts(Part(".ctors", 3, bytes(8))),)),
    Refusal("an old destructor", "CONSTRUCTOR", (with_parts(Part(".dtors.65535", 3, bytes(8))),)),
    Refusal("a group", "SECTION_GROUP", (with_parts(Part(".group", 0, bytes(4), kind=17)),)),
    Refusal(
        "a member of a group",
        "SECTION_GROUP",
        (with_parts(Part(".text.f", ALLOC | EXECUTE | 0x200, b"\xc3")),),
    ),
    Refusal(
        "a thread-local section", "THREAD_LOCAL", (with_parts(Part(".tdata", 3 | 0x400, b"x")),)
    ),
    Refusal("a compressed section", "COMPRESSED", (with_parts(Part(".debug_info", 0x800, b"x")),)),
    Refusal(
        "relocations without addends",
        "IMPLICIT_ADDENDS",
        (with_parts(Part(".rel.text", 0, bytes(16), kind=9)),),
    ),
    Refusal(
        "an unknown note",
        "UNKNOWN_SECTION",
        (with_parts(Part(".note.vendor", ALLOC, b"x", kind=7)),),
    ),
    Refusal(
        "an unknown unloaded section", "UNKNOWN_SECTION", (with_parts(Part(".stab", 0, b"x")),)
    ),
    Refusal(
        "read-only zeros",
        "UNKNOWN_SECTION",
        (with_parts(Part(".zeros", ALLOC, b"", kind=NOBITS, size=8)),),
    ),
    Refusal(
        "executable zeros",
        "UNKNOWN_SECTION",
        (with_parts(Part(".zeros", ALLOC | EXECUTE, b"", kind=NOBITS, size=8)),),
    ),
    Refusal(
        "an unknown kind of section",
        "UNKNOWN_SECTION",
        (with_parts(Part(".odd", ALLOC, b"x", kind=0x60000001)),),
    ),
    Refusal(
        "zeros as debugging information",
        "UNKNOWN_SECTION",
        (with_parts(Part(".debug_x", 0, b"", kind=NOBITS, size=8)),),
    ),
    Refusal("a property note cut short", "MALFORMED", (_property(_PROPERTY[:12]),)),
    Refusal(
        "a property note of another vendor",
        "MALFORMED",
        (_property(_PROPERTY.replace(b"GNU", b"XYZ")),),
    ),
    Refusal(
        "a property beyond its note", "MALFORMED", (_property(patched(_PROPERTY, 20, b"\x40")),)
    ),
    Refusal(
        "a property of half a header",
        "MALFORMED",
        (_property(patched(_PROPERTY[:20], 4, b"\x04")),),
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
    Refusal("a weak symbol", "WEAK_SYMBOL", (with_parts(names=(Name("w", ".text", binding=2),)),)),
    Refusal(
        "a weak reference", "WEAK_SYMBOL", (with_parts(names=(Name("w", UNDEFINED, binding=2),)),)
    ),
    Refusal(
        "a unique symbol", "UNKNOWN_SYMBOL", (with_parts(names=(Name("u", ".text", binding=10),)),)
    ),
    Refusal(
        "a symbol of unknown type",
        "UNKNOWN_SYMBOL",
        (with_parts(names=(Name("u", ".text", kind=7),)),),
    ),
    Refusal(
        "a thread-local symbol", "THREAD_LOCAL", (with_parts(names=(Name("t", ".text", kind=6),)),)
    ),
    Refusal(
        "an indirect function",
        "INDIRECT_FUNCTION",
        (with_parts(names=(Name("i", ".text", kind=10),)),),
    ),
    Refusal("a common symbol", "COMMON_SYMBOL", (edit_symbol(GOOD, 1, section=0xFFF2),)),
    Refusal(
        "an absolute symbol",
        "ABSOLUTE_SYMBOL",
        (with_parts(names=(Name("a", ABSOLUTE, 5, kind=0),)),),
    ),
    Refusal(
        "a file name in a section",
        "ABSOLUTE_SYMBOL",
        (with_parts(names=(Name("f", ".text", 0, 0, LOCAL, 4),)),),
    ),
    Refusal(
        "an undefined symbol",
        "UNDEFINED_SYMBOL",
        (with_parts(names=(Name("memcpy", UNDEFINED, kind=0),)),),
    ),
    Refusal("a symbol defined twice", "DUPLICATE_SYMBOL", (GOOD, GOOD)),
    Refusal(
        "a name of the linker's",
        "RESERVED_SYMBOL",
        (with_parts(names=(Name("__relro_end", ".text"),)),),
    ),
]

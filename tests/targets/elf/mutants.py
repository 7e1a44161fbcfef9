"""Bugs to seed into the linker: module, what stands there, what would be wrong."""

from __future__ import annotations

MUTANTS = [
    # Relocation arithmetic
    ("reloc", "number = (value >> 12) - (place >> 12)", "number = (value - place) >> 12"),
    ("reloc", "number = value & 0xFFF", "number = value - place & 0xFFF"),
    ("reloc", "number = value - place", "number = value - place + 4"),
    ("reloc", "if not row.low <= number < row.high:", "if not row.low <= number <= row.high:"),
    ("reloc", "if not row.low <= number < row.high:", "if number >= row.high:"),
    ("reloc", "if place & 3:", "if False:"),
    ("reloc", "if number & (1 << row.scale) - 1:", "if False:"),
    ("reloc", "word & ~0x60FFFFE0", "word & ~0x60FFFFC0"),
    ("reloc", "(number >> 2 & 0x7FFFF) << 5", "(number >> 2 & 0x3FFFF) << 5"),
    ("reloc", "word & ~(mask << field.lowest)", "word"),
    ("reloc", '286: _low12("LDST64_ABS_LO12_NC", 3)', '286: _low12("LDST64_ABS_LO12_NC", 2)'),
    ("reloc", "reach = 1 << bits - 1 + scale", "reach = 1 << bits + scale"),
    (
        "reloc",
        '10: _data("32", ABSOLUTE, 4, signed=False)',
        '10: _data("32", ABSOLUTE, 4, signed=True)',
    ),
    (
        "reloc",
        '11: _data("32S", ABSOLUTE, 4, signed=True)',
        '11: _data("32S", ABSOLUTE, 4, signed=False)',
    ),
    (
        "reloc",
        'IMM19: Final = Field("bits 23:5", 19, 5)',
        'IMM19: Final = Field("bits 23:5", 18, 5)',
    ),
    # The reader
    ("read", "if offset + size > len(data):", "if offset > len(data):"),
    ("read", "if end < 0:", "if False:"),
    ("read", "header.align > LARGEST_ALIGNMENT", "False"),
    ("read", "if symbol.binding == form.STB_WEAK:", "if False:"),
    ("read", "if symbol.section >= len(headers):", "if symbol.section > len(headers):"),
    ("read", "symbol.value + symbol.size > headers", "symbol.value > headers"),
    ("read", "if flags & writable_code == writable_code:", "if False:"),
    ("read", "if header.size and (header.kind in _CONSTRUCTOR_KINDS or legacy):", "if False:"),
    ("read", "header.info in found", "False"),
    (
        "read",
        "if any(row[2] >= symbol_count for row in rows):",
        "if any(row[2] > symbol_count for row in rows):",
    ),
    # Names
    ("resolve", "if symbol.name in found:", "if False:"),
    (
        "resolve",
        "if symbol.name in RESERVED:\n                raise",
        "if False:\n                raise",
    ),
    ("resolve", "if symbol.binding == form.STB_LOCAL or symbol", "if symbol"),
    ("resolve", "or not start.section.flags & form.SHF_EXECINSTR", ""),
    (
        "resolve",
        "return Place(owner.sections[symbol.section], symbol.value)",
        "return Place(owner.sections[symbol.section], 0)",
    ),
    # Collecting
    ("collect", "if row.width < 8:", "if False:"),
    ("collect", "if segment not in (Segment.RELRO, Segment.RW):", "if False:"),
    ("collect", "slots.setdefault(target, len(slots))", "slots[target] = len(slots)"),
    ("collect", "at = align_up(size, section.align)", "at = size"),
    ("collect", "size += len(frames.TERMINATOR)", "size += 0"),
    ("collect", '".data.rel.ro": Segment.RELRO', '".data.rel.ro": Segment.RW'),
    ("collect", "size = tags * form.DYNAMIC_TAG.size", "size = (tags + 1) * form.DYNAMIC_TAG.size"),
    # Layout
    (
        "layout",
        "start = align_up(address, page) + begin % page",
        "start = align_up(address, 16) + begin % 16",
    ),
    ("layout", "if Segment.RELRO in (segment, before) else", "if segment is Segment.RELRO else"),
    ("layout", "address = align_up(address, page)\n        permissions", "permissions"),
    ("layout", "if address > LARGEST_IMAGE:", "if False:"),
    ("layout", "if output.align > page:", "if False:"),
    (
        "layout",
        "Segment.RX: form.PF_R | form.PF_X",
        "Segment.RX: form.PF_R | form.PF_W | form.PF_X",
    ),
    ("layout", "relro.address + relro.memory_size", "relro.address + relro.file_size"),
    ("layout", "manifest + DIGEST_SIZE", "manifest"),
    # Filling
    ("fill", "if end > size:", "if offset > size:"),
    ("fill", "base + offset, value + addend)", "base, value + addend)"),
    ("fill", "base + offset, value + addend)", "base + offset, value)"),
    ("fill", "if loaded and row.formula is ABSOLUTE:", "if False:"),
    ("fill", "for place, value in sorted(rows))", "for place, value in rows)"),
    (
        "fill",
        "layout.address(collection, each.target) + each.addend",
        "layout.address(collection, each.target)",
    ),
    ("fill", "if output.segment is Segment.RX else", "if False else"),
    ("frames", "rows.sort()", "rows.reverse()"),
    ("frames", "parent > at + 4 or", ""),
    ("frames", 'if record[:4] != b"\\x01zR\\0":', "if False:"),
    ("notes", "features &= _declared", "features |= _declared"),
    # Writing
    ("write", "(local if symbol.binding == form.STB_LOCAL else other)", "local"),
    ("write", "enumerate(entries, 1)", "enumerate(entries)"),
    ("write", "parts[manifest] = _sha256(parts)", "parts[manifest] = bytes(32)"),
    # The re-reader must be as sharp
    ("verify", "load.address - load.address % page >= end", "True"),
    ("verify", "(load.address - load.offset) % page == 0", "True"),
    ("verify", 'need(inside, f"{section.name} is outside RELRO")', "pass"),
    ("verify", "need(not sealed, ", "need(True, "),
    ("verify", "load.flags in (4, 5, 6)", "load.flags in (4, 5, 6, 7)"),
    ("verify", 'image.loaded(entry, EXECUTE), f"{entry:#x} is not code"', 'True, ""'),
    ("verify", 'image.loaded(place, WRITE), "{} is not writable"', "True, ''"),
    ("verify", "listed == [(start, frame) for start, _, frame in stated]", "True"),
    ("verify", "need(before[1] <= after[0]", "need(True"),
    ("verify", "[(manifest.offset, 32)]) == stated", "[(manifest.offset, 32)]) != b''"),
]

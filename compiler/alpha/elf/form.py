"""The numbers of the ELF format that the reader and the writer share, under the names of the System V ABI.

Source: System V ABI, chapters 4 and 5; the processor supplements for x86-64 and AArch64.
`verify.py` repeats the few it needs, so that a wrong number here cannot hide itself.
"""

from __future__ import annotations

import struct
from typing import Final

FILE_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
PROGRAM_HEADER: Final = struct.Struct("<IIQQQQQQ")
SECTION_HEADER: Final = struct.Struct("<IIQQQQIIQQ")
SYMBOL: Final = struct.Struct("<IBBHQQ")
RELA: Final = struct.Struct("<QQq")
# The halves of r_info read apart: offset, type, symbol, addend.
RELA_PARTS: Final = struct.Struct("<QIIq")
DYNAMIC_TAG: Final = struct.Struct("<QQ")

MAGIC: Final = b"\x7fELF\x02\x01\x01"
ET_REL: Final = 1
ET_DYN: Final = 3
EM_X86_64: Final = 62
EM_AARCH64: Final = 183

SHT_NULL: Final = 0
SHT_PROGBITS: Final = 1
SHT_SYMTAB: Final = 2
SHT_STRTAB: Final = 3
SHT_RELA: Final = 4
SHT_DYNAMIC: Final = 6
SHT_NOTE: Final = 7
SHT_NOBITS: Final = 8
SHT_REL: Final = 9
SHT_DYNSYM: Final = 11
SHT_INIT_ARRAY: Final = 14
SHT_FINI_ARRAY: Final = 15
SHT_PREINIT_ARRAY: Final = 16
SHT_GROUP: Final = 17
SHT_GNU_HASH: Final = 0x6FFFFFF6
SHT_LLVM_ADDRSIG: Final = 0x6FFF4C03
SHT_X86_64_UNWIND: Final = 0x70000001
SHT_AARCH64_ATTRIBUTES: Final = 0x70000003

SHF_WRITE: Final = 0x1
SHF_ALLOC: Final = 0x2
SHF_EXECINSTR: Final = 0x4
SHF_MERGE: Final = 0x10
SHF_STRINGS: Final = 0x20
SHF_GROUP: Final = 0x200
SHF_TLS: Final = 0x400
SHF_COMPRESSED: Final = 0x800
SHF_X86_64_LARGE: Final = 0x10000000

SHN_UNDEF: Final = 0
SHN_LORESERVE: Final = 0xFF00
SHN_ABS: Final = 0xFFF1
SHN_COMMON: Final = 0xFFF2

STB_LOCAL: Final = 0
STB_GLOBAL: Final = 1
STB_WEAK: Final = 2
STT_NOTYPE: Final = 0
STT_OBJECT: Final = 1
STT_FUNC: Final = 2
STT_SECTION: Final = 3
STT_FILE: Final = 4
STT_TLS: Final = 6
STT_GNU_IFUNC: Final = 10
STV_HIDDEN: Final = 2

PT_LOAD: Final = 1
PT_DYNAMIC: Final = 2
PT_NOTE: Final = 4
PT_GNU_EH_FRAME: Final = 0x6474E550
PT_GNU_STACK: Final = 0x6474E551
PT_GNU_RELRO: Final = 0x6474E552
PT_GNU_PROPERTY: Final = 0x6474E553
PF_X: Final = 1
PF_W: Final = 2
PF_R: Final = 4

DT_NULL: Final = 0
DT_STRTAB: Final = 5
DT_SYMTAB: Final = 6
DT_RELA: Final = 7
DT_RELASZ: Final = 8
DT_RELAENT: Final = 9
DT_STRSZ: Final = 10
DT_SYMENT: Final = 11
DT_SONAME: Final = 14
DT_FLAGS: Final = 30
DT_RELACOUNT: Final = 0x6FFFFFF9
DT_FLAGS_1: Final = 0x6FFFFFFB
DT_GNU_HASH: Final = 0x6FFFFEF5
DF_BIND_NOW: Final = 8
DF_1_NOW: Final = 1
DF_1_PIE: Final = 0x08000000

R_RELATIVE: Final = {EM_X86_64: 8, EM_AARCH64: 1027}
# The property of .note.gnu.property that says which branch protections the code keeps to.
FEATURE_PROPERTY: Final = {EM_X86_64: 0xC0000002, EM_AARCH64: 0xC0000000}


def align_up(value: int, alignment: int) -> int:
    """The least multiple of `alignment` (a power of two) that is not below `value`."""
    return (value + alignment - 1) & -alignment

"""Why the linker refuses: one name a reason.

The linker's only inputs are objects that Alpha's own worker made and the pinned stubs, so for a user every one of
these is an internal error (exit status 70). They are still named one by one, because the alternative to a refusal is
a file that runs and is wrong.
"""

from __future__ import annotations

from enum import Enum


class Fault(Enum):
    """A reason to refuse; the value is the sentence that the message shows."""

    NO_OBJECTS = "there is nothing to link"
    NOT_AN_OBJECT = "not a 64-bit little-endian relocatable ELF object"
    SAME_NAME = "two objects have one name"
    OTHER_MACHINE = "made for another machine"
    OUTSIDE_FILE = "lies outside the file"
    MALFORMED = "is malformed"
    BAD_NAME = "has a malformed name"
    BAD_ALIGNMENT = "has an alignment that is not supported"
    TOO_LARGE = "exceeds the 2 GiB of the small code model"

    LARGE_CODE_MODEL = "was made for the large code model"
    EXECUTABLE_STACK = "asks for an executable stack"
    WRITABLE_CODE = "is writable and executable"
    CONSTRUCTOR = "constructors and destructors are not supported"
    SECTION_GROUP = "section groups (COMDAT) are not supported"
    THREAD_LOCAL = "thread-local storage is not supported"
    COMPRESSED = "compressed sections are not supported"
    IMPLICIT_ADDENDS = "relocations without addends (REL) are not supported"
    UNKNOWN_SECTION = "is of a kind that is not supported"

    COMMON_SYMBOL = "common symbols are not supported"
    ABSOLUTE_SYMBOL = "absolute symbols are not supported"
    WEAK_SYMBOL = "weak symbols are not supported"
    INDIRECT_FUNCTION = "indirect functions (IFUNC) are not supported"
    UNKNOWN_SYMBOL = "is a symbol of a kind that is not supported"
    UNDEFINED_SYMBOL = "is not defined"
    DUPLICATE_SYMBOL = "is defined twice"
    RESERVED_SYMBOL = "is a name that only the linker defines"
    NO_ENTRY = "the entry is not a defined function"

    UNKNOWN_RELOCATION = "is a relocation type that is not supported"
    RELOCATION_OUTSIDE_SECTION = "the relocated bytes lie outside the section"
    RELOCATION_WITHOUT_TARGET = "the relocation names no place"
    VALUE_OUT_OF_RANGE = "the value does not fit the relocated field"
    MISALIGNED_VALUE = "the value is not a multiple of the field's unit"
    MISALIGNED_INSTRUCTION = "the instruction is not at a multiple of 4"
    NOT_POSITION_INDEPENDENT = (
        "an absolute address of fewer than 64 bits in a position-independent file"
    )
    READ_ONLY_ADDRESS = "an absolute address in a section that is read-only at start"
    DISCARDED_TARGET = "refers to a section that is not kept"
    BAD_FRAME = "holds a frame record that is not supported"

    BROKEN_IMAGE = "the linked image breaks a law"


class LinkError(Exception):
    """A refusal: its name, where (object, section, symbol or offset) and what was met there."""

    def __init__(self, fault: Fault, where: str, detail: str = "") -> None:
        super().__init__(f"{where}: {fault.value}" + (f": {detail}" if detail else ""))
        self.fault = fault
        self.where = where
        self.detail = detail

    def at(self, where: str) -> LinkError:
        """The same refusal, seen from further out."""
        return LinkError(self.fault, f"{where}: {self.where}", self.detail)

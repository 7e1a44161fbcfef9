"""What a linker must do on objects made by hand. Each check takes the linker, real or mutated, as its argument."""

from __future__ import annotations

from targets.elf.file_refusals import FILE_REFUSALS
from targets.elf.hand_made import ARM, X86
from targets.elf.linker_under_test import Linker
from targets.elf.place_checks import PLACE_CHECKS
from targets.elf.refusal import Refusal
from targets.elf.relocation_refusals import RELOCATION_REFUSALS
from targets.elf.relocation_table import Case
from targets.elf.table_checks import TABLE_CHECKS

CHECKS = (*PLACE_CHECKS, *TABLE_CHECKS)
REFUSALS = (*FILE_REFUSALS, *RELOCATION_REFUSALS)


def check_relocation(elf: Linker, case: Case) -> None:
    reloc = elf.modules["reloc"]
    row = reloc.TABLE[case.machine][case.kind]
    before = bytes.fromhex(case.before)[: row.width]
    after: list[bytes] = []
    fault = elf.fault(lambda: after.append(reloc.apply(row, before, case.place, case.value)))
    assert (after[0].hex() if after else fault) == case.after
    assert row.got == case.got


def check_refusal(elf: Linker, case: Refusal) -> None:
    for_arm = bool(case.objects) and case.objects[0][18:20] == b"\xb7\0"
    options = {"machine": ARM if for_arm else X86} | case.options
    fault = elf.fault(lambda: elf.link(*case.objects, **options))
    assert fault == case.fault, fault

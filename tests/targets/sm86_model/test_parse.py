"""The parser takes the printed subset and names the line of whatever else there is."""

from __future__ import annotations

import pytest

from alpha.targets.nvidia.forms import FORMS as EMITTED
from checked.sm86 import Malformed, parse
from checked.sm86.forms import FORMS, Slot
from targets.sm86_model.kernel_text import contraction, entry, module, one

TEXT = """\
.version 7.1
.target sm_86
.address_size 64

.visible .entry k0_add(
	.param .u64 b0,
	.param .u64 b1
)
.reqntid 64, 1, 1
.maxnreg 40
{
	.reg .pred %p<2>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.reg .f32 %f<5>;
	.shared .align 16 .b8 smem[64];
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %tid.x;
	mad.lo.s32 %r2, %r0, 64, %r1;
	setp.ge.u32 %p0, %r2, 100;
	@%p0 bra L1;
	ld.param.u64 %rd0, [b0];
	ld.param.u64 %rd1, [b1];
	mad.wide.s32 %rd0, %r2, 16, %rd0;
	ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0+-16];
	fma.rn.f32 %f4, %f0, %f1, 0f3F800000;
	st.global.f32 [%rd1+4], %f4;
	mov.u32 %r1, smem;
	shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1;
	bar.sync 0;
L1:
	ret;
}
"""

DAMAGE = [
    (".version 7.1", ".version 8.0"),
    (".version 7.1", ".version 7.8"),
    (".target sm_86", ".target sm_90"),
    (".target sm_86", ".target sm_89"),
    (".address_size 64", ".address_size 32"),
    (".visible .entry k0_add(", ".entry k0_add("),
    (".visible .entry k0_add(", ".visible .entry K0(\t"),
    ("\t.param .u64 b1", "\t.param .u32 b1"),
    ("\t.param .u64 b1", "\t.param .u64 b2"),
    (".reqntid 64, 1, 1", ".reqntid 64, 2, 1"),
    (".reqntid 64, 1, 1", ".maxntid 64, 1, 1"),
    (".maxnreg 40", ".minnctapersm 2"),
    ("\t.reg .b32 %r<3>;", "\t.reg .s32 %r<3>;"),
    ("\t.reg .b32 %r<3>;", "\t.reg .b32 %r<2>;"),
    ("\t.reg .b64 %rd<3>;", "\t.reg .b32 %r<3>;"),
    ("\t.shared .align 16 .b8 smem[64];", "\t.shared .align 4 .b8 smem[64];"),
    ("\t.shared .align 16 .b8 smem[64];", "\t.local .align 16 .b8 smem[64];"),
    ("\tmov.u32 %r0, %ctaid.x;", "\tmov.u32 %r0, %ntid.x;"),
    ("\tmov.u32 %r0, %ctaid.x;", "\tmov.u32 %r0, %ctaid.x"),
    ("\tmov.u32 %r0, %ctaid.x;", "mov.u32 %r0, %ctaid.x;"),
    ("\tmov.u32 %r0, %ctaid.x;", "\tmov.u32 %r0,%ctaid.x;"),
    ("\tmov.u32 %r0, %ctaid.x;", "\tmov.u32 %r0, %ctaid.x; ret;"),
    ("\tmov.u32 %r0, %ctaid.x;", "\tmov.u32 %f0, %ctaid.x;"),
    ("\tmov.u32 %r0, %ctaid.x;", "\tmov.u32 %r0, %ctaid.x; // the block"),
    ("%r2, %r0, 64, %r1;", "%r2, %r0, 64;"),
    ("%r2, %r0, 64, %r1;", "%r2, %r0, 0x40, %r1;"),
    ("%r2, %r0, 64, %r1;", "%r2, %r0, 4294967296, %r1;"),
    ("%r2, %r0, 64, %r1;", "%r2, %r0, 064, %r1;"),
    ("%r2, %r0, 64, %r1;", "%r2, %r0, 64, %r01;"),
    ("\tsetp.ge.u32 %p0, %r2, 100;", "\tsetp.hs.u32 %p0, %r2, 100;"),
    ("\tsetp.ge.u32 %p0, %r2, 100;", "\tsetp.ge.u32 %r1, %r2, 100;"),
    ("\tsetp.ge.u32 %p0, %r2, 100;", "\t@%p0 setp.ge.u32 %p0, %r2, 100;"),
    ("\t@%p0 bra L1;", "\t@%p0 bra L2;"),
    ("\t@%p0 bra L1;", "\t@%p5 bra L1;"),
    ("\t@%p0 bra L1;", "\t@%r0 bra L1;"),
    ("[b1];", "[b2];"),
    ("[b1];", "[b1+4];"),
    ("{%f0, %f1, %f2, %f3}", "{%f0, %f1}"),
    ("{%f0, %f1, %f2, %f3}", "%f0, %f1, %f2, %f3"),
    ("{%f0, %f1, %f2, %f3}", "{%f0, %f1, %f2, %r1}"),
    ("[%rd0+-16]", "[%rd0-16]"),
    ("[%rd0+-16]", "[%r0+16]"),
    ("[%rd0+-16]", "[%rd0+%r1]"),
    ("fma.rn.f32", "fma.f32"),
    ("fma.rn.f32", "fma.rn.ftz.f32"),
    ("fma.rn.f32", "fma.rz.f32"),
    ("0f3F800000", "0f3F80000"),
    ("0f3F800000", "1.0"),
    ("0f3F800000", "0d3FF0000000000000"),
    ("16, 31, -1", "16, 0, -1"),
    ("16, 31, -1", "16, 31, 65535"),
    ("bar.sync 0", "bar.sync 1"),
    ("\tbar.sync 0;", "\tex2.approx.f32 %f0, %f1;"),
    ("\tbar.sync 0;", "\twgmma.fence.sync.aligned;"),
    ("\tbar.sync 0;", "\tatom.global.add.f32 %f0, [%rd0], %f1;"),
    ("\tbar.sync 0;", "\tld.local.f32 %f0, [%rd0];"),
    ("\tbar.sync 0;", "\tcall f;"),
    ("\tbar.sync 0;", "L1:"),
    ("L1:", "exit:"),
    ("\tret;\n", "\tbar.sync 0;\n"),
    ("\tret;\n", "\tret;\nL2:\n"),
]


def test_the_subset_is_read() -> None:
    text = parse(TEXT)
    (name,) = text.entries
    assert (text.target, name) == ("sm_86", "k0_add")
    found = text.entries[name]
    assert (found.threads, found.registers, found.shared) == (64, 40, 64)
    assert (found.parameters, found.labels) == (("b0", "b1"), {"L1": 14})
    assert [item.line for item in found.body] == [*range(17, 31), 32]
    assert parse(TEXT.replace("7.1", "7.8").replace("sm_86", "sm_89")).target == "sm_89"


@pytest.mark.parametrize(("old", "new"), DAMAGE, ids=range(len(DAMAGE)))
def test_damage_is_refused_with_its_line(old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    damaged = TEXT.replace(old, new)
    with pytest.raises(Malformed) as raised:
        parse(damaged)
    lines = TEXT.split("\n"), damaged.split("\n")
    first = next(
        number for number, pair in enumerate(zip(*lines, strict=False), 1) if pair[0] != pair[1]
    )
    # A damaged declaration shows where it is used, and a damaged name or end on the line behind it.
    wanted = {2} if "version 7.8" in new else {first, first + 1}
    if "r<2>" in new:
        wanted = {19}
    assert raised.value.line in wanted, raised.value


@pytest.mark.parametrize("line", range(1, 34))
def test_a_line_that_is_left_out_is_missed(line: int) -> None:
    """But for those that a shorter kernel may do without."""
    lines = TEXT.split("\n")
    dispensable = {4, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30}
    shorter = "\n".join(lines[: line - 1] + lines[line:])
    if line in dispensable:
        parse(shorter)
        return
    with pytest.raises(Malformed):
        parse(shorter)


def test_two_entries_of_one_name() -> None:
    with pytest.raises(Malformed, match="two entries"):
        parse(module(entry(["ret"]), entry(["ret"])))
    assert list(parse(module(entry(["ret"], name="a"), entry(["ret"], name="b"))).entries) == [
        "a",
        "b",
    ]


def test_a_larger_kernel_is_read() -> None:
    assert len(parse(contraction(256, 256)).entries["k"].body) > 1500


# ---- the table


def words(slot: Slot) -> set[str]:
    """A slot in the letters of the emitter's table."""
    if slot.place in ("global", "shared"):
        return {"A"}
    if slot.place == "label":
        return {"L"}
    if slot.place == "parameter":
        return {"B"}
    if slot.place == "exactly":
        return {"i"}
    count = str(slot.lanes) if slot.lanes > 1 else ""
    found = {count + letter.upper() for letter in slot.classes}
    if slot.immediate:
        found |= {{"f": "x", "g": "y"}.get(slot.classes, "i")}
    return found | ({"S", "N"} if slot.special else set())


def emitted(word: str) -> set[str]:
    return {word} if word[0] in "24" else set(word)


def test_the_table_is_the_emitters() -> None:
    """Two tables, written apart, of one subset."""
    assert set(FORMS) == set(EMITTED)
    for name, form in FORMS.items():
        assert [words(slot) for slot in form.slots] == [emitted(word) for word in EMITTED[name]], (
            name
        )


def test_a_shared_array_needs_to_be_declared() -> None:
    with pytest.raises(Malformed, match="smem"):
        parse(one(["mov.u32 %r0, smem", "ret"]))


@pytest.mark.parametrize("line", ["mov.b32 %r0, %r1", "mov.b32 %f0, %f1", "mov.b64 %rd0, %rd1"])
def test_moves_of_bits_change_the_class(line: str) -> None:
    with pytest.raises(Malformed, match="one class"):
        parse(one([line, "ret"]))

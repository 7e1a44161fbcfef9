"""A module and its text say the same, and no other text is read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.targets.nvidia.errors import Damaged
from alpha.targets.nvidia.ptx import Module
from alpha.targets.nvidia.read import from_text
from alpha.targets.nvidia.text import to_text
from alpha.targets.nvidia.verify import verify
from targets.nvidia.modules import every_form, modules

TEXT = """\
.version 7.1
.target sm_86
.address_size 64

.visible .entry k0_add(
	.param .u64 b0,
	.param .u64 b1
)
.reqntid 256, 1, 1
.maxnreg 40
{
	.reg .pred %p<1>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.reg .f32 %f<4>;
	.shared .align 16 .b8 smem[1024];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, smem;
	setp.ge.s32 %p0, %r0, 100;
	@%p0 bra L1;
	ld.param.u64 %rd0, [b0];
	ld.param.u64 %rd1, [b1];
	mad.wide.s32 %rd2, %r0, 16, %rd1;
	ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%rd2+16];
	fma.rn.f32 %f0, %f1, 0f3F800000, %f2;
	mad.lo.s32 %r2, %r0, 4, %r1;
	st.shared.f32 [%r2+-4], %f0;
	st.global.f32 [%rd0], %f3;
L1:
	bar.sync 0;
	ret;
}
"""


def test_a_text_is_read_and_printed_alike() -> None:
    module = from_text(TEXT)
    (entry,) = module.entries
    assert (entry.name, entry.parameters, entry.threads) == ("k0_add", 2, 256)
    assert (entry.registers, entry.shared, len(entry.body)) == (40, 1024, 15)
    assert to_text(module) == TEXT


def test_a_module_without_entries_is_three_lines() -> None:
    assert from_text(to_text(Module("sm_86", ()))) == Module("sm_86", ())


def test_every_form_is_read() -> None:
    assert from_text(to_text(every_form())) == every_form()


@pytest.mark.slow
@settings(max_examples=60)
@given(modules())
def test_reading_what_is_printed_gives_the_module(module: Module) -> None:
    verify(module)
    assert from_text(to_text(module)) == module


DAMAGE = [
    (".version 7.1", ".version 7.2", "`.version 7.1` is expected here"),
    (".target sm_86", ".target sm_90", "`sm_90` is no architecture that Alpha emits for"),
    (".target sm_86", ".target sm_89", "`.version 7.8` is expected here"),
    (".address_size 64", ".address_size 32", "`.address_size 64` is expected here"),
    ("k0_add(", "K0_add(", "`K0_add` is no name of an entry"),
    ("\t.param .u64 b1", "\t.param .u64 b2", "the parameter `b1` is expected here"),
    ("\t.param .u64 b1", "\t.param .u32 b1", "`)` is expected here"),
    (".reqntid 256, 1, 1", ".reqntid 256, 2, 1", "`.reqntid` with three numbers is expected here"),
    (".reqntid 256, 1, 1", ".maxntid 256, 1, 1", "`.reqntid` with three numbers is expected here"),
    (".reqntid 256,", ".reqntid 250,", "250 threads are no whole warps up to 1024 threads"),
    (".maxnreg 40", ".maxnreg 256", "a thread has 1 to 255 registers, not 256"),
    (".maxnreg 40", ".minnctapersm 1", "`.maxnreg` with a number is expected here"),
    ("%r<3>;", "%r<4>;", "`.reg .b32 %r<3>;` is expected here"),
    ("\t.reg .f32 %f<4>;\n", "", "`.reg .f32 %f<4>;` is expected here"),
    ("smem[1024]", "smem[49153]", "a block has at most 49152 shared bytes, not 49153"),
    ("\t.shared .align 16 .b8 smem[1024];\n", "", "the entry has no shared array"),
    ("%r0, %tid.x;", "%r0, %ntid.x;", "`%ntid.x` is no operand 2 of `mov.u32`"),
    ("%r0, %tid.x;", "%r0, %laneid;", "`%laneid` is no operand 2 of `mov.u32`"),
    ("%r0, %tid.x;", "%r0, %tid.x", "this is no instruction"),
    ("%r0, %tid.x;", "%r0,  %tid.x;", "`mov.u32 %r0, %tid.x;` is expected here"),
    ("\tmov.u32 %r0, %tid.x;", "    mov.u32 %r0, %tid.x;", "this is no instruction"),
    ("%p0, %r0, 100;", "%p0, %r0, 0100;", "`setp.ge.s32 %p0, %r0, 100;` is expected here"),
    ("%p0, %r0, 100;", "%p0, %r0;", "`setp.ge.s32` has 3 operands, not 2"),
    ("%p0, %r0, 100;", "%p0, %f0, 100;", "`%f0` is no operand 2 of `setp.ge.s32`"),
    ("%p0, %r0, 100;", "%p0, %r0, 4294967296;", "4294967296 does not fit 32 bits"),
    ("@%p0 bra L1;", "@%r0 bra L1;", "%r0 is no predicate"),
    ("@%p0 bra L1;", "@%p0 bra L2;", "there is no label `L2`"),
    ("@%p0 bra L1;", "@%p0 call L1;", "`call` is not in the subset"),
    ("%rd1, [b1];", "%rd1, [b2];", "there is no parameter b2"),
    ("%rd2, %r0, 16, %rd1;", "%rd2, %rd0, 16, %rd1;", "`%rd0` is no operand 2 of `mad.wide.s32`"),
    ("[%rd2+16];", "[%r2+16];", "%r2 is no address there"),
    ("[%rd2+16];", "[%rd2+4294967296];", "the offset 4294967296 does not fit 32 bits"),
    ("{%f0, %f1, %f2, %f3}", "{%f0, %f1, %f2}", "`{%f0, %f1, %f2}` is no operand 1 of"),
    ("{%f0, %f1, %f2, %f3}", "{%f0, %f1, %f2, %f2}", "a register stands twice in a list"),
    ("fma.rn.f32 %f0", "fma.rn.ftz.f32 %f0", "`fma.rn.ftz.f32` is not in the subset"),
    ("fma.rn.f32 %f0", "fma.rz.f32 %f0", "`fma.rz.f32` is not in the subset"),
    ("0f3F800000", "0f3f800000", "`0f3f800000` is no operand 3 of `fma.rn.f32`"),
    ("0f3F800000", "1.0", "`1.0` is no operand 3 of `fma.rn.f32`"),
    ("%f1, 0f3F800000, %f2;", "%f1, 0f3F800000, %f9;", "nothing writes %f9"),
    ("[%r2+-4], %f0;", "[%r2-4], %f0;", "`[%r2-4]` is no operand"),
    ("[%r2+-4], %f0;", "[%rd2+-4], %f0;", "%rd2 is no address there"),
    ("L1:", "L1:\nL1:", "the label `L1` stands twice"),
    ("L1:", "exit:", "`exit` is no name of a label"),
    ("bar.sync 0;", "bar.sync 1;", "there is no barrier but 0"),
    ("\tbar.sync 0;", "\t@%p0 bar.sync 0;", "`bar.sync` has a guard"),
    ("\tret;", "\texit;", "`exit` is not in the subset"),
    ("\tret;\n", "", "an entry ends with `ret`"),
    ("\tret;\n", "\t@%p0 ret;\n", "`ret` has a guard"),
    ("}\n", "}\n\n", "`.visible .entry` with a name is expected here"),
    ("}\n", "", "`}` is expected here"),
]


ELSEWHERE = {
    (".target sm_86", ".target sm_89"): 1,
    ("k0_add(", "K0_add("): 5,
    (".reqntid 256,", ".reqntid 250,"): 5,
    (".maxnreg 40", ".maxnreg 256"): 5,
    ("smem[1024]", "smem[49153]"): 5,
    ("\t.shared .align 16 .b8 smem[1024];\n", ""): 17,
    ("%r<3>;", "%r<4>;"): 13,
    ("L1:", "L1:\nL1:"): 30,
    ("\tret;\n", ""): 30,
    ("}\n", "}\n\n"): 34,
}
"""The line of the refusal where it is not the first that was changed."""


@pytest.mark.parametrize(("old", "new", "reason"), DAMAGE)
def test_a_damaged_text_is_refused_with_its_line(old: str, new: str, reason: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(Damaged) as raised:
        from_text(TEXT.replace(old, new))
    assert raised.value.reason.startswith(reason)
    own = TEXT[: TEXT.index(old)].count("\n") + 1
    assert raised.value.line == ELSEWHERE.get((old, new), own)
    assert str(raised.value) == f"line {raised.value.line}: {raised.value.reason}"


@pytest.mark.parametrize(
    "text", ["", "\n", "PTX", TEXT.replace("\n", "\r\n"), TEXT.rstrip("\n"), TEXT[:300]]
)
def test_what_is_no_module_at_all_is_refused(text: str) -> None:
    with pytest.raises(Damaged):
        from_text(text)


@given(st.data())
def test_a_text_is_read_exactly_or_refused(data: st.DataObject) -> None:
    """Whatever is read prints as the text that was read: the reader forgives nothing and repairs nothing."""
    start = data.draw(st.integers(0, len(TEXT)))
    end = data.draw(st.integers(start, min(start + 12, len(TEXT))))
    letters = st.sampled_from(" \t\n,;@!{}[]<>()%.+-_0123456789abdfghilmnprstuvxLXé٣")
    put = data.draw(st.text(letters, max_size=6) | st.just(TEXT[start : end + 30]))
    text = TEXT[:start] + put + TEXT[end:]
    try:
        module = from_text(text)
    except Damaged as damaged:
        assert 1 <= damaged.line <= text.count("\n") + 1
    else:
        assert to_text(module) == text

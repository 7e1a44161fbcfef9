"""The law of PTX names what breaks it, and where."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.base.record import replace
from alpha.driver.device_code import plan_code
from alpha.plan.make import plan_graphs
from alpha.targets.nvidia import emit
from alpha.targets.nvidia.errors import PtxFault
from alpha.targets.nvidia.forms import FORMS
from alpha.targets.nvidia.ptx import (
    Address,
    Entry,
    Guard,
    Instruction,
    Kind,
    Label,
    Line,
    Module,
    Name,
    Operand,
    Parameter,
    Real,
    Register,
    Vector,
    Whole,
)
from alpha.targets.nvidia.spec import SM_86
from alpha.targets.nvidia.text import to_text
from alpha.targets.nvidia.verify import breaks, verify
from checked.sm86 import Malformed, parse
from checked.sm86.forms import FORMS as MODEL
from checked.sm86.forms import Slot
from targets.nvidia.modules import every_form, filled, modules

P, H, R, D, F, G = (Register(kind, 0) for kind in Kind)
RET = Instruction("ret")
ENTRY = Entry("k", 1, 32, 32, 64, (RET,))
FILL = (
    Instruction("setp.eq.s32", (P, Whole(0), Whole(0))),
    Instruction("mov.u32", (R, Whole(0))),
    Instruction("mov.u64", (D, Whole(0))),
    Instruction("mov.f32", (F, Real(0))),
)


def with_line(*lines: Line) -> Module:
    return Module("sm_86", (replace(ENTRY, body=(*FILL, *lines, RET)),))


def reasons(module: Module) -> list[str]:
    return [found.reason for found in breaks(module)]


def line(form: str, *operands: Operand, guard: Guard | None = None) -> Instruction:
    return Instruction(form, operands, guard)


def test_modules_that_keep_it() -> None:
    verify(Module("sm_89", ()))
    verify(every_form())
    verify(with_line(line("bra", Name("L1"), guard=Guard(P)), Label("L1")))


def test_the_code_of_a_plan_is_held_to_it_where_the_environment_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan, kernels = plan_graphs([], SM_86)
    broken = with_line(line("add.f32", F, F, F))
    monkeypatch.setattr(emit, "emit_module", lambda entries, target: broken)
    monkeypatch.setenv("ALPHA_VERIFY", "0")
    assert plan_code(plan, kernels) == to_text(broken)
    monkeypatch.setenv("ALPHA_VERIFY", "1")
    with pytest.raises(PtxFault, match="is not in the subset"):
        plan_code(plan, kernels)


BROKEN: list[tuple[Line, str]] = [
    (line("add.f32", F, F, F), "`add.f32` is not in the subset"),
    (line("add.s32", R, R), "`add.s32` has 3 operands, not 2"),
    (line("add.s32", R, R, D), "`%rd0` is no operand 3 of `add.s32`"),
    (line("add.s32", R, R, F), "`%f0` is no operand 3 of `add.s32`"),
    (line("add.s32", Whole(1), R, R), "`1` is no operand 1 of `add.s32`"),
    (line("add.s32", R, R, Real(0)), "`0f00000000` is no operand 3 of `add.s32`"),
    (line("add.s32", R, R, Name("%tid.x")), "`%tid.x` is no operand 3 of `add.s32`"),
    (line("add.s32", R, R, Whole(1 << 32)), "4294967296 does not fit 32 bits"),
    (line("add.s32", R, R, Whole(-(1 << 31) - 1)), "-2147483649 does not fit 32 bits"),
    (line("mov.b16", H, Whole(1 << 16)), "65536 does not fit 16 bits"),
    (line("mov.u64", D, Whole(1 << 64)), "18446744073709551616 does not fit 64 bits"),
    (line("mov.f32", F, Real(0, True)), "`0d0000000000000000` is no operand 2 of `mov.f32`"),
    (line("mov.f32", F, Real(1 << 32)), "4294967296 are no bits of a float"),
    (line("mov.u32", R, Name("%ntid.x")), "`%ntid.x` is no operand 2 of `mov.u32`"),
    (line("mov.u32", R, Name("other")), "`other` is no operand 2 of `mov.u32`"),
    (line("ld.param.u64", D, Parameter(1)), "there is no parameter b1"),
    (line("ld.param.u64", D, Address(D)), "`[%rd0]` is no operand 2 of `ld.param.u64`"),
    (line("ld.global.f32", F, Address(R)), "%r0 is no address there"),
    (line("st.shared.f32", Address(D), F), "%rd0 is no address there"),
    (line("ld.global.f32", F, Address(D, 1 << 31)), "the offset 2147483648 does not fit 32 bits"),
    (line("ld.global.v2.f32", Vector((F, F)), Address(D)), "a register stands twice in a list"),
    (
        line("ld.global.v2.f32", Vector((F, R)), Address(D)),
        "`{%f0, %r0}` is no operand 1 of `ld.global.v2.f32`",
    ),
    (
        line("ld.global.v4.f32", Vector((F, Register(Kind.F32, 1))), Address(D)),
        "`{%f0, %f1}` is no operand 1 of `ld.global.v4.f32`",
    ),
    (line("st.global.v2.f32", Address(D), F), "`%f0` is no operand 2 of `st.global.v2.f32`"),
    (line("mov.b32", R, R), "`mov.b32` is between registers of two kinds"),
    (line("bar.sync", Whole(1)), "there is no barrier but 0"),
    (line("bar.sync", Whole(0), guard=Guard(P)), "`bar.sync` has a guard"),
    (line("bra", Name("L9")), "there is no label `L9`"),
    (line("bra", Name("L9"), guard=Guard(R)), "%r0 is no predicate"),
    (line("shfl.sync.bfly.b32", R, R, Whole(0), Whole(31), Whole(-1)), "0 is no mask"),
    (line("shfl.sync.bfly.b32", R, R, R, Whole(31), Whole(-1)), "`%r0` is no operand 3"),
    (line("shfl.sync.bfly.b32", R, R, Whole(1), Whole(15), Whole(-1)), "an exchange is one of"),
    (line("mov.f64", G, Register(Kind.F64, 7)), "nothing writes %fd7"),
    (Label("exit"), "`exit` is no name of a label"),
]


@pytest.mark.parametrize(("wrong", "reason"), BROKEN, ids=lambda item: str(item)[:40])
def test_a_line_that_breaks_it(wrong: Line, reason: str) -> None:
    module = with_line(wrong)
    (first, *_) = breaks(module)
    assert first.reason.startswith(reason)
    assert (first.entry, first.line) == (0, len(FILL))
    with pytest.raises(PtxFault, match=f"k: line {len(FILL)} of the body: "):
        verify(module)


def test_a_store_may_write_one_value_to_several_places() -> None:
    verify(with_line(line("st.global.v2.f32", Address(D), Vector((F, F)))))


def test_a_label_stands_once() -> None:
    assert reasons(with_line(Label("L1"), Label("L1"))) == ["the label `L1` stands twice"]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (replace(ENTRY, name="K"), "`K` is no name of an entry"),
        (replace(ENTRY, threads=0), "0 threads are no whole warps up to 1024 threads"),
        (replace(ENTRY, threads=33), "33 threads are no whole warps up to 1024 threads"),
        (replace(ENTRY, threads=1_056), "1056 threads are no whole warps up to 1024 threads"),
        (replace(ENTRY, registers=256), "a thread has 1 to 255 registers, not 256"),
        (replace(ENTRY, shared=49_153), "a block has at most 49152 shared bytes, not 49153"),
        (replace(ENTRY, parameters=545), "an entry has at most 544 parameters, not 545"),
        (replace(ENTRY, body=()), "an entry ends with `ret`"),
        (replace(ENTRY, body=FILL), "an entry ends with `ret`"),
    ],
)
def test_an_entry_that_breaks_it(entry: Entry, reason: str) -> None:
    assert reasons(Module("sm_86", (entry,))) == [reason]


def test_a_module_that_breaks_it() -> None:
    assert reasons(Module("sm_90", (ENTRY,))) == ["`sm_90` is no architecture that Alpha emits for"]
    assert reasons(Module("sm_86", (ENTRY, ENTRY))) == ["a second entry is called `k`"]


def test_the_shared_array_is_named_only_where_there_is_one() -> None:
    module = with_line(line("mov.u32", R, Name("smem")))
    verify(module)
    without = replace(module, entries=(replace(module.entries[0], shared=0),))
    assert reasons(without) == ["the entry has no shared array"]


def test_no_form_approximates_flushes_or_leaves_a_rounding_open() -> None:
    for form in FORMS:
        name, *parts = form.split(".")
        assert not {"approx", "ftz", "full"} & set(parts)
        if name in ("add", "sub", "mul", "fma", "div", "sqrt") and parts[-1] in ("f32", "f64"):
            assert "rn" in parts


@pytest.mark.slow
@settings(max_examples=40)
@given(modules())
def test_what_keeps_it_is_read_by_the_checked_model(module: Module) -> None:
    parse(to_text(module))


FORM_LINES = {
    item.form: item for item in every_form().entries[0].body if isinstance(item, Instruction)
}


@given(st.data())
def test_what_breaks_it_is_malformed_to_the_checked_model(data: st.DataObject) -> None:
    """The model has a table of its own: a form with an operand of another kind is none there either."""
    form = data.draw(st.sampled_from(sorted(FORMS)))
    other = data.draw(st.sampled_from((P, H, R, D, F, G, Whole(7), Real(7), Name("L1"))))
    place = data.draw(st.integers(0, max(len(FORMS[form]) - 1, 0)))
    found = FORM_LINES[form]
    operands = [*found.operands[:place], other, *found.operands[place + 1 :]]
    wanted = replace(found, operands=tuple(operands))
    body = (*filled([wanted]), wanted, Label("L1"), RET)
    changed = Module("sm_86", (replace(ENTRY, parameters=2, body=body),))
    wrong = any(reason.startswith("`") for reason in reasons(changed))
    try:
        parse(to_text(changed))
    except Malformed:
        assert reasons(changed)
    else:
        assert not wrong


def letters(slot: Slot) -> set[str]:
    """What may stand at a place of the model's table, in the letters of the compiler's."""
    match slot.place:
        case "global" | "shared":
            return {"A"}
        case "parameter":
            return {"B"}
        case "label":
            return {"L"}
        case "exactly":
            return {"i"}
        case _:
            kinds = set(slot.classes.upper())
            numbers = {{"F": "x", "G": "y"}.get(kind, "i") for kind in kinds or {"R"}}
            lanes = {str(slot.lanes)} if slot.lanes > 1 else set()
            return (
                kinds
                | lanes
                | (numbers if slot.immediate else set())
                | (set("SN") if slot.special else set())
            )


def test_the_checked_model_has_the_same_forms_of_its_own() -> None:
    model = {name: [letters(slot) for slot in form.slots] for name, form in MODEL.items()}
    assert model == {name: [set(word) for word in words] for name, words in FORMS.items()}

"""Random modules of PTX: every form of the table with operands of its kinds, and the law of PTX kept."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from alpha.targets.nvidia.forms import FORMS, KINDS
from alpha.targets.nvidia.ptx import (
    BLOCK,
    SHARED,
    THREAD,
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
from alpha.targets.nvidia.ptx import registers as named_by

WIDTHS = {"H": 16, "R": 32, "D": 64}
FILLED = {
    Kind.PRED: ("setp.eq.s32", (Whole(0), Whole(0))),
    Kind.B16: ("mov.b16", (Whole(0),)),
    Kind.B32: ("mov.u32", (Whole(0),)),
    Kind.B64: ("mov.u64", (Whole(0),)),
    Kind.F32: ("mov.f32", (Real(0),)),
    Kind.F64: ("mov.f64", (Real(0, True),)),
}
"""How a register of each kind gets a value from nothing."""
LABELS = tuple(f"L{number}" for number in range(1, 4))
TOGETHER = ("bar.sync", "shfl.sync.bfly.b32")
"""Forms that all threads carry out together."""
BITS = {"mov.b32": "RF", "mov.b64": "DG"}
"""Forms that move bits from one of two kinds of registers to the other."""
SPECIAL = (Name(THREAD), Name(BLOCK))


@cache
def registers(letter: str) -> st.SearchStrategy[Register]:
    return st.builds(Register, st.just(KINDS[letter]), st.integers(0, 5))


@cache
def wholes(word: str) -> st.SearchStrategy[Whole]:
    width = next((WIDTHS[letter] for letter in word if letter in WIDTHS), 32)
    return st.builds(Whole, st.integers(-(1 << (width - 1)), (1 << width) - 1))


@cache
def addresses(form: str) -> st.SearchStrategy[Address]:
    offsets = st.integers(-(1 << 31), (1 << 31) - 1) | st.integers(-8, 8)
    return st.builds(Address, registers("D" if ".global" in form else "R"), offsets)


@cache
@st.composite
def vectors(draw: st.DrawFn, word: str, differ: bool) -> Vector:
    count = int(word[0])
    numbers = draw(st.lists(st.integers(0, 7), min_size=count, max_size=count, unique=differ))
    return Vector(tuple(Register(KINDS[word[1]], number) for number in numbers))


@cache
@st.composite
def operands(draw: st.DrawFn, form: str, word: str, parameters: int, shared: int) -> Operand:
    """One operand that may stand where the table has `word`."""
    if word[0].isdigit():
        return draw(vectors(word, form.startswith("ld.")))
    kinds: list[st.SearchStrategy[Operand]] = []
    for letter in word:
        if letter in KINDS:
            kinds.append(registers(letter))
        elif letter == "i":
            kinds.append(wholes(word))
        elif letter in "xy":
            bits = st.integers(0, (1 << (32 if letter == "x" else 64)) - 1)
            kinds.append(st.builds(Real, bits, st.just(letter == "y")))
        elif letter == "S":
            kinds.append(st.sampled_from(SPECIAL))
        elif letter == "N" and shared:
            kinds.append(st.just(Name(SHARED)))
        elif letter == "L":
            kinds.append(st.sampled_from([Name(label) for label in LABELS]))
        elif letter == "B":
            kinds.append(st.builds(Parameter, st.integers(0, parameters - 1)))
        elif letter == "A":
            kinds.append(addresses(form))
    return draw(st.one_of(kinds))


@cache
@st.composite
def instructions(draw: st.DrawFn, form: str, parameters: int, shared: int) -> Instruction:
    if form == "bar.sync":
        return Instruction(form, (Whole(0),))
    words = FORMS[form]
    if form in TOGETHER:
        kind = draw(st.sampled_from("RF"))
        found = [draw(registers(kind)) for _ in range(2)]
        return Instruction(form, (*found, Whole(draw(st.integers(1, 31))), Whole(31), Whole(-1)))
    if form in BITS:
        kinds = draw(st.permutations(BITS[form]))
        return Instruction(form, tuple(draw(registers(kind)) for kind in kinds))
    chosen = tuple(draw(operands(form, word, parameters, shared)) for word in words)
    guard = None
    if form == "bra":
        guard = draw(st.none() | st.builds(Guard, registers("P"), st.booleans()))
    return Instruction(form, chosen, guard)


@st.composite
def entries(draw: st.DrawFn, name: str) -> Entry:
    parameters = draw(st.integers(0, 3))
    shared = draw(st.sampled_from((0, 16, 1_000, 48 * 1_024)))
    forms = [form for form in FORMS if parameters or form != "ld.param.u64"]
    body: list[Line] = [
        draw(instructions(form, parameters, shared))
        for form in draw(st.lists(st.sampled_from(forms), max_size=12))
    ]
    for label in LABELS:
        body.insert(draw(st.integers(0, len(body))), Label(label))
    return Entry(
        name,
        parameters,
        32 * draw(st.integers(1, 32)),
        draw(st.integers(1, 255)),
        shared,
        (*filled(body), *body, Instruction("ret")),
    )


def filled(body: list[Line]) -> list[Line]:
    """A line for each register that the body names, which gives it a value."""
    named = dict.fromkeys(register for line in body for register in named_by(line))
    return [
        Instruction(form, (register, *values))
        for register in named
        for form, values in [FILLED[register.kind]]
    ]


@st.composite
def modules(draw: st.DrawFn) -> Module:
    names = draw(
        st.lists(st.from_regex(r"[a-z][A-Za-z0-9_]{0,6}", fullmatch=True), max_size=3, unique=True)
    )
    target = draw(st.sampled_from(("sm_86", "sm_89")))
    return Module(target, tuple(draw(entries(name)) for name in names))


def every_form() -> Module:
    """One module with each form of the table, with as many registers and as few numbers as it takes."""
    body: list[Line] = []
    for form, words in FORMS.items():
        if form in ("ret", "bra"):
            continue
        chosen: list[Operand] = []
        for place, word in enumerate(words):
            if form == "bar.sync":
                chosen.append(Whole(0))
            elif form == "shfl.sync.bfly.b32" and place > 1:
                chosen.append((Whole(16), Whole(31), Whole(-1))[place - 2])
            elif word[0].isdigit():
                kind = KINDS[word[1]]
                chosen.append(Vector(tuple(Register(kind, item) for item in range(int(word[0])))))
            elif form in BITS:
                chosen.append(Register(KINDS[word[place]], 0))
            elif word[0] in KINDS:
                chosen.append(Register(KINDS[word[0]], place))
            elif word == "A":
                base = Register(Kind.B64 if ".global" in form else Kind.B32, 0)
                chosen.append(Address(base, -16))
            else:
                chosen.append(Parameter(1))
        body.append(Instruction(form, tuple(chosen)))
    branch = Instruction("bra", (Name("L1"),), Guard(Register(Kind.PRED, 0), True))
    body += [branch, Label("L1")]
    entry = Entry("forms", 2, 64, 255, 1_024, (*filled(body), *body, Instruction("ret")))
    return Module("sm_86", (entry,))

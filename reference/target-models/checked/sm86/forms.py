"""The subset of PTX: every form of an instruction with the operands that it takes.

A register class is one letter: p (predicate), h (16 bits), r (32 bits), d (64 bits), f (binary32), g (binary64).
The table is the model's own; it is not derived from what the compiler knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CLASSES = {"p": "pred", "h": "b16", "r": "b32", "d": "b64", "f": "f32", "g": "f64"}
"""The type that declares the registers of a class."""
PREFIX = {"p": "p", "h": "h", "r": "r", "d": "rd", "f": "f", "g": "fd"}
"""How the registers of a class are called, before their number."""
SPECIAL = ("%tid.x", "%ctaid.x")
BITS = {"p": 1, "h": 16, "r": 32, "d": 64, "f": 32, "g": 64}

_EXTREMES = {"f32": ("min.NaN", "max.NaN"), "f64": ("min", "max")}
"""A card has the extremes that keep a NaN in binary32 alone."""

Place = Literal["value", "global", "shared", "parameter", "label", "exactly"]


@dataclass(frozen=True)
class Slot:
    """An operand's place: what may stand there.

    `classes` are those whose registers may stand there; `lanes` is 2 or 4 for a list of registers in braces;
    `immediate` permits a number; `special` permits a special register or the shared array's address; `number` is the
    only one permitted at a place of kind `exactly`.
    """

    place: Place = "value"
    classes: str = ""
    lanes: int = 1
    immediate: bool = False
    special: bool = False
    number: int = 0


@dataclass(frozen=True)
class Form:
    """An instruction's full name and its operands. The first is the result if `writes`."""

    name: str
    slots: tuple[Slot, ...]
    writes: bool

    @property
    def operation(self) -> str:
        return self.name.partition(".")[0]


def _slot(text: str) -> Slot:
    """A lower-case letter is a register of that class, an upper-case one permits a number as well."""
    return Slot(classes=text.lower(), immediate=text.isupper())


def _rows() -> dict[str, str]:
    """Forms whose operands are all values, by name: the result's letter, then the sources'."""
    rows: dict[str, str] = {"mov.pred": "pp", "mov.b16": "hH", "mov.f32": "fF", "mov.f64": "gG"}
    rows |= {"mov.u64": "dD", "mul.hi.u32": "rRR", "not.b32": "rR", "not.pred": "pp"}
    rows |= {"mad.lo.s32": "rRRR", "mul.wide.s32": "dRR", "mad.wide.s32": "dRRD"}
    for name in ("add", "sub", "mul.lo", "div", "rem", "min", "max"):
        rows |= {f"{name}.s32": "rRR", f"{name}.s64": "dDD"}
    for name in ("div", "rem", "min", "max"):
        rows |= {f"{name}.u32": "rRR", f"{name}.u64": "dDD"}
    for name in ("and", "or", "xor"):
        rows |= {f"{name}.pred": "ppp", f"{name}.b32": "rRR", f"{name}.b64": "dDD"}
    for name in ("shl.b", "shr.u", "shr.s"):
        rows |= {f"{name}32": "rRR", f"{name}64": "dDR"}
    for kind, letter in (("f32", "f"), ("f64", "g")):
        upper = letter.upper()
        for name in ("add.rn", "sub.rn", "mul.rn", "div.rn", *_EXTREMES[kind]):
            rows[f"{name}.{kind}"] = letter + 2 * upper
        rows[f"fma.rn.{kind}"] = letter + 3 * upper
        for name in ("sqrt.rn", "neg", "abs", f"cvt.rni.{kind}", f"cvt.rmi.{kind}"):
            rows[f"{name}.{kind}"] = 2 * letter
        for name in ("eq", "neu", "lt", "le", "gt", "ge", "nan"):
            rows[f"setp.{name}.{kind}"] = "p" + 2 * upper
        for integer, source in (("s32", "r"), ("u32", "r"), ("s64", "d"), ("u64", "d")):
            rows[f"cvt.rn.{kind}.{integer}"] = letter + source
            rows[f"cvt.rzi.{integer}.{kind}"] = source + letter
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        for kind, letter in (("s32", "R"), ("u32", "R"), ("s64", "D"), ("u64", "D")):
            rows[f"setp.{name}.{kind}"] = "p" + 2 * letter
    for kind, letter in (("b16", "h"), ("b32", "r"), ("f32", "f"), ("b64", "d"), ("f64", "g")):
        rows[f"selp.{kind}"] = letter + 2 * letter.upper() + "p"
    rows |= {"cvt.f64.f32": "gf", "cvt.rn.f32.f64": "fg", "cvt.f32.f16": "fh", "cvt.f64.f16": "gh"}
    rows |= {"cvt.rn.f16.f32": "hf", "cvt.rn.f16.f64": "hg"}
    rows |= {"cvt.u32.u16": "rh", "cvt.u16.u32": "hr"}
    rows |= {"cvt.u64.u32": "dr", "cvt.s64.s32": "dr", "cvt.u32.u64": "rd"}
    return rows


def _accesses() -> dict[str, Form]:
    forms: dict[str, Form] = {}
    scalars = {"u8": "r", "u16": "r", "b16": "h", "b32": "r", "f32": "f", "b64": "d", "f64": "g"}
    for kind, classes in scalars.items():
        for lanes in (1, 2, 4) if kind in ("b32", "f32") else (1,):
            vector = f".v{lanes}" if lanes > 1 else ""
            value = Slot(classes=classes, lanes=lanes)
            for space in ("global", "global.nc", "shared"):
                address = Slot("shared" if space == "shared" else "global")
                name = f"ld.{space}{vector}.{kind}"
                forms[name] = Form(name, (value, address), True)
                if space != "global.nc":
                    name = f"st.{space}{vector}.{kind}"
                    forms[name] = Form(name, (address, value), False)
    return forms


def _table() -> dict[str, Form]:
    forms = {name: Form(name, tuple(map(_slot, row)), True) for name, row in _rows().items()}
    forms |= _accesses()
    either = Slot(classes="rf")
    special = Slot(classes="r", immediate=True, special=True)
    others = (
        Form("mov.u32", (_slot("r"), special), True),
        Form("mov.b32", (either, either), True),
        Form("mov.b64", (Slot(classes="dg"), Slot(classes="dg")), True),
        Form("ld.param.u64", (_slot("d"), Slot("parameter")), True),
        Form(
            "shfl.sync.bfly.b32",
            (either, either, Slot(immediate=True), Slot("exactly", number=31), Slot("exactly", number=-1)),
            True,
        ),
        Form("bar.sync", (Slot("exactly", number=0),), False),
        Form("bra", (Slot("label"),), False),
        Form("ret", (), False),
    )  # fmt: skip
    return forms | {form.name: form for form in others}


FORMS: dict[str, Form] = _table()
"""Every form, by its full name."""

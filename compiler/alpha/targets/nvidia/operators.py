"""The operators of kernels in PTX, one lane at a time. Their meaning is that of `kernel.operators`, bit for bit."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from alpha.kernel.node import Scalar
from alpha.targets.nvidia.ptx import Kind, Operand, Real, Register, Whole
from alpha.targets.nvidia.writer import SELECTS, Writer

HELD = {
    Scalar.F64: Kind.F64,
    Scalar.F32: Kind.F32,
    Scalar.F16: Kind.B16,
    Scalar.I64: Kind.B64,
    Scalar.U64: Kind.B64,
    Scalar.BOOL: Kind.PRED,
}
"""The registers of each scalar type; all others have 32 bits, and those of 8 or 16 bits are zero above."""

NARROW = {Scalar.U8: 0xFF, Scalar.U16: 0xFFFF}
COMPARED = {
    "equal": "eq",
    "notEqual": "ne",
    "less": "lt",
    "lessEqual": "le",
    "greater": "gt",
    "greaterEqual": "ge",
}
ROUNDED = {"add": "add.rn", "sub": "sub.rn", "mul": "mul.rn", "div": "div.rn", "fma": "fma.rn"}
SIMPLE = {
    "sqrt": "sqrt.rn.{0}",
    "neg": "neg.{0}",
    "abs": "abs.{0}",
    "floor": "cvt.rmi.{0}.{0}",
    "roundEven": "cvt.rni.{0}.{0}",
}
WHOLE = {"add": "add.s", "sub": "sub.s", "mul": "mul.lo.s"}
LOGIC = {"and": "and.b", "or": "or.b", "xor": "xor.b", "shiftLeft": "shl.b"}


def kind_of(scalar: Scalar) -> Kind:
    return HELD.get(scalar, Kind.B32)


def bits_of(scalar: Scalar) -> int:
    """The width of the registers that hold an integer type."""
    return 64 if kind_of(scalar) is Kind.B64 else 32


def typed(scalar: Scalar) -> str:
    """An integer type as instructions that mind the sign name it: `s32`."""
    return f"{'s' if scalar.is_signed else 'u'}{bits_of(scalar)}"


def literal(value: float | int | bool, scalar: Scalar) -> Operand:
    """A number of a type; a bool as 0 or 1, a bf16 or f16 as its bits."""
    if scalar is Scalar.F32:
        number = float(value)
        return Real(0x7FFFFFFF if math.isnan(number) else _bits("<f", "<I", number))
    if scalar is Scalar.F64:
        return Real(_bits("<d", "<Q", float(value)), True)
    if scalar is Scalar.F16:
        return Whole(_bits("<e", "<H", float(value)))
    if scalar is Scalar.BF16:
        return Whole(_bits("<f", "<I", float(value)) >> 16)
    return Whole(int(value))


def _bits(of: str, as_: str, number: float) -> int:
    (bits,) = struct.unpack(as_, struct.pack(of, number))
    return int(bits)


class Operators:
    """Carries operators out. `into` is where the result goes, if that is settled: it may be one of the operands."""

    __slots__ = ("writer",)

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def apply(
        self,
        operator: str,
        operands: Sequence[Operand],
        source: Scalar,
        target: Scalar,
        into: Register | None,
    ) -> Operand:
        """`source` is the type of the last operand, `target` that of the result."""
        match operator:
            case "convert":
                return self._convert(operands[0], source, target, into)
            case "bits":
                return self._as_bits(operands[0], kind_of(target), into)
            case "select":
                return self._select(operands, target, into)
            case "isNan":
                form = f"setp.nan.{source.value}"
                return self.writer.made(form, operands[0], operands[0], into=into)
            case _ if operator in COMPARED:
                return self._compare(operator, operands, source, into)
            case _ if target.is_float:
                return self._float(operator, operands, target.value, into)
            case _ if target is Scalar.BOOL:
                held = [self.predicate(item) for item in operands]
                return self.writer.made(f"{operator}.pred", *held, into=into)
            case _:
                return self._whole(operator, operands, target, into)

    def predicate(self, value: Operand) -> Register:
        """A bool as a predicate; a known one is compared with nothing."""
        if isinstance(value, Register):
            return value
        return self.writer.once("setp.ne.s32", self.writer.held(value), Whole(0))

    def _float(
        self, operator: str, operands: Sequence[Operand], type_: str, into: Register | None
    ) -> Operand:
        if operator in ROUNDED:
            return self.writer.made(f"{ROUNDED[operator]}.{type_}", *operands, into=into)
        if operator in SIMPLE:
            held = self.writer.held(operands[0])
            return self.writer.made(SIMPLE[operator].format(type_), held, into=into)
        word = {"maximum": "max", "minimum": "min"}[operator]
        if type_ == "f32":
            return self.writer.made(f"{word}.NaN.f32", *operands, into=into)
        # Of f64 there is no form that keeps a NaN.
        missing = self.writer.made("setp.nan.f64", *operands)
        best = self.writer.made(f"{word}.f64", *operands)
        return self.writer.made("selp.f64", NAN, best, missing, into=into)

    def _whole(
        self, operator: str, operands: Sequence[Operand], scalar: Scalar, into: Register | None
    ) -> Operand:
        bits = bits_of(scalar)
        match operator:
            case "maximum" | "minimum":
                form = f"{operator[:3]}.{typed(scalar)}"
            case "quotient" | "remainder":
                form = f"{'div' if operator == 'quotient' else 'rem'}.{typed(scalar)}"
            case "mulHigh":
                form = "mul.hi.u32"
            case "shiftRight":
                form = f"shr.{typed(scalar)}"
            case _:
                form = f"{(WHOLE | LOGIC)[operator]}{bits}"
        mask = NARROW.get(scalar) if operator in (*WHOLE, "shiftLeft") else None
        if mask is None:
            return self.writer.made(form, *operands, into=into)
        wrapped = self.writer.made(form, *operands)
        return self.writer.made("and.b32", wrapped, Whole(mask), into=into)

    def _compare(
        self, operator: str, operands: Sequence[Operand], source: Scalar, into: Register | None
    ) -> Operand:
        if source is Scalar.BOOL:
            return self._compare_bools(operator, [self.predicate(item) for item in operands], into)
        word = COMPARED[operator]
        if source.is_float:
            word = "neu" if word == "ne" else word
            return self.writer.made(f"setp.{word}.{source.value}", *operands, into=into)
        return self.writer.made(f"setp.{word}.{typed(source)}", *operands, into=into)

    def _compare_bools(
        self, operator: str, held: Sequence[Register], into: Register | None
    ) -> Operand:
        a, b = held
        match operator:
            case "notEqual":
                return self.writer.made("xor.pred", a, b, into=into)
            case "equal":
                other = self.writer.made("xor.pred", a, b)
            case "less":
                return self._both(b, a, into)
            case "greater":
                return self._both(a, b, into)
            case "lessEqual":
                other = self._both(a, b, None)
            case _:
                other = self._both(b, a, None)
        return self.writer.made("not.pred", other, into=into)

    def _both(self, holds: Register, fails: Register, into: Register | None) -> Register:
        other = self.writer.made("not.pred", fails)
        return self.writer.made("and.pred", holds, other, into=into)

    def _select(
        self, operands: Sequence[Operand], target: Scalar, into: Register | None
    ) -> Operand:
        condition = self.predicate(operands[0])
        if target is not Scalar.BOOL:
            form = SELECTS[kind_of(target)]
            return self.writer.made(form, operands[1], operands[2], condition, into=into)
        chosen, otherwise = (self.predicate(item) for item in operands[1:])
        first = self.writer.made("and.pred", condition, chosen)
        second = self._both(otherwise, condition, None)
        return self.writer.made("or.pred", first, second, into=into)

    def _as_bits(self, value: Operand, kind: Kind, into: Register | None) -> Operand:
        held = self.writer.held(value)
        if held.kind is kind:
            return held
        pair = {held.kind, kind}
        if Kind.B16 in pair:
            form = "cvt.u16.u32" if kind is Kind.B16 else "cvt.u32.u16"
            return self.writer.made(form, held, into=into)
        form = "mov.b64" if Kind.B64 in pair else "mov.b32"
        return self._into(form, held, kind, into)

    def _into(self, form: str, held: Register, kind: Kind, into: Register | None) -> Register:
        result = into or self.writer.fresh(kind)
        self.writer.emit(form, result, held)
        return result

    # Conversions, as `cast` says.

    def _convert(
        self, value: Operand, source: Scalar, target: Scalar, into: Register | None
    ) -> Operand:
        if source is Scalar.BOOL:
            return self._from_bool(value, target, into)
        real = (Scalar.F64, Scalar.F32, Scalar.F16)
        held = self.writer.held(value)
        if source in real and target in real:
            narrower = target.size < source.size
            form = f"cvt{'.rn' if narrower else ''}.{target.value}.{source.value}"
            return self.writer.made(form, held, into=into)
        if source in real:
            return self._truncated(held, source, target, into)
        if target in real:
            return self.writer.made(f"cvt.rn.{target.value}.{typed(source)}", held, into=into)
        return self._resized(held, source, target, into)

    def _from_bool(self, value: Operand, target: Scalar, into: Register | None) -> Operand:
        one, zero = literal(1, target), literal(0, target)
        form = SELECTS[kind_of(target)]
        return self.writer.made(form, one, zero, self.predicate(value), into=into)

    def _truncated(
        self, held: Register, source: Scalar, target: Scalar, into: Register | None
    ) -> Operand:
        """Toward zero, saturated; a NaN gives 0, which PTX gives only from f32 to 32 bits."""
        form = f"cvt.rzi.{typed(target)}.{source.value}"
        if target in NARROW:
            near = self.writer.made(form, held)
            near = self.writer.made("min.u32", near, Whole(NARROW[target]))
        elif source is Scalar.F32 and bits_of(target) == 32:
            return self.writer.made(form, held, into=into)
        else:
            near = self.writer.made(form, held)
        if source is Scalar.F32 and bits_of(target) == 32:
            return near
        missing = self.writer.made(f"setp.nan.{source.value}", held, held)
        return self.writer.made(SELECTS[kind_of(target)], Whole(0), near, missing, into=into)

    def _resized(
        self, held: Register, source: Scalar, target: Scalar, into: Register | None
    ) -> Operand:
        """Integers wrap."""
        if bits_of(target) == 64:
            if held.kind is Kind.B64:
                return held
            form = "cvt.s64.s32" if source.is_signed else "cvt.u64.u32"
            return self.writer.made(form, held, into=into)
        if held.kind is Kind.B64:
            held = self.writer.made("cvt.u32.u64", held)
        if target in NARROW and source is not Scalar.U8:
            return self.writer.made("and.b32", held, Whole(NARROW[target]), into=into)
        return held


NAN = Real(0x7FF8000000000000, True)

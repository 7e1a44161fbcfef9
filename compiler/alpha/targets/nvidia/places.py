"""Indices as PTX computes them: 32 bits wide where that is known to be enough, sums with numbers left to addresses.

A place is `root * scale + constant`. Nothing is computed before something needs the number itself: an access adds the
constant in its own offset, and multiplies and widens in one instruction.
"""

from __future__ import annotations

from alpha.base.record import record
from alpha.kernel.affine import Interval
from alpha.targets.nvidia.ptx import Address, Kind, Operand, Register, Whole
from alpha.targets.nvidia.writer import Writer

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1


@record
class Place:
    """`root` is None for a known number, else a register of 32 or 64 bits with a signed number."""

    root: Register | None
    scale: int = 1
    constant: int = 0

    @property
    def known(self) -> int | None:
        return self.constant if self.root is None else None


def narrow(interval: Interval) -> bool:
    """Whether 32 bits hold every number of an interval."""
    return interval[0] >= LOWEST and interval[1] <= HIGHEST


class Places:
    """Arithmetic on places. `within` is always the interval of the result."""

    __slots__ = ("writer",)

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def number(self, place: Place) -> Operand:
        """The number itself: an operand of 32 bits, or of 64 where the root has 64."""
        root = self._scaled(place)
        if root is None:
            return Whole(place.constant)
        if not place.constant:
            return root
        form = "add.s64" if root.kind is Kind.B64 else "add.s32"
        return self.writer.once(form, root, Whole(place.constant))

    def wide(self, place: Place) -> Operand:
        number = self.number(place)
        if isinstance(number, Register) and number.kind is Kind.B32:
            return self.writer.wide(number)
        return number

    def add(self, a: Place, b: Place, within: Interval) -> Place:
        constant = a.constant + b.constant
        if a.root is None or b.root is None:
            one = b if a.root is None else a
            return self._fitting(Place(one.root, one.scale, constant), within)
        if a.root == b.root:
            return self._fitting(Place(a.root, a.scale + b.scale, constant), within)
        rest = within[0] - constant, within[1] - constant
        if narrow(rest) and a.root.kind is b.root.kind is Kind.B32:
            if a.scale == 1:
                a, b = b, a
            second = self._scaled(Place(b.root, b.scale))
            assert a.root is not None and second is not None
            if a.scale == 1:
                sum_ = self.writer.once("add.s32", a.root, second)
            else:
                sum_ = self.writer.once("mad.lo.s32", a.root, Whole(a.scale), second)
            return self._fitting(Place(sum_, 1, constant), within)
        first, second_ = (self.wide(Place(item.root, item.scale)) for item in (a, b))
        return Place(self.writer.once("add.s64", first, second_), 1, constant)

    def scaled(self, place: Place, by: int, within: Interval) -> Place:
        if not by:
            return Place(None)
        found = Place(place.root, place.scale * by, place.constant * by)
        return self._fitting(found, within)

    def _fitting(self, place: Place, within: Interval) -> Place:
        """The place with a root of 64 bits if the number, or what it is without the constant, needs them."""
        rest = within[0] - place.constant, within[1] - place.constant
        root = place.root
        if root is None or root.kind is Kind.B64 or (narrow(within) and narrow(rest)):
            return place
        wide = self.writer.wide(root)
        assert isinstance(wide, Register)
        return Place(wide, place.scale, place.constant)

    def divided(self, place: Place, by: int, remainder: bool, within: Interval) -> Place:
        """The quotient toward zero by a positive number, or what is over; `within` is the interval of `place`."""
        known = place.known
        if known is not None:
            whole = abs(known) // by * (1 if known >= 0 else -1)
            return Place(None, 1, known - whole * by if remainder else whole)
        number = self.number(place)
        assert isinstance(number, Register)
        bits = 64 if number.kind is Kind.B64 else 32
        if within[0] < 0:
            form = f"{'rem' if remainder else 'div'}.s{bits}"
            return Place(self.writer.once(form, number, Whole(by)))
        if by & (by - 1):
            form = f"{'rem' if remainder else 'div'}.u{bits}"
            return Place(self.writer.once(form, number, Whole(by)))
        if remainder:
            return Place(self.writer.once(f"and.b{bits}", number, Whole(by - 1)))
        return Place(self.writer.once(f"shr.u{bits}", number, Whole(by.bit_length() - 1)))

    def address(self, base: Register, place: Place, size: int, start: int = 0) -> Address:
        """Element `place` of so many bytes behind `base`, `start` bytes further on.

        The base is a 64-bit register for global memory and a 32-bit one for shared memory.
        """
        offset = start + place.constant * size
        if place.root is None:
            return Address(base, offset)
        scale = place.scale * size
        if base.kind is Kind.B32:
            root = self.writer.once("mad.lo.s32", place.root, Whole(scale), base)
        elif place.root.kind is Kind.B32 and LOWEST <= scale <= HIGHEST:
            root = self.writer.once("mad.wide.s32", place.root, Whole(scale), base)
        else:
            wide = self.writer.once("mul.lo.s64", self.wide(Place(place.root)), Whole(scale))
            root = self.writer.once("add.s64", wide, base)
        if LOWEST <= offset <= HIGHEST:
            return Address(root, offset)
        return Address(self.writer.once("add.s64", root, Whole(offset)))

    def _scaled(self, place: Place) -> Register | None:
        root, scale = place.root, place.scale
        if root is None or scale == 1:
            return root
        if root.kind is Kind.B64:
            return self.writer.once("mul.lo.s64", root, Whole(scale))
        return self.writer.once("mul.lo.s32", root, Whole(scale))

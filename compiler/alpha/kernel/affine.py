"""Index arithmetic as sums: what the verifier knows of an index.

A form is a constant plus known factors times atoms. An atom is the index of a loop, the number of a block, a thread or
a lane, or a value of which only the interval is known (a quotient, a remainder, an element of an `index n` buffer).
Intervals of forms follow from those of their atoms; the atoms of one form are distinct, so the interval of a sum over
loops is exact. Where a condition holds, a form that has a multiple of what was compared is bounded by that, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from alpha.base.record import record
from alpha.kernel.builder import IOTA
from alpha.kernel.node import LANES, Atom, Buffer, Compute, Constant, Load, Scalar, Variable

Interval = tuple[int, int]
UNKNOWN: Interval = (-(1 << 63), (1 << 63) - 1)


class Lane:
    """The atom that is 0 ... 15 in the lanes of a vector."""


LANE = Lane()
Part = Variable | Lane


@record
class Form:
    constant: int
    factors: Mapping[Part, int]


class Indices:
    """The forms of the integer variables of a kernel, filled in as its statements are read from the top."""

    def __init__(self, buffers: Sequence[Buffer]) -> None:
        self._buffers = buffers
        self._forms: dict[Variable, Form] = {}
        self._intervals: dict[Part, Interval] = {LANE: (0, LANES - 1)}
        self._conditions: dict[Variable, Compute] = {}
        self._guards: list[tuple[Form, Interval]] = []

    def ranged(self, variable: Variable, count: int) -> None:
        """The variable is one of 0 ... count - 1."""
        self._intervals[variable] = (0, count - 1)

    def loop(self, index: Variable, start: int, stop: int, step: int) -> None:
        turns = max(0, -(-(stop - start) // step))
        self._intervals[index] = (start, start + max(0, turns - 1) * step)

    def form(self, atom: Atom) -> Form:
        if isinstance(atom, Variable):
            return self._forms.get(atom, Form(0, {atom: 1}))
        if isinstance(atom.value, tuple):
            steps = atom.value
            stride = steps[1] - steps[0]
            if steps == tuple(steps[0] + lane * stride for lane in IOTA):
                return Form(steps[0], {LANE: stride} if stride else {})
            return Form(0, {})
        return Form(int(atom.value), {})

    def interval(self, form: Form) -> Interval:
        low = high = form.constant
        factors = dict(form.factors)
        for guard, (first, last) in reversed(self._guards):
            times = _multiple(factors, guard)
            if times is not None:
                factors = {part: by for part, by in factors.items() if part not in guard.factors}
                ends = times * (first - guard.constant), times * (last - guard.constant)
                low += min(ends)
                high += max(ends)
        for part, factor in factors.items():
            first, last = self._intervals.get(part, UNKNOWN)
            low += min(first * factor, last * factor)
            high += max(first * factor, last * factor)
        return low, high

    @contextmanager
    def where(self, condition: Atom) -> Iterator[None]:
        """Within, the condition holds."""
        before = len(self._guards)
        self._assume(condition)
        yield
        del self._guards[before:]

    def _assume(self, condition: Atom) -> None:
        found = self._conditions.get(condition) if isinstance(condition, Variable) else None
        if found is None:
            return
        left, right = found.operands
        if found.operator == "and":
            self._assume(left)
            self._assume(right)
            return
        if not isinstance(right, Constant) or not isinstance(right.value, int):
            return
        form = self.form(left)
        low, high = self.interval(form)
        match found.operator:
            case "less":
                high = min(high, right.value - 1)
            case "greaterEqual":
                low = max(low, right.value)
            case "equal":
                low = high = right.value
            case _:
                return
        if form.factors and low <= high:
            self._guards.append((form, (low, high)))

    def of_part(self, part: Part) -> Interval:
        return self._intervals.get(part, UNKNOWN)

    def load(self, statement: Load) -> None:
        bound = self._buffers[statement.buffer].bound
        if bound is not None:
            self._intervals[statement.result] = (0, bound - 1)

    def compute(self, statement: Compute) -> None:
        """Notes what is known of the result; nothing unless whole numbers make a whole number."""
        result = statement.result
        if result.type.scalar is Scalar.BOOL and len(statement.operands) == 2:
            self._conditions[result] = statement
        atoms = (result, *statement.operands)
        if not all(atom.type.scalar.is_integer for atom in atoms):
            return
        forms = [self.form(atom) for atom in statement.operands]
        match statement.operator:
            case "splat":
                self._forms[result] = forms[0]
            case "convert":
                # Conversions of indices are exact: what does not fit is not known.
                self._narrowed(result, forms[0])
            case "add" if result.type.scalar is Scalar.I64:
                self._forms[result] = _sum(forms[0], forms[1], 1)
            case "sub" if result.type.scalar is Scalar.I64:
                self._forms[result] = _sum(forms[0], forms[1], -1)
            case "mul" if result.type.scalar is Scalar.I64:
                if not forms[0].factors:
                    self._forms[result] = _scaled(forms[1], forms[0].constant)
                elif not forms[1].factors:
                    self._forms[result] = _scaled(forms[0], forms[1].constant)
            case "minimum" if not forms[1].factors:
                low, high = self.interval(forms[0])
                most = forms[1].constant
                self._intervals[result] = (min(low, most), min(high, most))
            case "quotient" if not forms[1].factors and forms[1].constant > 0:
                low, high = self.interval(forms[0])
                if low >= 0:
                    divisor = forms[1].constant
                    self._intervals[result] = (low // divisor, high // divisor)
            case "remainder" if not forms[1].factors and forms[1].constant > 0:
                low, high = self.interval(forms[0])
                if low >= 0:
                    self._intervals[result] = (0, min(high, forms[1].constant - 1))

    def _narrowed(self, result: Variable, form: Form) -> None:
        low, high = self.interval(form)
        bits = 8 * result.type.scalar.size
        signed = result.type.scalar.is_signed
        if -(1 << (bits - 1)) * signed <= low and high < 1 << (bits - signed):
            self._forms[result] = form


def _multiple(factors: Mapping[Part, int], guard: Form) -> int | None:
    """How often the varying part of a guard is in a sum of such factors, with nothing over; None for not at all."""
    times = 0
    for part, by in guard.factors.items():
        found, over = divmod(factors.get(part, 0), by)
        if over or not found or (times and found != times):
            return None
        times = found
    return times


def _sum(a: Form, b: Form, sign: int) -> Form:
    factors = dict(a.factors)
    for part, factor in b.factors.items():
        factors[part] = factors.get(part, 0) + sign * factor
    return Form(
        a.constant + sign * b.constant,
        {part: factor for part, factor in factors.items() if factor},
    )


def _scaled(form: Form, by: int) -> Form:
    if not by:
        return Form(0, {})
    return Form(form.constant * by, {part: factor * by for part, factor in form.factors.items()})

"""Faults found while evaluating terms. Faults of policies and data are in `system_errors` and `data_errors`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from alpha.base.span import Span
from alpha.base.whole import readable
from alpha.core.term import Amount
from alpha.core.types import Type
from alpha.diagnostics.diagnostic import Diagnostic, Label
from alpha.evaluate.budget import BYTES, Exhausted


def _calls(trail: Sequence[tuple[str, Span]]) -> tuple[Label, ...]:
    """The definitions whose evaluation led here, innermost first."""
    return tuple(
        Label(span, f"`{symbol.rpartition('.')[2]}` is evaluated here")
        for symbol, span in reversed(trail[-6:])
    )


def literal(type: Type, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0402",
        f"`{span.text}` does not fit the type it has here",
        span,
        cause="an integer must be exact in its dtype and a float must not overflow",
    )


def number_does_not_fit(number: int, dtype: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0402",
        f"{readable(number)} has no value in {dtype}",
        span,
        cause="a known number is converted exactly to an integer dtype and without overflow to a float",
    )


def staged_choice(word: str, span: Span, trail: Sequence[tuple[str, Span]]) -> Diagnostic:
    return Diagnostic(
        "E0409",
        f"this `{word}` depends on a value that only the running program has",
        span,
        _calls(trail),
        "the compiler takes one branch and forgets the others, so it must know the value",
        ("`select condition a b` chooses between two tensors, element by element",),
    )


def must_be_known(what: str, span: Span, trail: Sequence[tuple[str, Span]] = ()) -> Diagnostic:
    return Diagnostic(
        "E0410",
        f"{what} must be known when the program is compiled",
        span,
        _calls(trail),
        "it comes from a tensor or a key, which only the running program has",
    )


def tensor_in_proof(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0411",
        "a proof needs the value of a tensor",
        span,
        cause="proofs are evaluated by the compiler, which computes no tensor with axes and draws no numbers",
        hints=("a `test` runs compiled code",),
    )


def index_outside(index: int, size: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0423",
        f"index {readable(index)} is outside an axis of size {size}",
        span,
        cause="indices run from 0 to the size of the axis minus 1",
    )


def bound_outside(high: int, size: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0423",
        f"the slice ends at {readable(high)}, behind the end of an axis of size {size}",
        span,
        cause="a slice `a:b` keeps the places a to b - 1",
    )


def empty_slice(low: int, high: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0503",
        f"the slice {low}:{high} keeps nothing",
        span,
        cause="every axis has at least one place",
    )


def size_below_one(
    sizes: Sequence[int],
    span: Span,
    written: Sequence[str] = (),
    values: Mapping[str, int] | None = None,
) -> Diagnostic:
    """`written` are the sizes as formulas, `values` what their names stand for."""
    at = next(place for place, size in enumerate(sizes) if size < 1)
    formula = written[at] if written else ""
    what = f"the size `{formula}`" if formula and not formula.lstrip("-").isdigit() else "a size"
    used = [
        f"`{name} = {readable(value)}`"
        for name, value in (values or {}).items()
        if name != formula and re.search(rf"(?<![\w']){re.escape(name)}(?![\w'])", formula)
    ]
    where = f", with {' and '.join(used)}" if used else ""
    return Diagnostic(
        "E0503", f"{what} is {sizes[at]}{where}", span, cause="every axis has at least one place"
    )


def where_broken(name: str, value: int, expected: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0412",
        f"`{name}` is {readable(value)}, but the model's `where` makes it {expected}",
        span,
        cause="the sizes of a model must satisfy its equations",
        hints=(f"write `{name} = {expected}`",),
    )


def division_by_zero(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0504", "this divides a known value by zero", span, cause="the divisor evaluates to 0"
    )


def negative_exponent(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0404",
        "`Int ^ Int` is not defined for a negative exponent",
        span,
        cause="the result would not be a whole number",
    )


def integer_power(span: Span) -> Diagnostic:
    return Diagnostic("E0404", "`^` is not defined for integer tensors", span)


def units_differ(left: Amount, right: Amount, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0310",
        f"an amount of {unit_name(left)} meets an amount of {unit_name(right)}",
        span,
        cause="`+`, `-` and comparisons need equal units",
    )


def wrong_unit(found: Amount, wanted: Amount, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0310",
        f"this is an amount of {unit_name(found)}, not of {unit_name(wanted)}",
        span,
        cause="the signature names the unit",
    )


def unit_name(amount: Amount) -> str:
    """The unit in words: `bytes per second`, `count`, `feature`."""
    if amount.feature:
        return "feature"
    names = ("bytes", "seconds", "flops")
    parts = [
        name if power == 1 else f"{name}^{power}"
        for name, power in zip(names, amount.unit, strict=True)
        if power > 0
    ]
    below = [
        name.removesuffix("s") if power == -1 else f"{name}^{-power}"
        for name, power in zip(names, amount.unit, strict=True)
        if power < 0
    ]
    if not parts and not below:
        return "count"
    if not parts and below == ["second"]:
        return "hertz"
    return " ".join(["*".join(parts) or "1", *(f"per {name}" for name in below)])


def exhausted(fault: Exhausted, span: Span) -> Diagnostic:
    account = fault.account
    most = ", ".join(f"`{name}` ({steps:,})" for name, steps in account.most())
    if fault.what == "bytes":
        return Diagnostic(
            "E0502",
            f"evaluating module `{account.module}` made more than {BYTES // 2**20} MiB of values",
            span,
            cause=f"most steps were spent in {most}",
            hints=("build smaller lists: the limit counts every value that was ever made",),
        )
    return Diagnostic(
        "E0502",
        f"evaluating module `{account.module}` took more than {account.limit:,} steps",
        span,
        cause=f"most steps were spent in {most}",
        hints=(
            f"if it is meant, raise the budget in the header: "
            f"`module {account.module} budget {account.limit * 4:_}`",
        ),
    )


def key_used_twice(first: Span, second: Span) -> Diagnostic:
    return Diagnostic(
        "E0601",
        "this key was used before",
        second,
        (Label(first, "first used here"),),
        "two draws from one key would give the same numbers",
        ("`let (a, b) = split key` gives two keys",),
    )


def drawn_and_derived(first: Span, second: Span) -> Diagnostic:
    return Diagnostic(
        "E0602",
        "this key is both drawn from and derived from",
        second,
        (Label(first, "the other use"),),
        "a key is drawn from once, or other keys are derived from it, never both",
        ("derive one more key and draw from that",),
    )


def key_captured(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0603",
        "the body of a loop uses a key from outside",
        span,
        cause="every round would draw the same numbers",
        hints=("`derive key i` with the loop's own index gives each round its key",),
    )


def changes_between_turns(span: Span, trail: Sequence[tuple[str, Span]]) -> Diagnostic:
    return Diagnostic(
        "E0410",
        "a turn of this loop changes something that must be known when the program is compiled",
        span,
        _calls(trail),
        "the turns of a loop are compiled once, so only tensors and keys may differ from turn to turn",
        ("carry a number as a tensor, such as a `u32` or an `f32`", "`fold` writes every turn out"),
    )


def loops_too_deep(deepest: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0502",
        f"more than {deepest} loops stand inside each other here",
        span,
        cause="`through` and `iterate` make loops of the program, and each in another makes its gradient longer",
        hints=("let one loop do the work of several",),
    )


def label_used_twice(first: Span, second: Span) -> Diagnostic:
    return Diagnostic(
        "E0604",
        "this key was derived with the same label before",
        second,
        (Label(first, "first derived here"),),
        "equal labels give equal keys",
        ("use another number as the label",),
    )


def proof_false(
    name: str, span: Span, values: Sequence[tuple[Span, str]], whole: bool = True
) -> Diagnostic:
    return Diagnostic(
        "P0001",
        f"the proof `{name}` is false",
        span,
        tuple(Label(place, text) for place, text in values),
        "a proof is part of the program: it must evaluate to `True`",
    )


def test_failed(name: str, span: Span, values: Sequence[tuple[Span, str]]) -> Diagnostic:
    return Diagnostic(
        "P0003",
        f"the test `{name}` fails",
        span,
        tuple(Label(place, text) for place, text in values),
        "a test must come to `True` when it is run",
    )

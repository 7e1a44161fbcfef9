"""Faults of types: what was found is not what was expected."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.check.errors_names import did_you_mean
from alpha.core.types import Constraint, Kind
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label

Labels = tuple[Label, ...]


def differ(span: Span, found: str, expected: str, labels: Labels, detail: str = "") -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"this is `{found}`, but `{expected}` is expected here",
        span,
        labels,
        detail or "the two types have no value in common",
    )


def infinite(span: Span, found: str, expected: str) -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"this would have to be both `{found}` and `{expected}`, which contains it",
        span,
        cause="a type cannot be a part of itself",
        hints=("is an argument missing, or one too many?",),
    )


def not_a_function(span: Span, found: str, count: int) -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"this is `{found}`, which is not a function, but it is given {_arguments(count)}",
        span,
        cause="only functions can be applied",
        hints=("is an operator or a comma missing between the two?",),
    )


def too_many(span: Span, name: str, takes: int, given: int, labels: Labels = ()) -> Diagnostic:
    return Diagnostic(
        "E0302",
        f"`{name}` takes {_arguments(takes)}, but {given} are given",
        span,
        labels,
        "nothing is left that could take the rest",
        ("put brackets around an argument that is itself an application",),
    )


def parameters(span: Span, name: str, takes: int, written: int, signature: Span) -> Diagnostic:
    return Diagnostic(
        "E0302",
        f"`{name}` has {written} parameters, but its signature has {takes}",
        span,
        (Label(signature, f"the signature takes {_arguments(takes)}"),),
        "every parameter needs its arrow in the signature",
    )


def pattern_arguments(span: Span, name: str, takes: int, written: int) -> Diagnostic:
    return Diagnostic(
        "E0302",
        f"the constructor `{name}` holds {_values(takes)}, but the pattern has {written}",
        span,
        cause="a pattern names every value of its constructor",
        hints=("use `_` for a value that is not needed",),
    )


def special_arguments(span: Span, name: str, usage: str) -> Diagnostic:
    return Diagnostic(
        "E0302",
        f"`{name}` is not given all it needs here",
        span,
        cause=f"a part of its type is written in its arguments: `{usage}`",
        hints=(f"write `{usage}`",),
    )


def missing_patterns(span: Span, missing: Sequence[str], value: Span, type_: str) -> Diagnostic:
    shown = ", ".join(f"`{pattern}`" for pattern in missing)
    return Diagnostic(
        "E0303",
        f"this `match` does not say what to do for {shown}",
        span,
        (Label(value, f"this is `{type_}`"),),
        "every value must have an arm",
        ("add the missing arms", "or a last arm `_ -> ...`"),
    )


def refutable(span: Span, missing: str) -> Diagnostic:
    return Diagnostic(
        "E0303",
        f"this pattern does not fit every value: `{missing}` is left out",
        span,
        cause="a `let` and a parameter have no other arm to go to",
        hints=("use `match`",),
    )


def never_reached(span: Span, earlier: Span) -> Diagnostic:
    return Diagnostic(
        "E0304",
        "this arm is never reached",
        span,
        (Label(earlier, "the arms up to here already fit everything that it fits"),),
        "arms are tried from top to bottom",
        ("remove it, or move it up",),
    )


def no_record(
    span: Span, fields: Sequence[str], nearest: str, missing: Sequence[str], extra: Sequence[str]
) -> Diagnostic:
    parts = []
    if missing:
        parts.append(f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    if extra:
        parts.append(f"it has no {_listed(extra)}")
    cause = (
        f"the nearest is `{nearest}`: {', and '.join(parts)}"
        if nearest and parts
        else "no record type fits"
    )
    return Diagnostic(
        "E0305",
        f"no record in scope has exactly the {'field' if len(fields) == 1 else 'fields'} {_listed(fields)}",
        span,
        cause=cause,
    )


def record_fields(
    span: Span,
    name: str,
    missing: Sequence[str],
    extra: Sequence[str],
    known: Sequence[str],
    labels: Labels = (),
) -> Diagnostic:
    parts = []
    if missing:
        parts.append(f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    if extra:
        parts.append(f"it has no field {_listed(extra)}")
    hints = tuple(hint for e in extra for hint in did_you_mean(e, known))[:3]
    return Diagnostic(
        "E0305",
        f"this record is not a `{name}`: {', and '.join(parts)}",
        span,
        labels,
        f"a `{name}` has exactly the fields {_listed(list(known))}",
        hints,
    )


def several_records(span: Span, names: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0305",
        f"several records have exactly these fields: {_listed(names)}",
        span,
        cause="nothing here says which one is meant",
        hints=("write a signature, or a type behind the `let`",),
    )


def field_twice(span: Span, name: str, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0305",
        f"the field `{name}` is given twice",
        span,
        (Label(first, "first given here"),),
        "a record has one value for each field",
    )


def no_field(span: Span, name: str, owner: str, known: Sequence[str]) -> Diagnostic:
    shown = _listed(sorted(known)[:12]) if known else ""
    return Diagnostic(
        "E0305",
        f"`{owner}` has no `{name}`",
        span,
        cause=f"it has {shown}" if shown else "it has no fields at all",
        hints=did_you_mean(name, known),
    )


def unknown_record(span: Span, name: str, records: Sequence[str]) -> Diagnostic:
    having = (
        f"records with a field `{name}`: {_listed(records)}"
        if records
        else f"no record in scope has `{name}`"
    )
    return Diagnostic(
        "E0306",
        f"it is not known what this is, so `.{name}` cannot be looked up",
        span,
        cause=having,
        hints=("annotate the parameter, as in `fn (x : Type) -> ...`, or write a signature",),
    )


def unknown_operand(span: Span, what: str) -> Diagnostic:
    return Diagnostic(
        "E0307",
        f"it is not known what `{what}` works on here",
        span,
        cause="nothing in this definition fixes the type of its operands",
        hints=(
            "annotate a parameter, as in `fn (x : Tensor f32 [n]) -> ...`, or write a signature",
        ),
    )


def constraint(span: Span, found: str, wanted: Constraint, labels: Labels = ()) -> Diagnostic:
    words = {
        Constraint.EQ: (
            "cannot be compared for equality",
            "functions, keys and tensors with axes have no equality",
        ),
        Constraint.ORD: ("has no order", "`Int`, `Text`, `Amount` and scalars have one"),
        Constraint.NUM: ("has no arithmetic", "`Int`, `Amount` and numeric tensors have it"),
    }
    message, cause = words[wanted]
    return Diagnostic("E0308", f"`{found}` {message}", span, labels, cause)


def too_general(span: Span, name: str, found: str) -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"the signature says `{name}` may be any type, but the definition needs `{found}`",
        span,
        cause=f"whoever uses it chooses `{name}`",
        hints=("make the signature more special",),
    )


def takes_no_arguments(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"`{name}` takes no type arguments",
        span,
        cause="it is a complete type, or a variable for one",
    )


def argument_count(
    span: Span, name: str, kinds: Sequence[tuple[str, Kind]], given: int
) -> Diagnostic:
    usage = _usage(name, kinds)
    return Diagnostic(
        "E0309",
        f"`{name}` takes {_type_arguments(len(kinds))}, but {given} {'is' if given == 1 else 'are'} given",
        span,
        cause="a type is written with all its arguments",
        hints=(f"write `{usage}`",),
    )


def wrong_kind(span: Span, wanted: str, found: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"{wanted} is expected here, not {found}",
        span,
        cause="each place of a type takes one kind of argument",
    )


def two_kinds(span: Span, name: str, first: str, second: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"`{name}` is {first} elsewhere and {second} here",
        span,
        cause="a name in a type stands for one kind of thing",
        hints=("use two names",),
    )


def record_type_here(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0309",
        "a record type can only be written in a `type` declaration",
        span,
        cause="records are nominal: each has a name",
        hints=("declare `type Name = { ... }` and use `Name` here",),
    )


def index_without_size(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0309",
        "`index` needs its size",
        span,
        cause="an index is below a known size",
        hints=("write `index n`",),
    )


def spread_not_first(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"`...{name}` may only stand first",
        span,
        cause="shapes are matched from the right; the rest goes to the axes variable",
    )


def units(span: Span, left: str, right: str, labels: Labels = ()) -> Diagnostic:
    return Diagnostic(
        "E0310",
        f"the units differ: {left} and {right}",
        span,
        labels,
        "only amounts of one unit can be added or compared",
    )


def operator(
    span: Span, sign: str, left: str, right: str | None, allowed: str, labels: Labels
) -> Diagnostic:
    what = f"`{left}` and `{right}`" if right is not None else f"`{left}`"
    return Diagnostic("E0301", f"`{sign}` is not defined for {what}", span, labels, allowed)


def dtypes(span: Span, left: str, right: str, labels: Labels) -> Diagnostic:
    return Diagnostic(
        "E0401",
        f"the dtypes differ: `{left}` and `{right}`",
        span,
        labels,
        "nothing is converted silently",
        (f"convert one of them, for example with `cast {right} ...`",),
    )


def literal(span: Span, written: str, dtype: str) -> Diagnostic:
    return Diagnostic(
        "E0402",
        f"`{written}` does not fit `{dtype}`",
        span,
        cause="an integer literal must be exact in its dtype, and a float literal within its range",
    )


def unchecked_index(span: Span, found: str, wanted: str, labels: Labels = ()) -> Diagnostic:
    return Diagnostic(
        "E0403",
        f"`{found}` is not known to be below the size, so it is no `{wanted}`",
        span,
        labels,
        "an index comes from `argmax`, `positions`, or a data source that has proved its range",
    )


def dtype_undefined(span: Span, operation: str, dtype: str, allowed: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0404",
        f"`{operation}` is not defined for `{dtype}`",
        span,
        cause=f"it is defined for {', '.join(allowed)}" if allowed else "",
    )


def power_undefined(span: Span, cause: str) -> Diagnostic:
    return Diagnostic("E0404", "`^` is not defined for these operands", span, cause=cause)


def cast(span: Span, found: str, target: str) -> Diagnostic:
    return Diagnostic(
        "E0405",
        f"there is no cast from `{found}` to `{target}`",
        span,
        cause="casts go between numbers, and from `bool` and `index n` to numbers",
    )


def staged_condition(span: Span, found: str, what: str) -> Diagnostic:
    return Diagnostic(
        "E0409",
        f"`{what}` chooses before the program runs, and this is `{found}`",
        span,
        cause="a tensor's elements are not known at compile time",
        hints=("choose element by element with `select condition a b`",),
    )


def not_yet(span: Span, what: str) -> Diagnostic:
    return Diagnostic(
        "E0011",
        f"{what} is part of the language, but not of this version yet",
        span,
        cause="this version of the compiler does not build it",
    )


def cast_fix(span: Span, dtype: str) -> Fix:
    return Fix(f"cast to {dtype}", span, f"(cast {dtype} ({span.text}))")


def _usage(name: str, kinds: Sequence[tuple[str, Kind]]) -> str:
    types = [n if k is not Kind.SHAPE else f"[{n}]" for n, k in kinds if k is not Kind.DIM]
    dims = [n for n, k in kinds if k is Kind.DIM]
    if name in ("index", "Stack"):
        return " ".join([name, *[n for n, _ in kinds]])
    return " ".join([name, *types, *([f"[{', '.join(dims)}]"] if dims else [])])


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names]
    return (
        shown[0]
        if len(shown) == 1
        else ", ".join(shown[:-1]) + " and " + shown[-1]
        if shown
        else ""
    )


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"


def _type_arguments(count: int) -> str:
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"


def _values(count: int) -> str:
    return "no value" if count == 0 else "one value" if count == 1 else f"{count} values"

"""Faults of types: what was found is not what was expected."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.core.types import Constraint
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label

Labels = tuple[Label, ...]


_NO_LIST = (
    "a tensor is no list: operations work on all its elements at once, so `relu x` is enough where"
    " `map relu x` was meant"
)
_NUMBERS = ("a number", "a whole number", "f32")
_CONSTANT = "a rate that stays is `constant 0.1` of `Alpha.Schedule`"


def differ(span: Span, found: str, expected: str, labels: Labels, detail: str = "") -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"this is {_shown(found)}, but {_shown(expected)} is expected here",
        span,
        labels,
        detail or "nothing is converted silently",
        _hints(found, expected),
    )


def _hints(found: str, expected: str) -> tuple[str, ...]:
    if expected == "u32 -> f32" and found in _NUMBERS:
        return (_CONSTANT,)
    if found.startswith("Tensor ") and expected.startswith("List "):
        return (_NO_LIST,)
    return ()


def _shown(type_: str) -> str:
    """A type, or what is known of the type of a literal."""
    return type_ if type_ in ("a number", "a whole number") else f"`{type_}`"


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


def units(span: Span, left: str, right: str, labels: Labels = ()) -> Diagnostic:
    return Diagnostic(
        "E0310",
        f"the units differ: {left} and {right}",
        span,
        labels,
        "only amounts of one unit can be added or compared",
    )


_FLOATS = ("f32", "f64", "bf16", "f16", "a number")


def operator(
    span: Span, sign: str, left: str, right: str | None, allowed: str, labels: Labels
) -> Diagnostic:
    what = f"`{left}` and `{right}`" if right is not None else f"`{left}`"
    mixed = "Int" in (left, right) and any(
        side is not None and (side in _FLOATS or side.startswith("Tensor "))
        for side in (left, right)
    )
    hints = ("`toFloat n` is the `f32` nearest to a whole number",) if mixed else ()
    return Diagnostic("E0301", f"`{sign}` is not defined for {what}", span, labels, allowed, hints)


def dtypes(
    span: Span, left: str, right: str, labels: Labels, fixes: tuple[Fix, ...] = ()
) -> Diagnostic:
    return Diagnostic(
        "E0401",
        f"the dtypes differ: `{left}` and `{right}`",
        span,
        labels,
        "nothing is converted silently",
        () if fixes else (_dtype_hint(left, right),),
        fixes,
    )


_ELSEWHERE = {
    "float32": "f32", "float": "f32", "float64": "f64", "double": "f64", "float16": "f16", "half": "f16",
    "bfloat16": "bf16", "int": "i32", "int32": "i32", "int64": "i64", "long": "i64", "uint8": "u8", "byte": "u8",
    "uint32": "u32", "boolean": "bool",
}  # fmt: skip


def _dtype_hint(left: str, right: str) -> str:
    for name in (left, right):
        if name in _ELSEWHERE:
            return f"`{name}` is a variable for any dtype; the dtype is called `{_ELSEWHERE[name]}`"
    return "`cast` converts a tensor to another dtype: `cast f32 x`"


def literal(span: Span, written: str, dtype: str, nearest: str = "") -> Diagnostic:
    """`nearest` is the value of the dtype that is nearest, as it would be written."""
    return Diagnostic(
        "E0402",
        f"`{written}` does not fit `{dtype}`",
        span,
        cause="an integer literal must be exact in its dtype, and a float literal within its range",
        hints=(f"the nearest value of `{dtype}` is `{nearest}`",) if nearest else (),
        fixes=(Fix(f"write `{nearest}`", span, nearest),) if nearest else (),
    )


_WHENCE = "an index comes from `argmax`, `positions`, or a data source that has proved its range"


def unchecked_index(span: Span, found: str, wanted: str, labels: Labels = ()) -> Diagnostic:
    return Diagnostic(
        "E0403",
        f"`{found}` may be any number, and `{wanted}` is one below its size",
        span,
        labels,
        _WHENCE,
        (f"give the field of the batch, or the parameter, the type `{wanted}`",),
    )


def index_cast(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0403",
        "a cast does not show that a number is below the size, so it makes no `index n`",
        span,
        cause=_WHENCE,
    )


def dtype_undefined(span: Span, operation: str, dtype: str, allowed: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0404",
        f"`{operation}` is not defined for `{dtype}`",
        span,
        cause=f"it is defined for {', '.join(allowed)}" if allowed else "",
        hints=("`cast f32 x` makes floats of numbers",)
        if "f32" in allowed and "i32" not in allowed and dtype[0] in "iub"
        else (),
    )


def power_undefined(span: Span, cause: str) -> Diagnostic:
    return Diagnostic("E0404", "`^` is not defined for these operands", span, cause=cause)


def cast(span: Span, found: str, target: str) -> Diagnostic:
    return Diagnostic(
        "E0405",
        f"there is no cast from `{found}` to `{target}`",
        span,
        cause="casts go between numbers, and from `bool` and `index n` to numbers",
        hints=("compare instead: `x != 0.0` gives `bool`",) if target == "bool" else (),
    )


def staged_condition(span: Span, found: str, what: str) -> Diagnostic:
    return Diagnostic(
        "E0409",
        f"`{what}` chooses before the program runs, and this is `{found}`",
        span,
        cause="a tensor's elements are not known at compile time",
        hints=("choose element by element with `select condition a b`",),
    )


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"


def _values(count: int) -> str:
    return "no value" if count == 0 else "one value" if count == 1 else f"{count} values"

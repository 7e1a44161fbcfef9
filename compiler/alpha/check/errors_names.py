"""Faults of names: unknown, defined twice, without a definition, calling themselves, never used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from alpha.base.span import Span
from alpha.diagnostics.closest import closest_written, guesses
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity


def unknown(
    span: Span,
    name: str,
    what: str,
    known: Iterable[str],
    exposing: Sequence[str] = (),
    there: str = "",
) -> Diagnostic:
    """`exposing` are modules from which the name could be imported; they are likelier than a slip of the hand.

    `there` is how they spell it, if it differs.
    """
    there = there or name
    known = [] if exposing else [n for n in known if n != name]
    it = "it" if there == name else f"`{there}`"
    imports = tuple(f"`{module}` has {it}: `import {module} ({there})`" for module in exposing)
    return Diagnostic(
        "E0101",
        f"nothing named `{name}` is in scope here",
        span,
        cause=f"`{name}` is used as {_article(what)}, and no definition, import or prelude name of that kind has it",
        hints=imports or guesses(name, known),
        fixes=closest_written(span, name, known),
    )


def foreign(span: Span, name: str, hint: str) -> Diagnostic:
    """A name from another language or framework; `hint` is how it is said here."""
    return Diagnostic(
        "E0101",
        f"nothing named `{name}` is in scope here",
        span,
        cause=f"no definition, import or prelude name is called `{name}`",
        hints=(hint,),
    )


def not_a_value(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0101",
        f"`{name}` is a module, not a value",
        span,
        cause="a module's name only stands before a dot",
        hints=(f"write `{name}.something`",),
    )


def dtype_as_value(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0101",
        f"`{name}` is a dtype, and a dtype is not a value",
        span,
        cause="dtypes stand in types, and behind `cast`",
        hints=(f"convert with `cast {name} x`",),
    )


def defined_twice(span: Span, name: str, first: Span, what: str = "is defined twice") -> Diagnostic:
    return Diagnostic(
        "E0104",
        f"`{name}` {what}",
        span,
        (Label(first, "first defined here"),),
        "one name means one thing within a module, and an inner name may not hide an outer one",
        ("choose another name for one of the two",),
    )


def hides(span: Span, name: str, outer: Span) -> Diagnostic:
    return Diagnostic(
        "E0104",
        f"`{name}` hides a name that is already in scope",
        span,
        (Label(outer, f"this `{name}` would be hidden"),),
        "only names of the prelude may be hidden",
        (f"call the inner one something else, for example `{name}'`",),
    )


def without_definition(span: Span, name: str, known_intrinsic: bool) -> Diagnostic:
    cause = (
        "only the compiler's own library and platform modules may leave a signature without a definition"
        if known_intrinsic
        else "the compiler has no operation of this name to stand behind the signature"
    )
    return Diagnostic(
        "E0108",
        f"`{name}` has a signature but no definition",
        span,
        cause=cause,
        hints=(f"add a line `{name} ... = ...` below the signature",),
    )


def without_signature_in_model(span: Span, name: str, model: str) -> Diagnostic:
    return Diagnostic(
        "E0110",
        f"the function `{name}` of model `{model}` has no signature",
        span,
        cause="functions of a model are what other modules rely on, so their types are written down",
        hints=(f"add a line `{name} : ...` above the definition",),
    )


def recursion(span: Span, names: list[str], labels: tuple[Label, ...]) -> Diagnostic:
    path = " -> ".join([*names, names[0]])
    one = len(names) == 1
    return Diagnostic(
        "E0501",
        f"`{names[0]}` uses itself"
        if one
        else f"these definitions use each other in a circle: {path}",
        span,
        labels,
        "evaluation always ends, so nothing may depend on itself",
        ("use `fold`, `map`, `iterate` or `through` to repeat something",),
    )


def type_contains_itself(span: Span, names: list[str], labels: tuple[Label, ...]) -> Diagnostic:
    path = " -> ".join([*names, names[0]])
    return Diagnostic(
        "E0501",
        f"the type `{names[0]}` contains itself: {path}",
        span,
        labels,
        "a value of such a type could have no fixed size",
        ("use a `List` of an inner type",),
    )


def unused(span: Span, name: str, written: Span) -> Diagnostic:
    """`written` is all of it, its signature included."""
    return Diagnostic(
        "W0002",
        f"`{name}` is never used",
        span,
        cause="it is not in the module's `exposing` list and nothing in the module refers to it",
        hints=("remove it, or add it to `exposing`",),
        fixes=(Fix("remove it", written, ""),),
        severity=Severity.WARNING,
    )


def unused_key(span: Span) -> Diagnostic:
    return Diagnostic(
        "W0003",
        f"the key `{span.text}` is never used",
        span,
        cause="nothing is drawn or derived from it, so no randomness reaches what it was given to",
        hints=("draw from it, or write `_` in its place",),
        severity=Severity.WARNING,
    )


def no_signature(span: Span, name: str, signature: str, sure: bool) -> Diagnostic:
    """`sure` means that every name of the type is in scope."""
    start = Span(span.source, span.start, span.start)
    return Diagnostic(
        "W0004",
        f"the exported definition `{name}` has no signature",
        span,
        cause=f"its inferred type is `{signature}`",
        hints=("write the type down, so that a change of it is seen where it is made",),
        fixes=(Fix("insert the inferred signature", start, f"{name} : {signature}\n", sure),),
        severity=Severity.WARNING,
    )


def _article(what: str) -> str:
    if what.startswith(("a ", "an ")):
        return what
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"

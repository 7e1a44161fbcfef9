"""Faults of declarations: entries, facts, pairings."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.diagnostics.closest import closest_written, guesses
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label

Labels = tuple[Label, ...]


def too_large(span: Span, what: str) -> Diagnostic:
    """E0010 of what cannot be looked at part by part any more."""
    return Diagnostic(
        "E0010",
        f"the types or sizes of {what} have too many parts to be checked",
        span,
        cause="what holds its argument twice doubles it at each use: forty uses make a million million parts",
        hints=(
            "a list holds many equal things",
            "a record or a variant has a name instead of parts",
        ),
    )


def literal_in_pairing(span: Span, what: str, pairing: Span) -> Diagnostic:
    return Diagnostic(
        "E0203",
        f"a module with a pairing holds no {what}",
        span,
        (Label(pairing, "the pairing"),),
        "a pairing never restates a fact: demands come from the build, supplies from the profile",
        ("move it to the system or to the profile",),
    )


def pairing_place(span: Span, message: str, cause: str, labels: Labels = ()) -> Diagnostic:
    return Diagnostic("E0204", message, span, labels, cause)


def missing_entry(span: Span, what: str, name: str, entry: str, form: str = "") -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"the {what} `{name}` has no `{entry}`",
        span,
        cause=f"every {what} states it",
        hints=(f"add `{form or entry + ' = ...'}`",),
    )


def unknown_entry(span: Span, what: str, entry: str, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"a {what} has no entry `{entry}`",
        span,
        cause="its entries are " + ", ".join(f"`{k}`" for k in known),
        hints=guesses(entry, known),
        fixes=closest_written(span, entry, known),
    )


def entry_parameters(span: Span, what: str, entry: str, form: str, hint: str = "") -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"the entry `{entry}` of {_article(what)} is not written like this",
        span,
        cause=f"its form is `{form}`",
        hints=(hint,) if hint else (),
    )


def unknown_metric(span: Span, name: str, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"the learner has no metric `{name}`",
        span,
        cause="a report and a stop rule name `loss` or a metric of the learner",
        hints=guesses(name, known),
    )


def batch_type(span: Span, message: str, cause: str) -> Diagnostic:
    return Diagnostic(
        "E0301",
        message,
        span,
        cause=cause,
        hints=("declare `type Batch [batch] = { field : Tensor f32 [batch, n], ... }`",),
    )


def loss_type(span: Span, found: str) -> Diagnostic:
    return Diagnostic(
        "E0610",
        f"the loss is `{found}`, not one `f32`",
        span,
        cause="a gradient is taken of a single number",
        hints=("reduce it with `mean` or `sum`",),
    )


def integer_parameter(span: Span, name: str, found: str) -> Diagnostic:
    return Diagnostic(
        "E0613",
        f"the parameter `{name}` is `{found}`, which has no gradient",
        span,
        cause="a model's parameters are float tensors: an optimizer moves them by small steps",
        hints=("use `f32`; what does not change belongs into the functions of the model",),
    )


def slot_start(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"the slot `{name}` starts from `{span.text}`",
        span,
        cause="a slot starts from `zeros` or `ones`: optimizers hold no randomness and no state but their slots",
    )


def unknown_fact(span: Span, kind: str, name: str, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0702",
        f"there is no {kind} named `{name}`",
        span,
        cause=f"the names of {_plural(kind)} are fixed, so that a misspelt one cannot pass unseen",
        hints=guesses(name, known),
        fixes=closest_written(span, name, known),
    )


def fact_twice(span: Span, name: str, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0703",
        f"`{name}` is stated twice",
        span,
        (Label(first, "first stated here"),),
        "a profile states each fact once, inclusions counted",
    )


def not_shareable(span: Span, what: str) -> Diagnostic:
    return Diagnostic(
        "E0705",
        f"{what} cannot be shared",
        span,
        cause="a group of facts holds Architectural supplies only: what is true of every part",
        hints=("state it in the profile of the device it was found on",),
    )


def amount(span: Span, name: str, message: str, cause: str) -> Diagnostic:
    return Diagnostic("E0706", f"the amount of `{name}` {message}", span, cause=cause)


def wrong_fact_kind(span: Span, name: str, written: str, right: str) -> Diagnostic:
    return Diagnostic(
        "E0707",
        f"`{name}` is {_article(right)}, not {_article(written)}",
        span,
        cause="supplies decide admission; estimates only rank candidates and never reach it",
        hints=(f"write `{right} {name} = ...`",),
        fixes=_keyword_above(span, written, right),
    )


def _keyword_above(span: Span, written: str, right: str) -> tuple[Fix, ...]:
    """The edit of the keyword that stands directly before `span`."""
    at = span.source.text.rfind(written, 0, span.start)
    if at < 0 or span.source.text[at + len(written) : span.start].strip():
        return ()
    return (Fix(f"write `{right}`", Span(span.source, at, at + len(written)), right),)


def grade(span: Span, grade_: str, source: str, fitting: Sequence[str], place: Span) -> Diagnostic:
    return Diagnostic(
        "E0708",
        f"the grade `{grade_}` does not fit this source",
        span,
        (Label(place, f"this source is a `{source}`"),),
        f"`{grade_}` cites {' or '.join(f'a `{f}`' for f in fitting)}",
    )


def unknown_grade(span: Span, grade_: str, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0101",
        f"there is no grade `{grade_}`",
        span,
        cause="evidence is " + ", ".join(f"`{k}`" for k in known),
        hints=guesses(grade_, known),
        fixes=closest_written(span, grade_, known),
    )


def profile_type(span: Span, found: str) -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"`{found}` is not the type of a profile",
        span,
        cause="it is a record with exactly the fields `identity : List Identity`, `supplies : List Supply` and "
        "`estimates : List Estimate` of `Alpha.Admission`",
    )


def host_type(span: Span, found: str) -> Diagnostic:
    return Diagnostic(
        "E0301",
        f"`{found}` is no type of hosts",
        span,
        cause="a host is a record called `PlanHost`, which the platform of the device declares",
        hints=("import it: `import Platform.Linux.Nvidia.PlanHost (PlanHost)`",),
    )


def rejects_other(span: Span, name: str, wanted: str, found: Sequence[str]) -> Diagnostic:
    seen = " and ".join(found) if found else "no error"
    return Diagnostic(
        "P0002",
        f"`{name}` says {wanted}, but the expression gives {seen}",
        span,
        cause="`rejects` checks its expression alone and wants exactly that code",
    )


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _plural(word: str) -> str:
    return {"supply": "supplies", "identity": "identities"}.get(word, word + "s")

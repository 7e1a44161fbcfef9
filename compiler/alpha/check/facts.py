"""Sources, groups of facts and profiles: evidence, names, units, grades (specification, section 19)."""

from __future__ import annotations

from fractions import Fraction

from alpha.base.span import Span
from alpha.check import errors_declarations, errors_names
from alpha.check.builtin import ESTIMATES, GRADES, IDENTITIES, SUPPLIES, unit_text
from alpha.check.definitions import new_context
from alpha.check.entries import Blame
from alpha.check.finish import finish
from alpha.check.module_scope import Work
from alpha.check.scope import Group, Value
from alpha.check.solver import AMOUNT, TEXT
from alpha.core import term
from alpha.core.types import Named, Type
from alpha.syntax import tree

_SOURCE = Named("Source")
_FIELDS = {
    "identity": "Alpha.Admission.Identity",
    "supplies": "Alpha.Admission.Supply",
    "estimates": "Alpha.Admission.Estimate",
}


def is_profile(work: Work, type_: Type) -> bool:
    """A record with exactly the three lists of `Alpha.Admission`."""
    entity = work.registry.records.get(type_.name) if isinstance(type_, Named) else None
    if entity is None:
        return False
    wanted = {name: Named("List", (Named(symbol),)) for name, symbol in _FIELDS.items()}
    return dict(entity.fields) == wanted


def declare_source(work: Work, item: tree.SourceDecl, value: Value) -> None:
    """What kind of citation it is shows in its definition: `manual`, `header`, `run` or `model`."""
    body = item.body.value
    head = body.function if isinstance(body, tree.Apply) else body
    value.citation = head.name if isinstance(head, tree.Var) else ""


def check_source(work: Work, item: tree.SourceDecl, value: Value) -> None:
    cx = new_context(work)
    blame = Blame(item.name.span, "a source is a citation")
    found = finish(cx, cx.check(item.body, _SOURCE, blame))
    if found is not None and value.scheme is not None:
        work.definitions.append(term.Definition(value.symbol, value.scheme, found, item.span))


def check_facts(work: Work, item: tree.FactsDecl) -> None:
    group = Group()
    for fact in item.facts:
        if fact.kind != "supply":
            article = "an" if fact.kind[0] in "aei" else "a"
            work.report(errors_declarations.not_shareable(fact.name.span, f"{article} {fact.kind}"))
        elif fact.grade.text in GRADES and fact.grade.text != "Architectural":
            what = f"a {fact.grade.text} fact"
            work.report(errors_declarations.not_shareable(fact.grade.span, what))
        made = _fact(work, fact, group.places)
        if made is not None:
            group.facts.append(made)
    work.groups[item.name.text] = group
    work.registry.groups[work.symbol(item.name.text)] = group


def check_profile(work: Work, item: tree.ProfileDecl, value: Value) -> None:
    if value.scheme is None:
        return
    type_ = value.scheme.type
    facts: list[term.Fact] = []
    places: dict[str, Span] = {}
    good = True
    for part in item.items:
        if isinstance(part, tree.Include):
            group = work.groups.get(part.name.text)
            if group is None:
                known = list(work.groups)
                work.report(
                    errors_names.unknown(part.name.span, part.name.text, "group of facts", known)
                )
                good = False
                continue
            for fact in group.facts:
                if fact.name in places:
                    work.report(
                        errors_declarations.fact_twice(part.name.span, fact.name, places[fact.name])
                    )
                places.setdefault(fact.name, group.places[fact.name])
            facts.extend(group.facts)
        else:
            made = _fact(work, part, places)
            if made is None:
                good = False
            else:
                facts.append(made)
    if good:
        work.profiles.append(term.Profile(value.symbol, type_, tuple(facts), item.span))


_KNOWN = {"supply": tuple(SUPPLIES), "estimate": tuple(ESTIMATES), "identity": IDENTITIES}


def _fact(work: Work, fact: tree.Fact, places: dict[str, Span]) -> term.Fact | None:
    name, kind = fact.name.text, fact.kind
    if name not in _KNOWN[kind]:
        other = next((k for k, names in _KNOWN.items() if name in names), None)
        if other is not None and "identity" not in (kind, other):
            work.report(errors_declarations.wrong_fact_kind(fact.name.span, name, kind, other))
        else:
            work.report(errors_declarations.unknown_fact(fact.name.span, kind, name, _KNOWN[kind]))
        return None
    if name in places:
        work.report(errors_declarations.fact_twice(fact.name.span, name, places[name]))
        return None
    places[name] = fact.name.span
    cx = new_context(work)
    wanted = TEXT if kind == "identity" else AMOUNT
    blame = Blame(fact.name.span, f"`{name}` is {'a text' if kind == 'identity' else 'an amount'}")
    amount = finish(cx, cx.check(fact.amount, wanted, blame))
    source = _cited(work, fact)
    if amount is None or source is None:
        return None
    if kind != "identity" and not _amount_fits(work, fact, amount):
        return None
    return term.Fact(kind, name, amount, fact.grade.text, source, fact.span)


def _cited(work: Work, fact: tree.Fact) -> term.Term | None:
    grade = fact.grade.text
    cx = new_context(work)
    blame = Blame(fact.grade.span, "evidence cites a source")
    found = finish(cx, cx.check(fact.source, _SOURCE, blame))
    fitting = GRADES.get(grade)
    if fitting is None:
        work.report(errors_declarations.unknown_grade(fact.grade.span, grade, list(GRADES)))
        return None
    kind = _citation(work, fact.source)
    if found is not None and kind and kind not in fitting:
        place = fact.source.span
        if isinstance(fact.source, tree.Var):
            value = work.scope.value(fact.source.name)
            place = value.span if value is not None else place
        work.report(errors_declarations.grade(fact.grade.span, grade, kind, fitting, place))
        return None
    return found


def _citation(work: Work, source: tree.Expr) -> str:
    if isinstance(source, tree.Var):
        value = work.scope.value(source.name)
        return value.citation if value is not None else ""
    if isinstance(source, tree.Apply) and isinstance(source.function, tree.Var):
        return source.function.name
    return ""


def _amount_fits(work: Work, fact: tree.Fact, amount: term.Term) -> bool:
    """E0706, as far as the amount is written out; the evaluator checks computed ones again."""
    name = fact.name.text
    wanted = SUPPLIES.get(name) or ESTIMATES[name]
    if isinstance(amount, term.Intrinsic) and amount.name in ("present", "absent"):
        found = term.Amount(Fraction(amount.name == "present"), feature=True)
    elif isinstance(amount, term.Literal) and isinstance(amount.value, term.Amount):
        found = amount.value
    else:
        return True
    span = fact.amount.span
    if (found.unit, found.feature) != (wanted.unit, wanted.feature):
        message = f"is in {unit_text(wanted)}, not {unit_text(found)}"
        work.report(errors_declarations.amount(span, name, message, "each name has one unit"))
        return False
    if found.value < 0:
        work.report(
            errors_declarations.amount(span, name, "is negative", "a fact counts something")
        )
        return False
    # Seconds count in whole nanoseconds; everything else in whole base units.
    whole = found.value * (10**9 if wanted.unit == (0, 1, 0) else 1)
    if whole.denominator != 1:
        cause = "facts are exact: whole bytes, nanoseconds, hertz, flops and their quotients"
        work.report(errors_declarations.amount(span, name, "is not a whole number", cause))
        return False
    return True

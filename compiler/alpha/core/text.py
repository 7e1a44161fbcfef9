"""The core as text, for people: `alpha view --stage core`.

Like Alpha, with every name qualified and every argument of a scheme shown behind `@`. It is not read back.
"""

from __future__ import annotations

from fractions import Fraction

from alpha.core import term
from alpha.core.term import Term
from alpha.core.type_text import type_text
from alpha.core.types import TypeArgument
from alpha.core.walk import fold

_WIDTH = 100


def to_text(item: term.Program | term.Module) -> str:
    """All modules, or one, declaration by declaration."""
    if isinstance(item, term.Program):
        return "\n".join(to_text(module) for module in item.modules)
    lines = [f"module {item.name}"]
    for type_ in item.types:
        lines += ["", _type_declaration(type_)]
    for model in item.models:
        lines += ["", f"model {model.symbol} [{', '.join(model.dims)}]"]
        lines += [f"  where {name} = {dim}" for name, dim in model.where]
        for parameter in model.parameters:
            start = (
                "" if parameter.initialiser is None else f" = {term_text(parameter.initialiser)}"
            )
            lines.append(f"  param {parameter.name} : {type_text(parameter.type)}{start}")
    for definition in item.definitions:
        lines += ["", f"{definition.symbol} : {_scheme(definition)}"]
        if definition.value is not None:
            lines.append(f"{definition.symbol} =\n{_indented(term_text(definition.value))}")
    for optimizer in item.optimizers:
        lines += ["", f"optimizer {optimizer.symbol} [...{optimizer.shape}]"]
        lines += [f"  slot {name} = {term_text(start)}" for name, start in optimizer.slots]
        lines.append(f"  update =\n{_indented(term_text(optimizer.update), 2)}")
    for learner in item.learners:
        lines += ["", f"learner {learner.symbol} [{learner.batch}]"]
        lines.append(f"  batch : {type_text(learner.batch_type)}")
        lines += [f"  metric {name}" for name, _ in learner.metrics]
    for policy in item.policies:
        lines += ["", f"policy {policy.symbol}", *_entries(policy.entries)]
    for profile in item.profiles:
        lines += ["", f"profile {profile.symbol} : {type_text(profile.type)}"]
        for fact in profile.facts:
            amount = term_text(fact.amount)
            cited = f"from {fact.grade} {term_text(fact.source)}"
            lines.append(f"  {fact.kind} {fact.name} = {amount} {cited}")
    for pairing in item.pairings:
        lines += ["", f"pairing {pairing.symbol}", *_entries(pairing.entries)]
    for proof in item.proofs:
        lines += ["", f"{proof.kind} {proof.symbol} =\n{_indented(term_text(proof.term))}"]
    return "\n".join(lines) + "\n"


def term_text(item: Term) -> str:
    """One term; lines break where it would be wider than 100 columns."""
    return fold(item, _combine)


def _combine(item: Term, parts: tuple[str, ...]) -> str:
    if isinstance(item, term.Local):
        return item.name + _passed(item.arguments)
    if isinstance(item, term.Global):
        return item.symbol + _passed(item.arguments)
    if isinstance(item, term.Constructor):
        return item.name
    if isinstance(item, term.Literal):
        return _literal(item)
    if isinstance(item, term.DimValue):
        return f"#({item.dim})"
    if isinstance(item, term.Intrinsic):
        return _intrinsic(item)
    if isinstance(item, term.ModelValue):
        return f"{item.model} {{{', '.join(str(d) for d in item.dims)}}}"
    if isinstance(item, term.Lambda):
        names = " ".join(_pattern(p) for p in item.parameters)
        return _joined(f"fn {names} ->", (parts[0],), bracket=True)
    if isinstance(item, term.Apply):
        return _joined(parts[0], parts[1:], bracket=True)
    if isinstance(item, term.Let):
        return f"let {_pattern(item.pattern)} = {parts[0]}\n{parts[1]}"
    if isinstance(item, term.LetGeneral):
        return f"let {item.name} : {type_text(item.scheme.type)} = {parts[0]}\n{parts[1]}"
    if isinstance(item, term.If):
        return _joined(f"if {parts[0]}", (f"then {parts[1]}", f"else {parts[2]}"), bracket=True)
    if isinstance(item, term.Match):
        arms = [f"{_pattern(a.pattern)} -> {b}" for a, b in zip(item.arms, parts[1:], strict=True)]
        return _joined(f"match {parts[0]} with", tuple(f"| {a}" for a in arms), bracket=True)
    if isinstance(item, term.ListTerm):
        return f"[{', '.join(parts)}]"
    if isinstance(item, term.TupleTerm):
        return f"({', '.join(parts)})"
    if isinstance(item, term.RecordTerm):
        pairs = [f"{name} = {part}" for (name, _), part in zip(item.fields, parts, strict=True)]
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(item, term.Update):
        pairs = [f"{name} = {part}" for (name, _), part in zip(item.fields, parts[1:], strict=True)]
        return f"{{ {parts[0]} | {', '.join(pairs)} }}"
    if isinstance(item, term.Select):
        return f"{parts[0]}.{item.field}"
    return f"{parts[0]}[{', '.join(_cut(i) for i in item.items)}]"


def _joined(head: str, parts: tuple[str, ...], *, bracket: bool) -> str:
    line = " ".join([head, *parts])
    if len(line) <= _WIDTH and "\n" not in line:
        return f"({line})" if bracket else line
    broken = "\n".join([head, *[_indented(part) for part in parts]])
    return f"({broken})" if bracket else broken


def _indented(text: str, times: int = 1) -> str:
    margin = "  " * times
    return "\n".join(margin + line for line in text.split("\n"))


def _passed(arguments: tuple[TypeArgument, ...]) -> str:
    if not arguments:
        return ""
    return f"@({', '.join(type_text(a, qualified=True) for a in arguments)})"


def _literal(item: term.Literal) -> str:
    value = item.value
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, term.Amount):
        unit = "feature" if value.feature else ",".join(map(str, value.unit))
        return f"amount({value.value}; {unit})"
    number = str(value) if isinstance(value, int) else _decimal(value)
    return f"{number}:{type_text(item.type)}"


def _decimal(value: Fraction) -> str:
    """The exact decimal: its denominator has no other factors than 2 and 5."""
    scale = 0
    while value.denominator != 1:
        value, scale = value * 10, scale + 1
    digits = str(value.numerator)
    return f"{digits}e-{scale}" if scale else f"{digits}.0"


def _intrinsic(item: term.Intrinsic) -> str:
    text = f"%{item.name}"
    if item.axes is not None:
        text += f"[{', '.join(map(str, item.axes))}]"
    if item.shape is not None:
        text += f"[{', '.join(map(str, item.shape))}]"
    if item.einsum is not None:
        operands = ", ".join("".join(map(str, o)) for o in item.einsum.operands)
        text += f"[{operands} -> {''.join(item.einsum.result)}]"
    return text + _passed(item.arguments)


def _pattern(item: term.Pattern) -> str:
    if isinstance(item, term.Bind):
        return f"({item.name} : {type_text(item.type)})"
    if isinstance(item, term.Ignore):
        return "_"
    if isinstance(item, term.MatchLiteral):
        return f'"{item.value}"' if isinstance(item.value, str) else str(item.value)
    if isinstance(item, term.MatchTuple):
        return f"({', '.join(_pattern(i) for i in item.items)})"
    return f"({' '.join([item.constructor, *[_pattern(a) for a in item.arguments]])})"


def _cut(item: term.At | term.Range | None) -> str:
    if item is None:
        return ":"
    return str(item.place) if isinstance(item, term.At) else f"{item.low}:{item.high}"


def _scheme(definition: term.Definition) -> str:
    names = " ".join(name for name, _ in definition.scheme.variables)
    return (f"forall {names}. " if names else "") + type_text(definition.scheme.type)


def _type_declaration(type_: term.RecordType | term.VariantType) -> str:
    head = " ".join(["type", type_.name, *[name for name, _ in type_.parameters]])
    if isinstance(type_, term.RecordType):
        fields = ", ".join(f"{name} : {type_text(t)}" for name, t in type_.fields)
        return f"{head} = {{ {fields} }}"
    variants = [" ".join([n, *[type_text(t) for t in types]]) for n, types in type_.variants]
    return f"{head} = {' | '.join(variants)}"


def _entries(entries: tuple[tuple[str, Term], ...]) -> list[str]:
    return [f"  {name} = {term_text(value)}" for name, value in entries]

"""Proofs: evaluated by every check; a false one prints its sub-expressions with their values (P0001)."""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.record import fields, is_record
from alpha.base.span import Span
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.evaluate import errors
from alpha.evaluate.machine import Machine
from alpha.evaluate.scope import Scope
from alpha.evaluate.show import show
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import FUNCTIONS, KeyValue, Scalar, Staged, Value

TEST = "test"
"""A proof of this kind is a test: it may need the running program."""

REJECTS = "rejects "
"""A proof of this kind, with a code behind it, must be refused with that code."""

MOST = 8
"""How many sub-expressions a message shows."""

_PLAIN = (
    core.Literal, core.DimValue, core.Constructor, core.Intrinsic, core.Lambda, core.ListTerm, core.TupleTerm,
    core.RecordTerm,
)  # fmt: skip
"""Terms whose text says their value already."""


def prove(machine: Machine, proof: core.Proof) -> Diagnostic | None:
    """P0001 if the proof is false, None if it is true. A tensor or key whose value is needed is E0411."""
    try:
        value = machine.evaluate(proof.term, Scope({}), proof.symbol)
    except Refused as refused:
        raise Refused(*(_in_a_proof(fault) for fault in refused.diagnostics)) from None
    if isinstance(value, Staged | KeyValue):
        raise Refused(errors.tensor_in_proof(proof.term.span))
    assert isinstance(value, Scalar)
    if value.value:
        return None
    name, span = proof.symbol.rpartition(".")[2], conclusion(proof.term).span
    return errors.proof_false(name, span, _values(machine, proof))


def _in_a_proof(fault: Diagnostic) -> Diagnostic:
    """In a proof, a value that only the running program has is E0411."""
    if fault.code in ("E0409", "E0410") and fault.span is not None:
        return errors.tensor_in_proof(fault.span)
    return fault


def _values(machine: Machine, proof: core.Proof) -> list[tuple[Span, str]]:
    """The sub-expressions that say something, from the outside in, each with its value."""
    shown: list[tuple[Span, str]] = []
    for term, value in watched(machine, proof)[1]:
        text = f"`{source_text(term)}` is {show(value)}"
        if text not in (other for _, other in shown):
            shown.append((term.span, text))
    return shown[:MOST]


def watched(
    machine: Machine, proof: core.Proof, staging: Staging | None = None
) -> tuple[Value, list[tuple[core.Term, Value]]]:
    """The value of the expression, and the sub-expressions that say something, from the outside in, with theirs."""
    inner = [term for term in _terms(proof.term) if not isinstance(term, _PLAIN)]
    machine.watched = {id(term): None for term in inner}
    try:
        whole = machine.evaluate(proof.term, Scope({}), proof.symbol, staging)
        found = machine.watched
    finally:
        machine.watched = None
    said = conclusion(proof.term)
    seen: list[tuple[core.Term, Value]] = []
    for term in inner:
        value = found[id(term)]
        if value is None or isinstance(value, FUNCTIONS) or term is said:
            continue
        if not isinstance(term, core.Let | core.LetGeneral):  # its body says the same
            seen.append((term, value))
    return whole, seen


def conclusion(term: core.Term) -> core.Term:
    """What an expression comes to behind its local definitions."""
    while isinstance(term, core.Let | core.LetGeneral):
        term = term.body
    return term


def source_text(term: core.Term) -> str:
    """The expression as it is written, on one line."""
    return " ".join(term.span.text.split())


def _terms(term: core.Term) -> Iterator[core.Term]:
    """The term and every term in it, outer ones first. A function's body has no one value."""
    pending: list[object] = [term]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending.extend(reversed(node))
        elif is_record(node) and not isinstance(node, Span):
            if isinstance(node, core.Typed):
                yield node  # type: ignore[misc]
            if isinstance(node, core.Lambda):
                continue
            pending.extend(
                getattr(node, field.name)
                for field in reversed(fields(node))
                if field.name not in ("span", "type")
            )

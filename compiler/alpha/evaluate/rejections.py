"""`rejects CODE name = e` where only evaluation can see the fault: `e` alone must give exactly that code (P0002)."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.check.errors_declarations import rejects_other
from alpha.core import term as core
from alpha.core.dim import Dim
from alpha.core.substitute import variables
from alpha.core.types import Function, Kind, Named, Tensor, Type, TypeArgument
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.evaluate.grounding import as_type, sizes, tensor
from alpha.evaluate.machine import Machine
from alpha.evaluate.proofs import REJECTS
from alpha.evaluate.scope import Scope
from alpha.evaluate.staging import KEY, Staging
from alpha.evaluate.values import FUNCTIONS, Staged, Value

_SIZES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
"""Sizes for the dimension names that a rejected function leaves open: all different."""


def reject(machine: Machine, proof: core.Proof) -> Diagnostic | None:
    """P0002 unless evaluating the term, and applying it to inputs if it is a function, gives exactly the code."""
    wanted = proof.kind.removeprefix(REJECTS)
    found: tuple[str, ...] = ()
    try:
        _evaluate(machine, proof)
    except Refused as refused:
        found = tuple(sorted({fault.code for fault in refused.diagnostics}))
    if found == (wanted,):
        return None
    return rejects_other(proof.span, proof.symbol.rpartition(".")[2], wanted, found)


def _evaluate(machine: Machine, proof: core.Proof) -> None:
    types = _open(proof.term.type)
    staging = Staging()
    value = machine.evaluate(proof.term, Scope(types), proof.symbol, staging)
    type = as_type(proof.term.type, types)
    while isinstance(value, FUNCTIONS) and isinstance(type, Function):
        argument = _input(staging, type.parameter, proof)
        if argument is None:
            return
        value = machine.call(value, (argument,), proof.term.span, proof.symbol, staging)
        type = type.result


def _open(type: Type) -> dict[str, TypeArgument]:
    """A meaning for every variable that the term leaves open."""
    types: dict[str, TypeArgument] = {}
    for name, kind in variables(type):
        if name in types:
            continue
        size = _SIZES[len(types) % len(_SIZES)]
        match kind:
            case Kind.DIM:
                types[name] = Dim.constant(size)
            case Kind.SHAPE:
                types[name] = sizes(size)
            case Kind.ELEMENT:
                types[name] = Dtype.F32
            case Kind.TYPE:
                types[name] = Tensor(Dtype.F32, sizes())
    return types


def _input(staging: Staging, type: Type, proof: core.Proof) -> Value | None:
    """An input of the graph for a tensor or key; None for a parameter that a graph cannot be given."""
    name = f"x{staging.inputs}"
    if isinstance(type, Tensor):
        return Staged(staging.input(name, tensor(type, {}), proof.span))
    if type == Named("Key"):
        return staging.key(staging.input(name, KEY, proof.span))
    return None

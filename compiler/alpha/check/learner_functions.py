"""The functions of a learner: its loss, step, metrics, prediction and helpers."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.check import errors_declarations, errors_names
from alpha.check.context import Context
from alpha.check.cycles import circle, in_order, is_circle
from alpha.check.definitions import (
    Signed,
    check_signed,
    enter_signature,
    new_context,
    read_signature,
)
from alpha.check.entries import Blame, Dimension, OwnFunction
from alpha.check.expressions import abstraction
from alpha.check.finish import close, finish
from alpha.check.generalise import generalise
from alpha.check.learning import FORMS, Learning, Part
from alpha.check.references import mentioned, surely_mentioned
from alpha.check.scope import RecordEntity, Value
from alpha.check.solver import F32, KEY
from alpha.core import term
from alpha.core.types import Function, Kind, Named, Scheme, Tensor, Type
from alpha.diagnostics.diagnostic import Label
from alpha.syntax import tree


def check_functions(learning: Learning) -> None:
    parts = {n: p for n, p in learning.parts.items() if n not in ("model", "optimizer")}
    graph = {n: [m for m in mentioned(p.body) if m in parts] for n, p in parts.items()}
    surely = {n: [m for m in surely_mentioned(p) if m in parts] for n, p in parts.items()}
    for component in in_order(graph, surely):
        if is_circle(component, surely):
            path = circle(component, surely)
            labels = tuple(Label(parts[n].name.span, "part of the circle") for n in path[1:])
            span = parts[path[0]].name.span
            reported = learning.work.report(errors_names.recursion(span, path, labels))
            learning.failed = True
            for name in component:
                symbol = f"{learning.symbol}.{name}"
                value = Value(name, symbol, "definition", span)
                value.faulty = reported
                learning.values[name] = value
            continue
        _function(learning, component[0], parts[component[0]])


def _enter(learning: Learning, skip: str) -> Context:
    cx = new_context(learning.work)
    cx.variables.kinds[learning.batch] = Kind.DIM
    loss = learning.parts["loss"].parameters[-1]
    cx.claim(learning.batch, loss.span)
    cx.locals = {learning.batch: Dimension(loss.span)}
    for name, value in learning.values.items():
        if name != skip:
            cx.claim(name, value.span)
            cx.locals = {**cx.locals, name: OwnFunction(value, None, value.span, learning.batch)}
    return cx


def _function(learning: Learning, name: str, part: Part) -> None:
    work = learning.work
    symbol = f"{learning.symbol}.{name}"
    value = Value(name, symbol, "definition", part.name.span)
    learning.values[name] = value
    cx = _enter(learning, name)
    signed = _signed(learning, cx, name)
    expected = _expected(learning, cx, name, part)
    if expected is None:
        value.faulty = work.report(work.diagnostics.errors[-1])
        learning.failed = True
        return
    found = _term(learning, cx, name, part, signed, expected)
    close(cx)
    inferred = generalise(cx, found.type, top=True) if signed is None else signed.scheme
    done = finish(cx, found)
    if done is None:
        value.faulty = work.report(work.diagnostics.errors[-1])
        learning.failed = True
        return
    others = tuple([v for v in inferred.variables if v[0] != learning.batch])
    scheme = Scheme(((learning.batch, Kind.DIM), *others), inferred.type)
    value.scheme = scheme
    if signed is not None:
        value.where = signed.where
    work.definitions.append(term.Definition(symbol, scheme, done, part.span))
    if isinstance(done, term.Lambda):
        learning.lambdas[name] = done
    if name == "predict":
        assert isinstance(inferred.type, Function) and isinstance(inferred.type.result, Function)
        learning.predict_input = inferred.type.result.parameter


def _signed(learning: Learning, cx: Context, name: str) -> Signed | None:
    """The signature of a function, if it has one; the batch's dimension is the learner's own."""
    node = learning.signatures.get(name)
    if node is None:
        return None
    signed = read_signature(learning.work, node, (learning.batch,))
    enter_signature(cx, signed)
    return signed


def _term(
    learning: Learning,
    cx: Context,
    name: str,
    part: Part,
    signed: Signed | None,
    expected: tuple[list[Type], Type | None],
) -> term.Term:
    """The term of a function; the types that its entry demands come before those that it was given."""
    types, result = expected
    if signed is not None:
        if not _agree(cx, part, signed, types, result):
            return cx.faulty(part.span)
        if isinstance(part, tree.Define):
            return check_signed(cx, learning.work, part, signed)
    if not part.parameters:
        return cx.infer(part.body)
    pushed = result if name == "step" else None
    blame = Blame(part.name.span, f"`{name}` gives the next state and the loss")
    found = abstraction(cx, part.parameters, part.body, part.span, types, pushed, blame)
    if result is not None:
        _result(cx, name, part, found, result)
    return found


def _agree(cx: Context, part: Part, signed: Signed, types: list[Type], result: Type | None) -> bool:
    """Whether the types in a signature are those that the entry demands."""
    place = signed.node.type.span
    blame = Blame(part.name.span, f"`{part.name.text}` is an entry, so its type is given")
    rest: Type = signed.scheme.type
    for type_ in types:
        if not isinstance(rest, Function):
            return True  # the definition takes more than its signature says, and is told so
        if not cx.unify(rest.parameter, type_, place, blame):
            return False
        rest = rest.result
    if result is None:
        return True
    if part.name.text == "loss" and rest != F32:
        cx.fault = cx.report(errors_declarations.loss_type(place, cx.show(rest)))
        return False
    return cx.unify(rest, result, place, blame)


def _result(cx: Context, name: str, part: Part, found: term.Lambda, result: Type) -> None:
    body = found.body
    cx.settle()
    known = cx.solver.head(body.type)
    if (
        name == "loss"
        and isinstance(known, Tensor)
        and not cx.solver.open_names(known)
        and cx.solver.known(known) != F32
    ):
        cx.report(errors_declarations.loss_type(part.body.value.span, cx.show(known)))
        return
    blame = Blame(part.name.span, f"`{name}` gives `{cx.show(result)}`")
    cx.unify(body.type, result, part.body.value.span, blame)


def _expected(
    learning: Learning, cx: Context, name: str, part: Part
) -> tuple[list[Type], Type | None] | None:
    """The types of the parameters of an entry and of its result."""
    net, batch = learning.bundle, learning.batch_type
    key: list[Type] = [KEY] if learning.keyed else []
    count = len(part.parameters)
    if isinstance(part, tree.Metric):
        types: list[Type] = [net, batch]
        result: Type | None = F32
        form = FORMS["metric"]
    elif name == "loss":
        types, result, form = [net, *key, batch], F32, FORMS["loss"]
    elif name == "step":
        slots = Named("Slots", (net,))
        types, result = [net, slots, Named("Tick"), *key, batch], _step_record(learning, slots)
        form = FORMS["step"]
        if learning.keyed:
            form = form.replace("t b", "t key b")
    elif name == "predict":
        types, result, form = [net, cx.solver.type(part.span)], None, FORMS["predict"]
        if count == 2 and not isinstance(part.parameters[1], tree.PAnnotated):
            count = -1
    else:
        return [cx.solver.type(p.span) for p in part.parameters], None
    if count != len(types):
        cx.report(errors_declarations.entry_parameters(part.name.span, "learner", name, form))
        return None
    return types, result


def _step_record(learning: Learning, slots: Type) -> Type:
    symbol = f"{learning.symbol}.Step"
    entity = RecordEntity(symbol, (), learning.item.name.span)
    entity.fields = {"net": learning.bundle, "slots": slots, "loss": Tensor(Dtype.F32, F32.shape)}
    learning.work.registry.records[symbol] = entity
    record = term.RecordType(symbol, (), tuple(entity.fields.items()))
    learning.work.types.append(record)
    return Named(symbol)

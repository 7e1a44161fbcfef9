"""`concat` of a written list, `cast` to a written dtype, and model values with written sizes."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.check import errors_records, errors_shapes, errors_types
from alpha.check.applications import Argument
from alpha.check.axes import resolve
from alpha.check.broadcasting import Operand, is_settled, same_element
from alpha.check.context import Context, scalar
from alpha.check.entries import Hole, Waiting
from alpha.check.form_parts import Form
from alpha.check.operations import ALL
from alpha.check.scope import ModelEntity
from alpha.check.sizes import size
from alpha.check.solver import INT
from alpha.check.type_reader import DTYPES
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.types import Function, Named, Shape, Tensor, Type
from alpha.diagnostics.diagnostic import Label
from alpha.syntax import tree


def concat(form: Form) -> term.Term:
    cx, span = form.cx, form.span
    (items,) = form.written
    if form.operands or not isinstance(items, tree.ListExpr) or not items.items:
        return form.misused()
    terms = tuple([cx.infer(item) for item in items.items])
    result = cx.solver.type(span)
    type_: Type = result
    for item in reversed(terms):
        type_ = Function(item.type, type_)
    hole = Hole(form.place, type_)
    operands = [Operand(t.type, t.span) for t in terms]

    def attempt() -> bool:
        return _join(form, operands, result, hole)

    def give_up() -> None:
        cx.unify(result, cx.refuse(span, errors_types.unknown_operand(span, "concat")).type, span)

    cx.wait(Waiting(attempt, give_up, (*[t.type for t in terms], result)))
    return term.Apply(hole.term, terms, span=span, type=result)


def _join(form: Form, operands: Sequence[Operand], result: Type, hole: Hole) -> bool:
    cx, span = form.cx, form.span
    heads = [cx.solver.head(o.type) for o in operands]
    poisoned = next((h for h in heads if cx.is_poisoned(h)), None)
    if poisoned is not None:
        return cx.unify(result, poisoned, span)
    if any(cx.is_open(h) or (isinstance(h, Tensor) and not is_settled(cx, h)) for h in heads):
        return False
    for head, operand in zip(heads, operands, strict=True):
        if not isinstance(head, Tensor):
            cx.unify(head, Tensor(cx.solver.element(span), cx.solver.shape(span)), operand.span)
            return cx.unify(result, form.fault().type, span)
    element = same_element(cx, operands, span)
    shapes = [cx.solver.known_shape(h.shape) for h in heads if isinstance(h, Tensor)]
    places = resolve(cx, form.axes, shapes[0]) if element is not None else None
    if element is None or places is None:
        return cx.unify(result, form.fault().type, span)
    at = places[0] % len(shapes[0].axes)
    total = Dim(())
    for shape, operand in zip(shapes, operands, strict=True):
        if len(shape.axes) != len(shapes[0].axes) or shape.lead != shapes[0].lead:
            texts = cx.shower.shape(shape), cx.shower.shape(shapes[0])
            cx.fault = cx.report(errors_shapes.ranks(operand.span, *texts, ()))
            return cx.unify(result, form.fault().type, span)
        for place, (one, two) in enumerate(zip(shape.axes, shapes[0].axes, strict=True)):
            labels = (Label(operands[0].span, f"this has shape `{cx.shower.shape(shapes[0])}`"),)
            if place != at and not cx.unify_dims(one, two, operand.span, labels):
                return cx.unify(result, form.fault().type, span)
        total = total + shape.axes[at]
    sizes = list(shapes[0].axes)
    sizes[at] = total
    hole.filled = term.Intrinsic("concat", axes=places, span=hole.span, type=hole.type)
    return cx.unify(result, Tensor(element, Shape(tuple(sizes), shapes[0].lead)), span)


def cast(form: Form) -> term.Term:
    cx, span = form.cx, form.span
    (first,) = form.written
    named = first.function if isinstance(first, tree.Apply) else first
    if isinstance(named, tree.Var) and named.name == "index":
        return cx.refuse(span, errors_types.index_cast(span))
    target = DTYPES.get(first.name) if isinstance(first, tree.Var) else None
    if target is None:
        return form.misused()
    parameter, result = cx.solver.type(span), cx.solver.type(span)
    type_ = Function(parameter, result)
    head = term.Intrinsic("cast", arguments=(target,), span=form.place, type=type_)

    def attempt(default: bool = False) -> bool:
        item = cx.solver.head(parameter)
        if cx.is_open(item):
            if cx.solver.literal(item):
                # A literal is a scalar whatever its dtype: what waits for the result need not wait for that.
                cx.unify(result, scalar(target), span)
            if not default or not cx.solver.literal(item):
                return False
            cx.unify(item, INT if cx.solver.literal(item) == "int" else scalar(Dtype.F32), span)
            item = cx.solver.head(item)
        if cx.is_poisoned(item):
            return cx.unify(result, item, span)
        if item == INT and target is not Dtype.BOOL:
            return cx.unify(result, scalar(target), span)
        if not isinstance(item, Tensor):
            diagnostic = errors_types.cast(span, cx.show(item), target.value)
            return cx.unify(result, cx.refuse(span, diagnostic).type, span)
        element = cx.solver.element_head(item.element)
        if target is Dtype.BOOL and element is not Dtype.BOOL:
            diagnostic = errors_types.cast(span, cx.show(item), target.value)
            return cx.unify(result, cx.refuse(span, diagnostic).type, span)
        cx.require_dtype(item.element, ALL, True, "cast", span)
        return cx.unify(result, Tensor(target, item.shape), span)

    def give_up() -> None:
        if not attempt(default=True):
            cx.unify(result, cx.refuse(span, errors_types.unknown_operand(span, "cast")).type, span)

    cx.wait(Waiting(attempt, give_up, (parameter, result)))
    return form.applied(head)


def model_value(cx: Context, model: ModelEntity, argument: Argument, span: Span) -> term.Term:
    """`Mlp { inputs = 64, ... }`: every dimension once, in any order."""
    cx.scope.used.add(model.symbol)
    name = model.symbol.rpartition(".")[2]
    if not isinstance(argument, tree.RecordExpr) or argument.base is not None:
        usage = f"{name} {{ {', '.join(f'{d} = ...' for d in model.dims)} }}"
        return cx.refuse(span, errors_types.special_arguments(span, name, usage))
    given = {f.name.text: f for f in argument.fields}
    missing = [d for d in model.dims if d not in given]
    extra = [f for f in given if f not in model.dims]
    if missing or extra or len(given) < len(argument.fields):
        if not missing and not extra:
            twice = next(f for f in argument.fields if given[f.name.text] is not f)
            return cx.refuse(
                span,
                errors_records.field_twice(
                    given[twice.name.text].span, twice.name.text, twice.span
                ),
            )
        diagnostic = errors_records.record_fields(argument.span, name, missing, extra, model.dims)
        return cx.refuse(span, diagnostic)
    dims = [size(cx, given[d].value) for d in model.dims]
    good = tuple([d for d in dims if d is not None])
    if len(good) < len(dims):
        return cx.faulty(span)
    cx.require_model(model, good, span)
    type_ = Named("Model", (Named(model.symbol, good),))
    return term.ModelValue(model.symbol, good, span=span, type=type_)

"""Operations with an argument that is part of their type: a size, a shape literal, a dtype, a written list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.check import errors_shapes, errors_types
from alpha.check.applications import Argument, Ready, apply_term
from alpha.check.axes import Axis, read_axes, resolve
from alpha.check.broadcasting import Operand, is_settled, same_element
from alpha.check.context import Context, Hole, Waiting, scalar
from alpha.check.operations import ALL, FLOATS, FORMS, NUMBERS
from alpha.check.scope import ModelEntity
from alpha.check.sizes import shape_literal, size
from alpha.check.solver import INT
from alpha.check.type_reader import DTYPES
from alpha.core import term
from alpha.core.dim import Answer, Dim, nonnegative
from alpha.core.types import Function, Index, Named, Shape, Tensor, Type
from alpha.diagnostics.diagnostic import Diagnostic, Label
from alpha.syntax import tree

USAGE = {
    "repeat": "repeat[k] n x",
    "concat": "concat[k] [a, b]",
    "pad": "pad[k] lo hi x",
    "reshape": "reshape [n, m] x",
    "fill": "fill [n, m] c",
    "positions": "positions n",
    "conv2d": "conv2d p x w",
    "maxPool": "maxPool k x",
    "meanPool": "meanPool k x",
    "cast": "cast f32 x",
}
_WRITTEN = {
    "repeat": 1,
    "pad": 2,
    "reshape": 1,
    "fill": 1,
    "positions": 1,
    "conv2d": 1,
    "maxPool": 1,
    "meanPool": 1,
}
"""How many leading arguments are part of the type."""

_WITH_AXES = ("repeat", "concat", "pad")


def form_of(cx: Context, function: tree.Expr) -> str | None:
    """The form that `function` names, with or without axes."""
    head = function.value if isinstance(function, tree.Bracket) else function
    if isinstance(head, tree.Var) and head.name in FORMS and cx.lookup(head.name) is None:
        return head.name
    return None


def apply(
    cx: Context, name: str, function: tree.Expr, arguments: Sequence[Argument], span: Span
) -> term.Term:
    axes: tuple[Axis, ...] | None = None
    if isinstance(function, tree.Bracket):
        if name not in _WITH_AXES:
            return cx.refuse(function.span, errors_shapes.no_axes(function.span, name))
        axes = read_axes(cx, function.items)
        if axes is None:
            return _fault(cx, span)
    if name in _WITH_AXES and (axes is None or len(axes) != 1):
        diagnostic = errors_shapes.axis_count(
            function.span, name, f"exactly one axis: `{USAGE[name]}`"
        )
        return cx.refuse(function.span, diagnostic)
    if name == "cast":
        return _cast(cx, function.span, arguments, span)
    if name == "concat":
        return _concat(cx, axes, function.span, arguments, span)
    count = _WRITTEN[name]
    written = [a for a in arguments[:count] if not isinstance(a, Ready)]
    if len(written) < count:
        return cx.refuse(span, errors_types.special_arguments(span, name, USAGE[name]))
    return _FORMS[name](cx, name, axes, written, arguments[count:], function.span, span)


def _fault(cx: Context, span: Span) -> term.Term:
    assert cx.fault is not None
    return cx.poisoned(span, cx.fault)


def _finish(
    cx: Context,
    head: term.Term,
    sizes: Sequence[term.Term],
    operands: Sequence[Argument],
    name: Span,
    span: Span,
) -> term.Term:
    ready = [Ready(s, s.span) for s in sizes]
    if not ready and not operands:
        return head
    return apply_term(cx, head, name, [*ready, *operands], span, None, None)


def _size_term(dim: Dim, span: Span) -> term.Term:
    return term.DimValue(dim, span=span, type=INT)


def _waiting(
    cx: Context,
    name: str,
    axes: tuple[Axis, ...] | None,
    sizes: int,
    span: Span,
    rule: Rule,
    operands: Sequence[Argument],
) -> term.Term:
    """A function of `sizes` numbers and one tensor whose type `rule` makes from the tensor's, once that is known."""
    parameter, result = cx.solver.type(span), cx.solver.type(span)
    type_: Type = Function(parameter, result)
    for _ in range(sizes):
        type_ = Function(INT, type_)
    hole = Hole(span, type_)
    place = operands[-1].span if operands else span

    def attempt() -> bool:
        item = cx.solver.head(parameter)
        if cx.is_poisoned(item):
            cx.unify(result, item, span)
            return True
        if cx.is_open(item):
            if not cx.solver.literal(item):
                return False
            cx.unify(item, scalar(cx.solver.element(span)), span)
            item = cx.solver.head(item)
        if not isinstance(item, Tensor):
            cx.unify(item, Tensor(cx.solver.element(span), cx.solver.shape(span)), place)
            cx.unify(result, _fault(cx, span).type, span)
            return True
        if not is_settled(cx, item):
            return False
        found = rule(Tensor(item.element, cx.solver.known_shape(item.shape)))
        if found is None:
            cx.unify(result, _fault(cx, span).type, span)
        else:
            places, made = found
            hole.filled = term.Intrinsic(name, axes=places, shape=hole.shape, span=span, type=type_)
            cx.unify(result, made, span)
        return True

    def give_up() -> None:
        cx.unify(result, cx.refuse(span, errors_types.unknown_operand(span, name)).type, span)

    cx.wait(Waiting(attempt, give_up, (parameter, result)))
    return hole  # type: ignore[return-value]


Rule = Callable[[Tensor], "tuple[tuple[int, ...] | None, Type] | None"]

# ---- sizes -----------------------------------------------------------------------------------------------------------


def _repeat(
    cx: Context,
    name: str,
    axes: tuple[Axis, ...],
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    count = size(cx, written[0])
    if count is None:
        return _fault(cx, span)
    axis, axis_span = axes[0]

    def rule(operand: Tensor) -> tuple[tuple[int, ...], Type] | None:
        shape = operand.shape
        rank = len(shape.axes) + 1
        at = axis + rank if isinstance(axis, int) and axis < 0 else axis
        if not isinstance(at, int) or not 0 <= at < rank or (shape.lead is not None and axis == at):
            cx.fault = cx.report(
                errors_shapes.axis_form(axis_span)
                if not isinstance(axis, int)
                else errors_shapes.axis_number(axis_span, axis, cx.shower.shape(shape))
            )
            return None
        made = Shape((*shape.axes[:at], count, *shape.axes[at:]), shape.lead)
        return (at - rank if shape.lead is not None else at,), Tensor(operand.element, made)

    head = _waiting(cx, name, axes, 1, place, rule, rest)
    return _finish(cx, head, [_size_term(count, written[0].span)], rest, place, span)


def _pad(
    cx: Context,
    name: str,
    axes: tuple[Axis, ...],
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    low, high = (size(cx, w, least=0) for w in written)
    if low is None or high is None:
        return _fault(cx, span)

    def rule(operand: Tensor) -> tuple[tuple[int, ...], Type] | None:
        places = resolve(cx, axes, operand.shape)
        if places is None:
            return None
        cx.require_dtype(operand.element, NUMBERS, False, "pad", place)
        sizes = list(operand.shape.axes)
        at = places[0] % len(sizes)
        sizes[at] = sizes[at] + low + high
        return places, Tensor(operand.element, Shape(tuple(sizes), operand.shape.lead))

    head = _waiting(cx, name, axes, 2, place, rule, rest)
    terms = [_size_term(d, w.span) for d, w in zip((low, high), written, strict=True)]
    return _finish(cx, head, terms, rest, place, span)


def _reshape(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    sizes = shape_literal(cx, written[0], name)
    if sizes is None:
        return _fault(cx, span)

    def refuse(left: Dim, right: Dim, answer: Answer) -> Diagnostic | None:
        labels = (Label(written[0].span, f"the new shape has {right} elements"),)
        return errors_shapes.counts(span, left, right, answer is Answer.NO, labels)

    def rule(operand: Tensor) -> tuple[None, Type] | None:
        if operand.shape.lead is not None:
            shown = cx.shower.shape(operand.shape), cx.shower.shape(Shape(sizes))
            cx.fault = cx.report(errors_shapes.ranks(span, *shown, ()))
            return None
        if not cx.unify_dims(_product(operand.shape.axes), _product(sizes), span, (), refuse):
            return None
        return None, Tensor(operand.element, Shape(sizes))

    head = _waiting(cx, name, None, 0, place, rule, rest)
    assert isinstance(head, Hole)
    head.shape = sizes
    return _finish(cx, head, [], rest, place, span)


def _product(sizes: Sequence[Dim]) -> Dim:
    product = Dim.constant(1)
    for item in sizes:
        product = product * item
    return product


def _fill(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    sizes = shape_literal(cx, written[0], name)
    if sizes is None:
        return _fault(cx, span)
    element = cx.solver.element(span)
    type_ = Function(scalar(element), Tensor(element, Shape(sizes)))
    head = term.Intrinsic(name, shape=sizes, span=place, type=type_)
    return _finish(cx, head, [], rest, place, span)


def _positions(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    count = size(cx, written[0])
    if count is None:
        return _fault(cx, span)
    type_ = Function(INT, Tensor(Index(count), Shape((count,))))
    head = term.Intrinsic(name, span=place, type=type_)
    return _finish(cx, head, [_size_term(count, written[0].span)], rest, place, span)


# ---- images ----------------------------------------------------------------------------------------------------------


def _conv2d(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    padding = size(cx, written[0], least=0)
    if padding is None:
        return _fault(cx, span)
    fresh = cx.solver.dim
    batch, high, wide, inputs = (fresh(span, h) for h in ("n", "h", "w", "i"))
    kernel_high, kernel_wide, outputs = (fresh(span, h) for h in ("kh", "kw", "o"))
    element = cx.solver.element(span)
    cx.require_dtype(element, FLOATS, False, name, place)
    one = Dim.constant(1)
    result = Shape(
        (
            batch,
            high + padding + padding - kernel_high + one,
            wide + padding + padding - kernel_wide + one,
            outputs,
        )
    )
    image = Tensor(element, Shape((batch, high, wide, inputs)))
    weights = Tensor(element, Shape((kernel_high, kernel_wide, inputs, outputs)))
    type_ = Function(INT, Function(image, Function(weights, Tensor(element, result))))
    head = term.Intrinsic(name, span=place, type=type_)
    found = _finish(cx, head, [_size_term(padding, written[0].span)], rest, place, span)
    for kernel in (kernel_high, kernel_wide):
        room = cx.solver.known_dim(kernel) - padding - one
        if not any(n[0] in "?!" for n in room.names) and nonnegative(room) is not Answer.YES:
            decided = nonnegative(room) is Answer.NO
            cx.report(
                errors_shapes.bounds(
                    written[0].span, f"a padding of {padding}", cx.shower.dim(kernel), decided
                )
            )
    return found


def _pool(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    window = size(cx, written[0])
    if window is None:
        return _fault(cx, span)
    divisor = window.value
    if divisor is None:
        return cx.refuse(written[0].span, errors_shapes.size_expression(written[0].span))

    def rule(operand: Tensor) -> tuple[None, Type] | None:
        shape = operand.shape
        if shape.lead is not None or len(shape.axes) != 4:
            cx.fault = cx.report(
                errors_shapes.ranks(span, cx.shower.shape(shape), "[n, h, w, c]", ())
            )
            return None
        cx.require_dtype(
            operand.element, NUMBERS if name == "maxPool" else FLOATS, False, name, place
        )
        batch, high, wide, channels = shape.axes
        parts = [side.divided(divisor) for side in (high, wide)]
        for part, side in zip(parts, (high, wide), strict=True):
            if part is None:
                cx.fault = cx.report(
                    errors_shapes.does_not_divide(span, cx.shower.dim(side), divisor)
                )
                return None
        made = tuple(p for p in (batch, *parts, channels) if p is not None)
        return None, Tensor(operand.element, Shape(made))

    head = _waiting(cx, name, None, 1, place, rule, rest)
    return _finish(cx, head, [_size_term(window, written[0].span)], rest, place, span)


_FORMS: dict[str, Callable[..., term.Term]] = {
    "repeat": _repeat,
    "pad": _pad,
    "reshape": _reshape,
    "fill": _fill,
    "positions": _positions,
    "conv2d": _conv2d,
    "maxPool": _pool,
    "meanPool": _pool,
}

# ---- concat, cast, model values --------------------------------------------------------------------------------------


def _concat(
    cx: Context,
    axes: tuple[Axis, ...] | None,
    place: Span,
    arguments: Sequence[Argument],
    span: Span,
) -> term.Term:
    assert axes is not None
    items = arguments[0] if len(arguments) == 1 else None
    if not isinstance(items, tree.ListExpr) or not items.items:
        return cx.refuse(span, errors_types.special_arguments(span, "concat", USAGE["concat"]))
    terms = tuple([cx.infer(item) for item in items.items])
    result = cx.solver.type(span)
    type_: Type = result
    for item in reversed(terms):
        type_ = Function(item.type, type_)
    hole = Hole(place, type_)
    operands = [Operand(t.type, t.span) for t in terms]

    def attempt() -> bool:
        return _join(cx, axes, operands, result, hole, span)

    def give_up() -> None:
        cx.unify(result, cx.refuse(span, errors_types.unknown_operand(span, "concat")).type, span)

    cx.wait(Waiting(attempt, give_up, (*[t.type for t in terms], result)))
    return term.Apply(hole, terms, span=span, type=result)  # type: ignore[arg-type]


def _join(
    cx: Context,
    axes: tuple[Axis, ...],
    operands: Sequence[Operand],
    result: Type,
    hole: Hole,
    span: Span,
) -> bool:
    heads = [cx.solver.head(o.type) for o in operands]
    poisoned = next((h for h in heads if cx.is_poisoned(h)), None)
    if poisoned is not None:
        return cx.unify(result, poisoned, span)
    if any(cx.is_open(h) or (isinstance(h, Tensor) and not is_settled(cx, h)) for h in heads):
        return False
    for head, operand in zip(heads, operands, strict=True):
        if not isinstance(head, Tensor):
            cx.unify(head, Tensor(cx.solver.element(span), cx.solver.shape(span)), operand.span)
            return cx.unify(result, _fault(cx, span).type, span)
    element = same_element(cx, operands, span)
    shapes = [cx.solver.known_shape(h.shape) for h in heads if isinstance(h, Tensor)]
    places = resolve(cx, axes, shapes[0]) if element is not None else None
    if element is None or places is None:
        return cx.unify(result, _fault(cx, span).type, span)
    at = places[0] % len(shapes[0].axes)
    total = Dim(())
    for shape, operand in zip(shapes, operands, strict=True):
        if len(shape.axes) != len(shapes[0].axes) or shape.lead != shapes[0].lead:
            texts = cx.shower.shape(shape), cx.shower.shape(shapes[0])
            cx.fault = cx.report(errors_shapes.ranks(operand.span, *texts, ()))
            return cx.unify(result, _fault(cx, span).type, span)
        for place, (one, two) in enumerate(zip(shape.axes, shapes[0].axes, strict=True)):
            labels = (Label(operands[0].span, f"this has shape `{cx.shower.shape(shapes[0])}`"),)
            if place != at and not cx.unify_dims(one, two, operand.span, labels):
                return cx.unify(result, _fault(cx, span).type, span)
        total = total + shape.axes[at]
    sizes = list(shapes[0].axes)
    sizes[at] = total
    hole.filled = term.Intrinsic("concat", axes=places, span=hole.span, type=hole.type)
    return cx.unify(result, Tensor(element, Shape(tuple(sizes), shapes[0].lead)), span)


def _cast(cx: Context, place: Span, arguments: Sequence[Argument], span: Span) -> term.Term:
    first = arguments[0]
    if isinstance(first, tree.Var) and first.name == "index":
        return cx.refuse(span, errors_types.unchecked_index(span, "a cast", "index n"))
    target = DTYPES.get(first.name) if isinstance(first, tree.Var) else None
    if target is None:
        return cx.refuse(span, errors_types.special_arguments(span, "cast", USAGE["cast"]))
    parameter, result = cx.solver.type(span), cx.solver.type(span)
    type_ = Function(parameter, result)
    head = term.Intrinsic("cast", arguments=(target,), span=place, type=type_)

    def attempt(default: bool = False) -> bool:
        item = cx.solver.head(parameter)
        if cx.is_open(item):
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
    return _finish(cx, head, [], arguments[1:], place, span)


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
                errors_types.field_twice(given[twice.name.text].span, twice.name.text, twice.span),
            )
        diagnostic = errors_types.record_fields(argument.span, name, missing, extra, model.dims)
        return cx.refuse(span, diagnostic)
    dims = [size(cx, given[d].value) for d in model.dims]
    good = tuple([d for d in dims if d is not None])
    if len(good) < len(dims):
        return _fault(cx, span)
    cx.require_model(model, good, span)
    type_ = Named("Model", (Named(model.symbol, good),))
    return term.ModelValue(model.symbol, good, span=span, type=type_)

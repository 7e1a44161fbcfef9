"""Tight brackets: the axes of an operation, or indexing and slicing; and `einsum`."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.check import errors_names, errors_shapes, errors_types, operation_rules
from alpha.check.axes import read_axes
from alpha.check.broadcasting import is_settled
from alpha.check.calls import use
from alpha.check.context import Context
from alpha.check.entries import Hole, Waiting
from alpha.check.form_parts import USAGE
from alpha.check.operations import FLOATS, FORMS, NUMBERS, SPECIAL, WITH_AXES
from alpha.check.sizes import formula
from alpha.core import term
from alpha.core.dim import Answer, Dim, nonnegative
from alpha.core.types import Function, Shape, Tensor, Type
from alpha.diagnostics.diagnostic import Diagnostic, Label
from alpha.syntax import tree

_ONE = Dim.constant(1)


def bracket(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Bracket)
    head = node.value
    if isinstance(head, tree.Var) and cx.lookup(head.name) is None:
        if head.name in FORMS:
            usage = USAGE[head.name]
            return cx.refuse(node.span, errors_types.special_arguments(node.span, head.name, usage))
        if head.name in SPECIAL:
            axes = read_axes(cx, node.items)
            if axes is None:
                return cx.faulty(node.span)
            return operation_rules.operation(cx, SPECIAL[head.name], axes, node.span)
    value = cx.infer(head)
    if isinstance(value, term.Intrinsic) and isinstance(value.type, Function):
        hint = ", ".join(sorted(WITH_AXES))
        diagnostic = errors_shapes.no_axes(node.span, f"{head.span.text}` (only {hint} do) `")
        return cx.refuse(node.span, diagnostic)
    return _subscript(cx, value, node)


def _subscript(cx: Context, value: term.Term, node: tree.Bracket) -> term.Term:
    result = cx.solver.type(node.span)
    hole = Hole(node.span, result)
    places = [_place(cx, item) for item in node.items]

    def attempt() -> bool:
        item = cx.solver.head(value.type)
        if cx.is_poisoned(item):
            return cx.unify(result, item, node.span)
        if cx.is_open(item):
            return False
        if not isinstance(item, Tensor):
            wanted = Tensor(cx.solver.element(node.span), cx.solver.shape(node.span))
            cx.unify(item, wanted, value.span)
            return cx.unify(result, cx.faulty(node.span).type, node.span)
        if not is_settled(cx, item):
            return False
        shape = cx.solver.known_shape(item.shape)
        if any(n[0] == "?" for axis in shape.axes[: len(places)] for n in axis.names):
            return False
        found = _cut(cx, shape, places, node)
        if found is None:
            return cx.unify(result, cx.faulty(node.span).type, node.span)
        items, rest = found
        hole.filled = term.Subscript(value, items, span=node.span, type=result)
        return cx.unify(result, Tensor(item.element, rest), node.span)

    def give_up() -> None:
        diagnostic = errors_types.unknown_operand(node.span, "[...]")
        cx.unify(result, cx.refuse(node.span, diagnostic).type, node.span)

    cx.wait(Waiting(attempt, give_up, (value.type, result)))
    return hole.term


Bound = Dim | Diagnostic | None
Place = tuple[Bound, Span] | tuple[Bound, Bound, Span]
"""An index, or the two ends of a slice, as formulas."""


def _place(cx: Context, item: tree.Expr | tree.Slice) -> Place:
    if isinstance(item, tree.Slice):
        low = None if item.low is None else formula(cx, item.low)
        high = None if item.high is None else formula(cx, item.high)
        return low, high, item.span
    return formula(cx, item), item.span


Cut = term.At | term.Range | None


def _cut(
    cx: Context, shape: Shape, places: list[Place], node: tree.Bracket
) -> tuple[tuple[Cut, ...], Shape] | None:
    if shape.lead is not None or len(places) > len(shape.axes):
        shown = cx.shower.shape(shape)
        wanted = f"[{', '.join('_' for _ in places)}]"
        cx.fault = cx.report(errors_shapes.ranks(node.span, shown, wanted, ()))
        return None
    items: list[Cut] = []
    left: list[Dim] = []
    for place, axis in zip(places, shape.axes, strict=False):
        bounds = place[:-1]
        span = place[-1]
        assert isinstance(span, Span)
        fault = next((b for b in bounds if isinstance(b, Diagnostic)), None)
        if fault is not None:
            code = errors_shapes.bound_expression(span) if fault.code == "E0422" else fault
            cx.fault = cx.report(code)
            return None
        if len(place) == 2:
            assert isinstance(place[0], Dim)
            at = _from_end(place[0], axis)
            if not _inside(cx, at, axis - _ONE, axis, f"the index {place[0]}", span):
                return None
            items.append(term.At(at))
            continue
        low_bound, high_bound = place[0], place[1]
        low = _from_end(low_bound, axis) if isinstance(low_bound, Dim) else Dim(())
        high = _from_end(high_bound, axis) if isinstance(high_bound, Dim) else axis
        if low_bound is None and high_bound is None:
            items.append(None)
            left.append(axis)
            continue
        if not _inside(cx, low, axis, axis, f"the bound {low}", span):
            return None
        if not _inside(cx, high, axis, axis, f"the bound {high}", span):
            return None
        size = cx.solver.rewritten(high - low)
        if nonnegative(size - _ONE) is not Answer.YES:
            decided = nonnegative(-size) is Answer.YES
            cx.fault = cx.report(
                errors_shapes.empty_slice(span, size)
                if decided
                else errors_shapes.bounds(span, f"a slice of size {size}", axis, False)
            )
            return None
        items.append(term.Range(low, high))
        left.append(high - low)
    return tuple(items), Shape((*left, *shape.axes[len(places) :]))


def _from_end(bound: Dim, axis: Dim) -> Dim:
    """A negative number counts from the end."""
    value = bound.value
    return axis + bound if value is not None and value < 0 else bound


def _inside(cx: Context, place: Dim, most: Dim, axis: Dim, what: str, span: Span) -> bool:
    """`0 <= place <= most` for all sizes."""
    answers = [
        nonnegative(cx.solver.rewritten(place)),
        nonnegative(cx.solver.rewritten(most - place)),
    ]
    if all(a is Answer.YES for a in answers):
        return True
    cx.fault = cx.report(errors_shapes.bounds(span, what, axis, Answer.NO in answers))
    return False


# ---- einsum ----------------------------------------------------------------------------------------------------------


def einsum(cx: Context, node: tree.Written) -> term.Term:
    """Each letter has one size; the operands' types follow from the letters, so nothing waits."""
    assert isinstance(node, tree.Einsum)
    sizes: dict[str, tuple[Dim, Span]] = {}
    operands: list[term.Term] = []
    spec: list[tuple[str | int, ...]] = []
    element = cx.solver.element(node.span)
    good = True
    for access in node.operands:
        letters = _letters(cx, access, sizes)
        value = _path(cx, access)
        operands.append(value)
        if letters is None:
            good = False
            continue
        axes: list[Dim] = []
        for letter, place in zip(letters, access.letters, strict=True):
            axes.append(cx.solver.dim(place.span) if isinstance(letter, int) else sizes[letter][0])
        good = _fits(cx, value, Tensor(element, Shape(tuple(axes))), letters, sizes) and good
        for letter, axis, place in zip(letters, axes, access.letters, strict=True):
            if isinstance(letter, int):
                known = cx.solver.known_dim(axis)
                if good and not any(n[0] in "?!" for n in known.names):
                    at = Dim.constant(letter)
                    good = _inside(cx, at, known - _ONE, known, f"the index {letter}", place.span)
        spec.append(tuple(letters))
    result = _result(cx, node, sizes)
    if result is None or not good:
        return cx.faulty(node.span)
    single = len(operands) == 1
    cx.require_dtype(element, NUMBERS if single else FLOATS, False, "einsum", node.span)
    made = Tensor(element, Shape(tuple([sizes[letter][0] for letter in result])))
    type_: Type = made
    for operand in reversed(operands):
        type_ = Function(operand.type, type_)
    letters_spec = term.EinsumSpec(tuple(spec), result)
    head = term.Intrinsic("einsum", einsum=letters_spec, span=node.span, type=type_)
    return term.Apply(head, tuple(operands), span=node.span, type=made)


def _fits(
    cx: Context,
    value: term.Term,
    wanted: Tensor,
    letters: list[str | int],
    sizes: dict[str, tuple[Dim, Span]],
) -> bool:
    """The operand has one axis for each letter; a size that differs is told with both of the letter's places."""
    item = cx.resolved(value.type)
    if not isinstance(item, Tensor):
        return cx.unify(value.type, wanted, value.span)
    shape = cx.solver.known_shape(item.shape)
    if shape.lead is not None or len(shape.axes) != len(letters):
        return cx.unify(value.type, wanted, value.span)
    if not cx.unify(Tensor(item.element, Shape(())), Tensor(wanted.element, Shape(())), value.span):
        return False
    good = True
    for letter, axis, size in zip(letters, shape.axes, wanted.shape.axes, strict=True):
        labels: tuple[Label, ...] = ()
        if isinstance(letter, str):
            labels = (
                Label(sizes[letter][1], f"{letter} = {cx.shower.dim(size)}"),
                Label(value.span, f"{letter} = {cx.shower.dim(axis)}"),
            )
        good = cx.unify_dims(axis, size, value.span, labels) and good
    return good


def _letters(
    cx: Context, access: tree.Access, sizes: dict[str, tuple[Dim, Span]]
) -> list[str | int] | None:
    letters: list[str | int] = []
    for item in access.letters:
        if isinstance(item, tree.Int):
            letters.append(item.value)
        elif isinstance(item, tree.Var):
            if item.name in letters:
                message = f"the letter `{item.name}` stands twice in one operand"
                cause = "a diagonal is not a contraction; each letter stands once in an operand"
                cx.fault = cx.report(errors_shapes.einsum(item.span, message, cause))
                return None
            letters.append(item.name)
            if item.name not in sizes:
                sizes[item.name] = (cx.solver.dim(item.span, item.name), item.span)
        else:
            message = "an axis of an `einsum` is a letter or a number"
            cause = "letters name axes, numbers select one place of an axis"
            cx.fault = cx.report(errors_shapes.einsum(item.span, message, cause))
            return None
    return letters


def _path(cx: Context, access: tree.Access) -> term.Term:
    """`r.b` in front of the letters."""
    first, *fields = access.path
    entry = cx.lookup(first.text)
    if entry is None:
        known = [*cx.locals, *cx.scope.value_names()]
        return cx.refuse(first.span, errors_names.unknown(first.span, first.text, "value", known))
    if not fields:
        return use(cx, first.text, entry, first.span)
    node: tree.Expr = tree.Var(first.text, span=first.span)
    for name in fields:
        node = tree.Select(node, name, span=first.span.to(name.span))
    return cx.infer(node)


def _result(
    cx: Context, node: tree.Einsum, sizes: dict[str, tuple[Dim, Span]]
) -> tuple[str, ...] | None:
    result: list[str] = []
    for item in node.result.items:
        name = item.name if isinstance(item, tree.Var) else item.span.text
        if name not in sizes or name in result:
            message = (
                f"the letter `{name}` stands twice in the result"
                if name in result
                else f"the result's `{name}` stands in no operand"
            )
            cause = "each axis of the result is one letter of the operands"
            cx.fault = cx.report(errors_shapes.einsum(item.span, message, cause))
            return None
        result.append(name)
    return tuple(result)

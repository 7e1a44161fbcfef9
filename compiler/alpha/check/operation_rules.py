"""The typing of special operations: one function for each `Rule` of the table in `operations`.

An operation is a function value with fresh unknowns for its operands and result; a rule relates them once the
operands are known. So partial application and passing an operation on need no rules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.check import errors_declarations, errors_shapes, errors_types
from alpha.check.axes import Axis, resolve
from alpha.check.broadcasting import Operand, broadcast, is_settled, same_element
from alpha.check.context import Context, scalar
from alpha.check.entries import Hole, Waiting
from alpha.check.operations import Operation, Rule
from alpha.check.solver import BOOL, F32, SCALAR
from alpha.core import term
from alpha.core.type_text import arrow
from alpha.core.types import Element, Function, Index, Shape, Tensor, TupleType, Type
from alpha.diagnostics.diagnostic import Diagnostic


def operation(cx: Context, row: Operation, axes: tuple[Axis, ...] | None, span: Span) -> term.Term:
    """The operation as a function value. `axes` are as written, None without brackets."""
    fault = _axes_fault(row, axes, span)
    if fault is not None:
        return cx.refuse(span, fault)
    parameters = tuple(cx.solver.type(span) for _ in range(row.arity))
    result = cx.solver.type(span)
    type_ = arrow(parameters, result)
    hole = Hole(span, type_)
    use = Use(cx, row, axes, span, parameters, result, hole)
    cx.operand_spans = use.spans
    rule = _RULES[row.rule]

    def attempt() -> bool:
        poisoned = next((p for p in parameters if cx.is_poisoned(p)), None)
        if poisoned is not None:
            cx.unify(result, poisoned, span)
            return True
        return rule(use)

    def give_up() -> None:
        diagnostic = errors_types.unknown_operand(span, row.name)
        cx.unify(result, cx.refuse(span, diagnostic).type, span)

    cx.wait(Waiting(attempt, give_up, (*parameters, result)))
    return hole.term


def _axes_fault(row: Operation, axes: tuple[Axis, ...] | None, span: Span) -> Diagnostic | None:
    along = row.rule in (Rule.REDUCE, Rule.CHOOSE, Rule.ROW, Rule.TRANSPOSE)
    if axes is not None and not along:
        return errors_shapes.no_axes(span, row.name)
    if row.rule in (Rule.CHOOSE, Rule.ROW) and (axes is None or len(axes) != 1):
        return errors_shapes.axis_count(span, row.name, f"exactly one axis: `{row.name}[-1]`")
    return None


@record(frozen=False)
class Use:
    """One use of an operation. A rule answers False to wait."""

    cx: Context
    row: Operation
    axes: tuple[Axis, ...] | None
    span: Span
    parameters: tuple[Type, ...]
    result: Type
    hole: Hole
    spans: list[Span] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.spans.extend([self.span] * len(self.parameters))

    def gives(self, type_: Type, places: tuple[int, ...] | None = None) -> bool:
        self.hole.filled = term.Intrinsic(
            self.row.name, axes=places, span=self.span, type=self.hole.type
        )
        self.cx.unify(self.result, type_, self.span)
        return True

    def refused(self) -> bool:
        return self.gives(self.cx.faulty(self.span).type)

    def refuse(self, diagnostic: Diagnostic) -> bool:
        return self.gives(self.cx.refuse(self.span, diagnostic).type)

    def operands(self) -> list[Operand]:
        return [Operand(p, s) for p, s in zip(self.parameters, self.spans, strict=True)]

    def tensor(self) -> Tensor | None:
        """The single operand, once its rank is known. A literal becomes a scalar."""
        cx = self.cx
        item = cx.solver.head(self.parameters[0])
        if cx.is_open(item):
            if not cx.solver.literal(item):
                return None
            element = cx.solver.element(self.span)
            cx.unify(item, scalar(element), self.spans[0])
            item = cx.solver.head(item)
        if not isinstance(item, Tensor):
            wanted = Tensor(cx.solver.element(self.span), cx.solver.shape(self.span))
            cx.unify(item, wanted, self.spans[0])
            self.refused()
            return None
        return (
            Tensor(item.element, cx.solver.known_shape(item.shape))
            if is_settled(cx, item)
            else None
        )

    @property
    def done(self) -> bool:
        return self.hole.filled is not None

    def allow(self, element: Element) -> None:
        self.cx.require_dtype(element, self.row.dtypes, self.row.indexes, self.row.name, self.span)


# ---- elementwise -----------------------------------------------------------------------------------------------------


def _elementwise(use: Use) -> bool:
    operands = use.operands()
    shape = _combine(use, operands)
    if shape is None:
        return use.done
    element = use.cx.solver.head(operands[0].type)
    assert isinstance(element, Tensor)
    return use.gives(Tensor(element.element, shape))


def _select(use: Use) -> bool:
    cx = use.cx
    condition, *operands = use.operands()
    item = cx.solver.head(condition.type)
    if cx.is_open(item) or (isinstance(item, Tensor) and not is_settled(cx, item)):
        return False
    shape = _combine(use, operands)
    if shape is None:
        return use.done
    if not isinstance(item, Tensor) or not cx.unify(scalar(item.element), BOOL, condition.span):
        if not isinstance(item, Tensor):
            cx.unify(item, BOOL, condition.span)
        return use.refused()
    whole = broadcast(cx, [condition, *operands], use.span)
    if whole is None:
        return use.refused()
    tensor = cx.solver.head(operands[0].type)
    assert isinstance(tensor, Tensor)
    return use.gives(Tensor(tensor.element, whole))


def _combine(use: Use, operands: Sequence[Operand]) -> Shape | None:
    """The joint shape of operands of one dtype; literals become scalars of it. None to wait, or if refused."""
    cx = use.cx
    literals = [o for o in operands if cx.solver.literal(cx.solver.head(o.type))]
    others = [o for o in operands if o not in literals]
    if any(cx.is_open(o.type) for o in others):
        return None
    for other in others:
        item = cx.solver.head(other.type)
        if not isinstance(item, Tensor):
            wanted = Tensor(cx.solver.element(use.span), cx.solver.shape(use.span))
            cx.unify(item, wanted, other.span)
            use.refused()
            return None
        if not is_settled(cx, item):
            return None
    if others:
        element = same_element(cx, others, use.span)
        if element is None:
            use.refused()
            return None
    else:
        element = cx.solver.element(use.span)
    for literal in literals:
        if not cx.unify(literal.type, scalar(element), literal.span):
            use.refused()
            return None
    use.allow(element)
    shape = broadcast(cx, operands, use.span)
    if shape is None:
        use.refused()
    return shape


# ---- along axes ------------------------------------------------------------------------------------------------------


def _reduce(use: Use) -> bool:
    tensor = use.tensor()
    if tensor is None:
        return use.done
    use.allow(tensor.element)
    if use.axes is None:
        return use.gives(Tensor(tensor.element, SCALAR))
    places = resolve(use.cx, use.axes, tensor.shape)
    if places is None:
        return use.refused()
    return use.gives(Tensor(tensor.element, _without(tensor.shape, places)), places)


def _choose(use: Use) -> bool:
    tensor = use.tensor()
    if tensor is None:
        return use.done
    use.allow(tensor.element)
    assert use.axes is not None
    places = resolve(use.cx, use.axes, tensor.shape)
    if places is None:
        return use.refused()
    size = tensor.shape.axes[places[0]]
    return use.gives(Tensor(Index(size), _without(tensor.shape, places)), places)


def _row(use: Use) -> bool:
    tensor = use.tensor()
    if tensor is None:
        return use.done
    use.allow(tensor.element)
    assert use.axes is not None
    places = resolve(use.cx, use.axes, tensor.shape)
    return use.refused() if places is None else use.gives(tensor, places)


def _without(shape: Shape, places: tuple[int, ...]) -> Shape:
    gone = {p % len(shape.axes) for p in places}
    return Shape(tuple(a for i, a in enumerate(shape.axes) if i not in gone), shape.lead)


def _transpose(use: Use) -> bool:
    tensor = use.tensor()
    if tensor is None:
        return use.done
    use.allow(tensor.element)
    shape = tensor.shape
    shown = use.cx.shower.shape(shape)
    if use.axes is None:
        if shape.lead is not None or len(shape.axes) != 2:
            return use.refuse(errors_shapes.ranks(use.span, shown, "[rows, columns]", ()))
        return use.gives(Tensor(tensor.element, Shape((shape.axes[1], shape.axes[0]))))
    places = resolve(use.cx, use.axes, shape)
    if places is None:
        return use.refused()
    if shape.lead is not None or len(places) != len(shape.axes):
        wanted = f"all axes of `{shown}`, each once"
        return use.refuse(errors_shapes.axis_count(use.span, "transpose", wanted))
    return use.gives(Tensor(tensor.element, Shape(tuple(shape.axes[p] for p in places))), places)


# ---- rows of a table, gradients --------------------------------------------------------------------------------------


def _gather(use: Use) -> bool:
    """`Tensor t [n, ...s] -> Tensor (index n) r -> Tensor t [...r, ...s]`; an axes variable may only be in `r`."""
    cx = use.cx
    table = use.tensor()
    if table is None:
        return use.done
    if table.shape.lead is not None or not table.shape.axes:
        shown = cx.shower.shape(table.shape)
        return use.refuse(errors_shapes.ranks(use.spans[0], shown, "[n, ...]", ()))
    ids = cx.solver.head(use.parameters[1])
    if cx.is_open(ids) or (isinstance(ids, Tensor) and not is_settled(cx, ids)):
        return False
    use.allow(table.element)
    size, *row = table.shape.axes
    rank = cx.solver.shape(use.span)
    if not cx.unify(ids, Tensor(Index(size), rank), use.spans[1]):
        return use.refused()
    rows = cx.solver.known_shape(rank)
    return use.gives(Tensor(table.element, Shape((*rows.axes, *row), rows.lead)))


def _grad(use: Use) -> bool:
    """`(p -> a -> f32) -> p -> a -> p`, or with the value in front."""
    cx = use.cx
    function, parameter, argument = use.parameters
    value = cx.solver.type(use.span)
    if not cx.unify(function, Function(parameter, Function(argument, value)), use.spans[0]):
        return use.refused()
    found = cx.solver.head(value)
    if cx.is_open(found):
        use.cx.wait(
            Waiting(lambda: _scalar_loss(use, value), lambda: _default_loss(use, value), (value,))
        )
    elif not _is_loss(use, found):
        return use.refused()
    if use.row.name == "grad":
        return use.gives(parameter)
    return use.gives(TupleType((F32, parameter)))


def _scalar_loss(use: Use, value: Type) -> bool:
    found = use.cx.solver.head(value)
    if use.cx.is_open(found):
        return False
    _is_loss(use, found)
    return True


def _default_loss(use: Use, value: Type) -> None:
    use.cx.unify(value, F32, use.span)


def _is_loss(use: Use, found: Type) -> bool:
    cx = use.cx
    if cx.is_poisoned(found):
        return True
    known = cx.solver.known(found)
    if known == F32:
        return True
    if isinstance(known, Tensor) and not cx.solver.open_names(known):
        cx.fault = cx.report(errors_declarations.loss_type(use.spans[0], cx.show(known)))
        return False
    return cx.unify(found, F32, use.spans[0])


_RULES: dict[Rule, Callable[[Use], bool]] = {
    Rule.ELEMENTWISE: _elementwise,
    Rule.SELECT: _select,
    Rule.REDUCE: _reduce,
    Rule.CHOOSE: _choose,
    Rule.ROW: _row,
    Rule.TRANSPOSE: _transpose,
    Rule.GATHER: _gather,
    Rule.GRAD: _grad,
}

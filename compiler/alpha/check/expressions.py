"""Literals, functions, choices and local definitions; and the tables that send every expression to its rule."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.check import errors_types
from alpha.check.builtin import UNITS
from alpha.check.calls import application, check_application, constructor, pipe, variable
from alpha.check.context import Check, Context, Infer, Rules
from alpha.check.entries import Blame, LocalFunction, Variable
from alpha.check.exhaustive import missing, unreachable
from alpha.check.generalise import generalise
from alpha.check.operators import binary, check_binary, unary
from alpha.check.patterns import Names, pattern, require_total
from alpha.check.records import accessor, check_accessor, check_record, record, select
from alpha.check.solver import AMOUNT, BOOL, TEXT
from alpha.check.subscripts import bracket, einsum
from alpha.core import term
from alpha.core.type_text import arrow
from alpha.core.types import Function, Named, Tensor, TupleType, Type
from alpha.syntax import tree

# ---- literals --------------------------------------------------------------------------------------------------------


def integer(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Int)
    return term.Literal(node.value, span=node.span, type=cx.solver.type(node.span, "int"))


def floating(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Float)
    return term.Literal(node.value, span=node.span, type=cx.solver.type(node.span, "float"))


def quantity(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Quantity)
    unit = UNITS[node.unit]
    amount = term.Amount(node.value * unit.value, unit.unit)
    return term.Literal(amount, span=node.span, type=AMOUNT)


def text(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Text)
    return term.Literal(node.value, span=node.span, type=TEXT)


def list_(cx: Context, node: tree.Written) -> term.Term:
    return _list(cx, node, cx.solver.type(node.span))


def check_list(cx: Context, node: tree.Written, expected: Type, blame: Blame | None) -> term.Term:
    wanted = cx.resolved(expected)
    if isinstance(wanted, Named) and wanted.name == "List":
        (item,) = wanted.arguments
        return _list(cx, node, item)  # type: ignore[arg-type]
    return cx.expect(_list(cx, node, cx.solver.type(node.span)), expected, blame)


def _list(cx: Context, node: tree.Written, item: Type) -> term.Term:
    assert isinstance(node, tree.ListExpr)
    items: list[term.Term] = []
    for place, each in enumerate(node.items):
        if place:
            before = node.items[0].span
            blame = Blame(before, lambda: f"the first item makes this a list of `{cx.show(item)}`")
        else:
            blame = Blame(node.span, lambda: f"this is a list of `{cx.show(item)}`")
        items.append(cx.check(each, item, blame))
    return term.ListTerm(tuple(items), span=node.span, type=Named("List", (item,)))


def tuple_(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.TupleExpr)
    items = tuple([cx.infer(item) for item in node.items])
    return term.TupleTerm(items, span=node.span, type=TupleType(tuple([i.type for i in items])))


def check_tuple(cx: Context, node: tree.Written, expected: Type, blame: Blame | None) -> term.Term:
    assert isinstance(node, tree.TupleExpr)
    wanted = cx.resolved(expected)
    if not isinstance(wanted, TupleType) or len(wanted.items) != len(node.items):
        return cx.expect(tuple_(cx, node), expected, blame)
    items = [cx.check(i, t, blame) for i, t in zip(node.items, wanted.items, strict=True)]
    return term.TupleTerm(tuple(items), span=node.span, type=wanted)


# ---- functions -------------------------------------------------------------------------------------------------------


def function(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Fn)
    return abstraction(cx, node.parameters, node.body, node.span, None, None)


def check_function(
    cx: Context, node: tree.Written, expected: Type, blame: Blame | None
) -> term.Term:
    assert isinstance(node, tree.Fn)
    wanted = cx.resolved(expected)
    if not isinstance(wanted, Function):
        return cx.expect(function(cx, node), expected, blame)
    types: list[Type] = []
    result: Type = wanted
    for _ in node.parameters:
        result = cx.resolved(result)
        if not isinstance(result, Function):
            found = abstraction(cx, node.parameters, node.body, node.span, None, None)
            return cx.expect(found, expected, blame)
        types.append(result.parameter)
        result = result.result
    return abstraction(cx, node.parameters, node.body, node.span, types, result, blame)


def abstraction(
    cx: Context,
    parameters: Sequence[tree.Pattern],
    body: tree.Body,
    span: Span,
    types: Sequence[Type] | None,
    result: Type | None,
    blame: Blame | None = None,
    result_blame: Blame | None = None,
) -> term.Lambda:
    """A function of `parameters`; `types` and `result` are what is expected of them, and the blames say by whom."""
    outer = cx.locals
    names: Names = {}
    patterns: list[term.Pattern] = []
    found: list[Type] = []
    for place, parameter in enumerate(parameters):
        type_ = types[place] if types is not None else cx.solver.type(parameter.span)
        found.append(type_)
        made = pattern(cx, parameter, type_, names, blame)
        require_total(cx, made, parameter)
        patterns.append(made)
    with cx.binding(names):
        if result is None:
            value = cx.infer(body)
        else:
            value = cx.check(body, result, result_blame or blame)
    cx.locals = outer
    type_ = arrow(tuple(found), value.type if result is None else result)
    return term.Lambda(tuple(patterns), value, span=span, type=type_)


# ---- bodies ----------------------------------------------------------------------------------------------------------


def body(cx: Context, node: tree.Written) -> term.Term:
    return _body(cx, node, None, None)


def check_body(cx: Context, node: tree.Written, expected: Type, blame: Blame | None) -> term.Term:
    return _body(cx, node, expected, blame)


def _body(cx: Context, node: tree.Written, expected: Type | None, blame: Blame | None) -> term.Term:
    assert isinstance(node, tree.Body)
    if not node.lets:
        return cx.infer(node.value) if expected is None else cx.check(node.value, expected, blame)
    outer = cx.locals
    made = [let_(cx, each) for each in node.lets]
    value = cx.infer(node.value) if expected is None else cx.check(node.value, expected, blame)
    cx.locals = outer
    return around(made, value)


Made = tuple[Span, term.Pattern | LocalFunction, str, term.Term]
"""A local definition: its place, what it binds, its name if that is a generalised function, and its value."""


def around(made: Sequence[Made], value: term.Term) -> term.Term:
    """`value` behind local definitions, the first outermost."""
    for place, binder, name, bound in reversed(made):
        span = place.to(value.span)
        if isinstance(binder, LocalFunction):
            value = term.LetGeneral(name, binder.scheme, bound, value, span=span, type=value.type)
        else:
            value = term.Let(binder, bound, value, span=span, type=value.type)
    return value


def let_(cx: Context, let: tree.Let | tree.LetFn) -> Made:
    """Checks a local definition and puts its names in scope."""
    if isinstance(let, tree.LetFn):
        return _let_function(cx, let, let.name.text, let.name.span, let.parameters, let.value)
    simple = let.value.value
    if (
        isinstance(let.pattern, tree.PVar)
        and let.annotation is None
        and not let.value.lets
        and isinstance(simple, tree.Fn)
    ):
        name = let.pattern.name
        return _let_function(cx, let, name, let.pattern.span, simple.parameters, simple.body)
    if let.annotation is not None:
        saved, cx.variables = cx.variables, cx.variables.copy(open=False)
        written = cx.reader().read(let.annotation)
        cx.variables = saved
        place = let.annotation.span
        blame = Blame(place, lambda: f"the annotation says `{cx.show(written)}`")
        value = cx.check(let.value, written, blame)
        type_ = written
        cx.written[let.pattern.span] = place
    else:
        value = cx.infer(let.value)
        type_ = value.type
        cx.made[let.pattern.span] = let.value.span
    names: Names = {}
    made = pattern(cx, let.pattern, type_, names)
    require_total(cx, made, let.pattern)
    _claim_all(cx, names)
    return let.span, made, "", value


def _claim_all(cx: Context, names: Names) -> None:
    for name, entry in names.items():
        cx.claim(name, entry.span)
    cx.locals = {**cx.locals, **names}


def _let_function(
    cx: Context,
    let: tree.Let | tree.LetFn,
    name: str,
    place: Span,
    parameters: Sequence[tree.Pattern],
    value: tree.Body,
) -> Made:
    cx.claim(name, place)
    cx.solver.level += 1
    found = abstraction(cx, parameters, value, let.span, None, None)
    cx.settle()
    cx.solver.level -= 1
    scheme = generalise(cx, found.type)
    if not scheme.variables:
        cx.locals = {**cx.locals, name: Variable(found.type, place)}
        return let.span, term.Bind(name, found.type), name, found
    binder = LocalFunction(scheme, place)
    cx.locals = {**cx.locals, name: binder}
    return let.span, binder, name, found


# ---- choices ---------------------------------------------------------------------------------------------------------


def choice(cx: Context, node: tree.Written) -> term.Term:
    """Chains of `else if` are nested to the right and no deeper than the parser allows."""
    assert isinstance(node, tree.If)
    condition = _condition(cx, node)
    then = cx.infer(node.then)
    blame = Blame(node.then.value.span, lambda: f"the other branch is `{cx.show(then.type)}`")
    otherwise = cx.check(node.otherwise, then.type, blame)
    return term.If(condition, then, otherwise, span=node.span, type=then.type)


def check_choice(cx: Context, node: tree.Written, expected: Type, blame: Blame | None) -> term.Term:
    assert isinstance(node, tree.If)
    condition = _condition(cx, node)
    then = cx.check(node.then, expected, blame)
    otherwise = cx.check(node.otherwise, expected, blame)
    return term.If(condition, then, otherwise, span=node.span, type=expected)


def _condition(cx: Context, node: tree.If) -> term.Term:
    condition = cx.infer(node.condition)
    item = cx.resolved(condition.type)
    if isinstance(item, Tensor) and cx.solver.known_shape(item.shape).axes:
        return cx.refuse(
            node.condition.span,
            errors_types.staged_condition(node.condition.span, cx.show(item), "if"),
        )
    blame = Blame(node.span, "`if` chooses by a `Bool`")
    return cx.expect(condition, BOOL, blame)


def match(cx: Context, node: tree.Written) -> term.Term:
    return _match(cx, node, None, None)


def check_match(cx: Context, node: tree.Written, expected: Type, blame: Blame | None) -> term.Term:
    return _match(cx, node, expected, blame)


def _match(
    cx: Context, node: tree.Written, expected: Type | None, blame: Blame | None
) -> term.Term:
    assert isinstance(node, tree.Match)
    value = cx.infer(node.value)
    before = len(cx.diagnostics.items)
    item = cx.resolved(value.type)
    if isinstance(item, Tensor) and cx.solver.known_shape(item.shape).axes:
        diagnostic = errors_types.staged_condition(node.value.span, cx.show(item), "match")
        return cx.refuse(node.value.span, diagnostic)
    patterns: list[term.Pattern] = []
    arms: list[term.Arm] = []
    result = expected
    for arm in node.arms:
        names: Names = {}
        seen = Blame(node.value.span, lambda: f"this is `{cx.show(value.type)}`")
        made = pattern(cx, arm.pattern, value.type, names, seen)
        patterns.append(made)
        with cx.binding(names):
            if result is None:
                found = cx.infer(arm.body)
                result = found.type
                blame = _first_arm(cx, arm, found)
            else:
                found = cx.check(arm.body, result, blame)
        arms.append(term.Arm(made, found))
    if len(cx.diagnostics.items) == before:
        _coverage(cx, node, patterns, value)
    assert result is not None
    return term.Match(value, tuple(arms), span=node.span, type=result)


def _first_arm(cx: Context, arm: tree.Arm, found: term.Term) -> Blame:
    return Blame(arm.body.value.span, lambda: f"the first arm is `{cx.show(found.type)}`")


def _coverage(
    cx: Context, node: tree.Match, patterns: list[term.Pattern], value: term.Term
) -> None:
    for place in unreachable(cx.registry, patterns):
        earlier = node.arms[place - 1].pattern.span
        cx.report(errors_types.never_reached(node.arms[place].pattern.span, earlier))
    left_out = missing(cx.registry, patterns)
    if left_out:
        span = Span(node.span.source, node.span.start, node.value.span.end)
        cx.report(
            errors_types.missing_patterns(span, left_out, node.value.span, cx.show(value.type))
        )


# ---- tables ----------------------------------------------------------------------------------------------------------

_INFER: dict[type, Infer] = {
    tree.Var: variable,
    tree.Con: constructor,
    tree.Int: integer,
    tree.Float: floating,
    tree.Quantity: quantity,
    tree.Text: text,
    tree.Accessor: accessor,
    tree.ListExpr: list_,
    tree.TupleExpr: tuple_,
    tree.RecordExpr: record,
    tree.Select: select,
    tree.Bracket: bracket,
    tree.Apply: application,
    tree.Unary: unary,
    tree.Binary: binary,
    tree.Pipe: pipe,
    tree.Fn: function,
    tree.If: choice,
    tree.Match: match,
    tree.Einsum: einsum,
    tree.Body: body,
}

_CHECK: dict[type, Check] = {
    tree.Accessor: check_accessor,
    tree.ListExpr: check_list,
    tree.TupleExpr: check_tuple,
    tree.RecordExpr: check_record,
    tree.Apply: check_application,
    tree.Binary: check_binary,
    tree.Fn: check_function,
    tree.If: check_choice,
    tree.Match: check_match,
    tree.Body: check_body,
}

RULES: Rules = (_INFER, _CHECK)

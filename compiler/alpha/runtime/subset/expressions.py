"""Expressions: every operand has one type, and nothing converts by itself.

`want` is the type the surroundings need; it only decides what a bare integer or float literal becomes.
"""

from __future__ import annotations

import ast

from alpha.runtime.subset.context import FunctionContext
from alpha.runtime.subset.intrinsics import INTRINSICS
from alpha.runtime.subset.types import BOOL, I64, POINTER, TYPES, Kind, Type, Value, float_literal

_INTEGER = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
}
_SIGNED = {ast.FloorDiv: "sdiv", ast.Mod: "srem", ast.RShift: "ashr"}
_UNSIGNED = {ast.FloorDiv: "udiv", ast.Mod: "urem", ast.RShift: "lshr"}
_FLOAT = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_COMPARE = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


def expression(context: FunctionContext, node: ast.expr, want: Type | None = None) -> Value:
    """The value of `node`. A call without a result has type `void`."""
    known = context.scope.fold(node)
    if known is not None and not (isinstance(node, ast.Name) and node.id in context.types):
        return _integer(context, node, known, want)
    match node:
        case ast.Constant(value=value):
            return _constant(context, node, value, want)
        case ast.Name(id=name):
            return _name(context, node, name)
        case ast.Subscript(value=ast.Name(id=kind), slice=place) if kind in TYPES:
            address = context.expect(place, expression(context, place), POINTER)
            loaded = TYPES[kind]
            return context.operation(f"load {loaded.llvm}, {address}, align 1", loaded)
        case ast.UnaryOp():
            return _unary(context, node, want)
        case ast.BinOp():
            return _binary(context, node, want)
        case ast.Compare():
            return _compare(context, node)
        case ast.BoolOp() | ast.IfExp():
            return _chosen(context, node, want)
        case ast.Call():
            return call(context, node, want)
        case _:
            return context.fail(node, f"{type(node).__name__} is not in the subset")


def call(context: FunctionContext, node: ast.Call, want: Type | None = None) -> Value:
    if not isinstance(node.func, ast.Name) or node.keywords:
        context.fail(node, "only plain calls of named functions")
    name = node.func.id
    if name in TYPES:
        if len(node.args) != 1:
            context.fail(node, f"{name} converts one value")
        return _convert(context, node.args[0], TYPES[name])
    if name in INTRINSICS:
        return INTRINSICS[name](context, node, expression, want)
    function = context.scope.functions.get(name)
    if function is None:
        context.fail(node, f"unknown function {name}")
    if len(node.args) != len(function.parameters):
        context.fail(node, f"{name} takes {len(function.parameters)} arguments")
    values = [
        context.expect(argument, expression(context, argument, kind), kind)
        for argument, (_, kind) in zip(node.args, function.parameters, strict=True)
    ]
    arguments = ", ".join(map(str, context.arguments(function, values)))
    text = f"call {function.result.llvm} @{name}({arguments})"
    if function.result.kind is Kind.VOID:
        context.blocks.emit(text)
        result = Value("", function.result)
    else:
        result = context.operation(text, function.result)
    context.after_call(node, function)
    return result


def _integer(context: FunctionContext, node: ast.expr, value: int, want: Type | None) -> Value:
    if want is not None and want.kind is Kind.FLOAT:
        return float_literal(float(value), want)
    if want is not None and want.kind is Kind.POINTER and value == 0:
        return Value("null", POINTER)
    kind = want if want is not None and want.is_integer else I64
    if not kind.holds(value):
        context.fail(node, f"{value} does not fit {kind.name}")
    return Value(str(value), kind)


def _constant(context: FunctionContext, node: ast.expr, value: object, want: Type | None) -> Value:
    if isinstance(value, bool):
        return Value("true" if value else "false", BOOL)
    if isinstance(value, bytes):
        return Value(context.output.string(value), POINTER)
    if isinstance(value, float):
        floating = want is not None and want.kind is Kind.FLOAT
        return float_literal(value, want if want is not None and floating else TYPES["f64"])
    return context.fail(node, "only integers, floats, bytes, True and False")


def _name(context: FunctionContext, node: ast.expr, name: str) -> Value:
    if name in context.blocks.locals:
        return context.blocks.locals[name]
    if name in context.types:
        context.fail(node, f"{name} is not assigned on every way to this place")
    variable = context.scope.variables.get(name)
    if variable is not None and not variable.storage:
        place = context.variable(name)
        return context.operation(f"load {variable.type.llvm}, ptr {place}", variable.type)
    if variable:
        return Value(context.variable(name), POINTER)
    if name in context.scope.tables or name in context.scope.functions:
        return Value(f"@{name}", POINTER)
    return context.fail(node, f"unknown name {name}")


def _unary(context: FunctionContext, node: ast.UnaryOp, want: Type | None) -> Value:
    value = expression(context, node.operand, want)
    match node.op:
        case ast.Not() if value.type is BOOL:
            return context.operation(f"xor i1 {value.text}, true", BOOL)
        case ast.Invert() if value.type.is_integer:
            return context.operation(f"xor {value}, -1", value.type)
        case ast.USub() if value.type.kind is Kind.FLOAT:
            return context.operation(f"fneg {value}", value.type)
        case ast.USub() if value.type.kind is Kind.SIGNED:
            return context.operation(f"sub {value.type.llvm} 0, {value.text}", value.type)
    return context.fail(node, f"operator not defined for {value.type.name}")


def _operands(
    context: FunctionContext, left: ast.expr, right: ast.expr, want: Type | None
) -> tuple[Value, Value]:
    """Both operands, left first; a bare literal takes the other's type."""
    if _bare(context, left) and not _bare(context, right):
        b = expression(context, right, want)
        return expression(context, left, b.type), b
    a = expression(context, left, want)
    return a, expression(context, right, I64 if a.type is POINTER else a.type)


def _bare(context: FunctionContext, node: ast.expr) -> bool:
    return context.scope.fold(node) is not None or (
        isinstance(node, ast.Constant) and isinstance(node.value, float)
    )


def _binary(context: FunctionContext, node: ast.BinOp, want: Type | None) -> Value:
    a, b = _operands(context, node.left, node.right, None if want is POINTER else want)
    operator = type(node.op)
    if a.type is POINTER:
        return _offset(context, node, a, b)
    context.expect(node.right, b, a.type)
    if a.type.kind is Kind.FLOAT:
        name = _FLOAT.get(operator)
    elif a.type.is_integer:
        table = _SIGNED if a.type.kind is Kind.SIGNED else _UNSIGNED
        name = _INTEGER.get(operator) or table.get(operator)
    else:
        name = None
    if name is None:
        context.fail(node, f"{operator.__name__} is not defined for {a.type.name}")
    return context.operation(f"{name} {a}, {b.text}", a.type)


def _offset(context: FunctionContext, node: ast.BinOp, a: Value, b: Value) -> Value:
    """Pointer arithmetic counts bytes."""
    if b.type.bits != 64 or not b.type.is_integer:
        context.fail(node.right, f"{b.type.name} where a 64-bit offset is needed")
    if isinstance(node.op, ast.Sub):
        b = context.operation(f"sub i64 0, {b.text}", I64)
    elif not isinstance(node.op, ast.Add):
        context.fail(node, "a pointer only moves by + and -")
    return context.operation(f"getelementptr i8, {a}, i64 {b.text}", POINTER)


def _compare(context: FunctionContext, node: ast.Compare) -> Value:
    if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARE:
        context.fail(node, "one comparison at a time")
    a, b = _operands(context, node.left, node.comparators[0], None)
    if a.type is POINTER and _bare(context, node.comparators[0]):
        b = expression(context, node.comparators[0], POINTER)
    context.expect(node.comparators[0], b, a.type)
    name = _COMPARE[type(node.ops[0])]
    if a.type.kind is Kind.FLOAT:
        ordered = "une" if name == "ne" else f"o{name}"
        return context.operation(f"fcmp {ordered} {a}, {b.text}", BOOL)
    if a.type.kind is Kind.VOID:
        context.fail(node, "a call without a result has no value")
    if name not in ("eq", "ne"):
        if not a.type.is_integer:
            context.fail(node, f"{a.type.name} is not ordered")
        name = ("s" if a.type.kind is Kind.SIGNED else "u") + name
    return context.operation(f"icmp {name} {a}, {b.text}", BOOL)


def _chosen(context: FunctionContext, node: ast.BoolOp | ast.IfExp, want: Type | None) -> Value:
    """`and`, `or` and `a if c else b`: only what is needed is evaluated."""
    blocks = context.blocks
    done = blocks.join("chosen")
    if isinstance(node, ast.IfExp):
        then, other = blocks.join("if"), blocks.join("else")
        blocks.branch(context.expect(node.test, expression(context, node.test), BOOL), then, other)
        blocks.enter(then)
        first = expression(context, node.body, want)
        blocks.jump_with(done, first)
        blocks.enter(other)
        second = context.expect(
            node.orelse, expression(context, node.orelse, first.type), first.type
        )
        blocks.jump_with(done, second)
        return blocks.enter_with(done)
    stop = isinstance(node.op, ast.Or)
    for item in node.values[:-1]:
        value = context.expect(item, expression(context, item), BOOL)
        out, more = blocks.join("short"), blocks.join("more")
        blocks.branch(value, *((out, more) if stop else (more, out)))
        blocks.enter(out)
        blocks.jump_with(done, Value("true" if stop else "false", BOOL))
        blocks.enter(more)
    last = context.expect(node.values[-1], expression(context, node.values[-1]), BOOL)
    blocks.jump_with(done, last)
    return blocks.enter_with(done)


def _convert(context: FunctionContext, node: ast.expr, to: Type) -> Value:
    known = context.scope.fold(node)
    if known is not None and to.is_integer:
        return Value(str(known % (1 << to.bits)), to)
    value = expression(context, node, to)
    kind = value.type
    if kind == to:
        return value
    match kind.kind, to.kind:
        case (Kind.VOID, _) | (_, Kind.VOID) | (_, Kind.BOOL):
            context.fail(node, f"{kind.name} does not convert to {to.name}")
        case Kind.POINTER, _:
            return context.operation(f"ptrtoint {value} to {to.llvm}", to)
        case _, Kind.POINTER:
            return context.operation(f"inttoptr {value} to ptr", to)
        case Kind.FLOAT, Kind.FLOAT:
            name = "fpext" if to.bits > kind.bits else "fptrunc"
        case Kind.FLOAT, _:
            name = "fptosi" if to.kind is Kind.SIGNED else "fptoui"
        case _, Kind.FLOAT:
            name = "sitofp" if kind.kind is Kind.SIGNED else "uitofp"
        case _ if kind.bits == to.bits:
            return Value(value.text, to)
        case _ if kind.bits > to.bits:
            name = "trunc"
        case _:
            name = "sext" if kind.kind is Kind.SIGNED else "zext"
    return context.operation(f"{name} {value} to {to.llvm}", to)

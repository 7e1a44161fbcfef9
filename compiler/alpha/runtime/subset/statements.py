"""Statements: assignment, `if`, `while`, `for ... in range(...)`, `return`, `break`, `continue`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Sequence

from alpha.base.record import record
from alpha.runtime.subset.blocks import Join
from alpha.runtime.subset.context import FunctionContext
from alpha.runtime.subset.expressions import expression
from alpha.runtime.subset.scope import type_of
from alpha.runtime.subset.types import BOOL, I64, POINTER, TYPES, VOID, Value


@record
class Loop:
    """Where `continue` and `break` of the innermost loop go."""

    again: Join
    done: Join


def body(context: FunctionContext) -> None:
    """Lowers the whole function; every way through one with a result must return."""
    node = context.function.node
    context.at(node)
    for name, kind in context.function.parameters:
        context.introduce(node, name, kind)
        context.blocks.assign(name, Value(f"%{name}", kind))
    _block(context, node.body, None)
    if context.blocks.open:
        if context.function.result is not VOID:
            context.fail(node, "a way through the function returns nothing")
        if "noreturn" in context.function.decorators and context.output.handles is None:
            context.fail(node, "a way through the function returns")
        context.blocks.end("ret void")


def _block(context: FunctionContext, statements: Sequence[ast.stmt], loop: Loop | None) -> None:
    for statement in statements:
        if not context.blocks.open:
            context.fail(statement, "never reached")
        context.at(statement)
        _statement(context, statement, loop)


def _statement(context: FunctionContext, node: ast.stmt, loop: Loop | None) -> None:
    blocks = context.blocks
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant(value=str())):
            pass
        case ast.Expr(value=ast.Call() as value):
            expression(context, value)
        case ast.Global(names=names):
            _globals(context, node, names)
        case ast.AnnAssign(target=ast.Name(id=name), annotation=kind, value=ast.expr() as value):
            if name in context.types:
                context.fail(node, f"{name} already has a type")
            wanted = type_of(context.function.file, kind)
            result = context.expect(node, expression(context, value, wanted), wanted)
            context.introduce(node, name, wanted)
            blocks.assign(name, result)
        case ast.Assign(targets=[target]):
            _assign(context, target, node.value)
        case ast.AugAssign(target=target, op=operator, value=value):
            before = copy.copy(target)
            before.ctx = ast.Load()
            _assign(context, target, ast.copy_location(ast.BinOp(before, operator, value), node))
        case ast.Return(value=value):
            _return(context, node, value)
        case ast.If():
            _if(context, node, loop)
        case ast.While():
            _while(context, node)
        case ast.For():
            _for(context, node)
        case ast.Break() if loop is not None:
            blocks.jump(loop.done)
        case ast.Continue() if loop is not None:
            blocks.jump(loop.again)
        case _:
            context.fail(node, f"{type(node).__name__} is not in the subset")


def _globals(context: FunctionContext, node: ast.Global, names: Iterable[str]) -> None:
    for name in names:
        variable = context.scope.variables.get(name)
        if variable is None or variable.storage:
            context.fail(node, f"{name} is no variable of the module")
        context.globals.add(name)


def _assign(context: FunctionContext, target: ast.expr, value: ast.expr) -> None:
    match target:
        case ast.Subscript(value=ast.Name(id=kind), slice=place) if kind in TYPES:
            address = context.expect(place, expression(context, place), POINTER)
            stored = TYPES[kind]
            result = context.expect(value, expression(context, value, stored), stored)
            context.blocks.emit(f"store {result}, {address}, align 1")
        case ast.Name(id=name) if name in context.globals:
            wanted = context.scope.variables[name].type
            result = context.expect(value, expression(context, value, wanted), wanted)
            context.blocks.emit(f"store {result}, ptr {context.variable(name)}")
        case ast.Name(id=name) if name in context.types:
            wanted = context.types[name]
            result = context.expect(value, expression(context, value, wanted), wanted)
            context.blocks.assign(name, result)
        case ast.Name(id=name):
            result = expression(context, value)
            if result.type is VOID:
                context.fail(value, "a call without a result has no value")
            context.introduce(target, name, result.type)
            context.blocks.assign(name, result)
        case _:
            context.fail(target, "assignment to a name or to memory")


def _return(context: FunctionContext, node: ast.Return, value: ast.expr | None) -> None:
    wanted = context.function.result
    if value is None:
        if wanted is not VOID:
            context.fail(node, f"returns {wanted.name}")
        context.blocks.end("ret void")
    else:
        result = context.expect(value, expression(context, value, wanted), wanted)
        context.blocks.end(f"ret {result}")


def _if(context: FunctionContext, node: ast.If, loop: Loop | None) -> None:
    blocks = context.blocks
    then, other, done = blocks.join("then"), blocks.join("else"), blocks.join("end")
    _condition(context, node.test, then, other)
    blocks.enter(then)
    _block(context, node.body, loop)
    blocks.jump(done)
    blocks.enter(other)
    _block(context, node.orelse, loop)
    blocks.jump(done)
    blocks.enter(done)


def _while(context: FunctionContext, node: ast.While) -> None:
    blocks = context.blocks
    if node.orelse:
        context.fail(node, "no else behind a loop")
    head, inside, done = blocks.join("while"), blocks.join("do"), blocks.join("done")
    blocks.jump(head)
    opened = blocks.enter_loop(head, _assigned(node.body))
    if isinstance(node.test, ast.Constant) and node.test.value is True:
        blocks.jump(inside)
    else:
        _condition(context, node.test, inside, done)
    blocks.enter(inside)
    _block(context, node.body, Loop(head, done))
    blocks.jump(head)
    blocks.close_loop(opened)
    blocks.enter(done)


def _for(context: FunctionContext, node: ast.For) -> None:
    """`for i in range(start, stop, step)`: i64, the bounds taken once, the step a positive constant."""
    match node:
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(func=ast.Name(id="range"), args=[*bounds], keywords=[]),
            orelse=[],
        ) if 1 <= len(bounds) <= 3:
            pass
        case _:
            context.fail(node, "for loops count over range(...)")
    step = context.scope.fold(bounds[2]) if len(bounds) == 3 else 1
    if step is None or step < 1:
        context.fail(node, "the step is a positive constant")
    limits = [context.expect(item, expression(context, item, I64), I64) for item in bounds[:2]]
    start, stop = (Value("0", I64), limits[0]) if len(limits) == 1 else (limits[0], limits[1])
    if name not in context.types:
        context.introduce(node.target, name, I64)
    blocks = context.blocks
    blocks.assign(name, start)
    head, inside = blocks.join("for"), blocks.join("do")
    again, done = blocks.join("next"), blocks.join("done")
    blocks.jump(head)
    opened = blocks.enter_loop(head, {*_assigned(node.body), name})
    more = context.operation(f"icmp slt {blocks.locals[name]}, {stop.text}", BOOL)
    blocks.branch(more, inside, done)
    blocks.enter(inside)
    _block(context, node.body, Loop(again, done))
    blocks.jump(again)
    blocks.enter(again)
    if blocks.open:
        blocks.assign(name, context.operation(f"add {blocks.locals[name]}, {step}", I64))
        blocks.jump(head)
    blocks.close_loop(opened)
    blocks.enter(done)


def _condition(context: FunctionContext, node: ast.expr, then: Join, other: Join) -> None:
    """Branches on `node`, evaluating no more of `and`, `or` and `not` than is needed."""
    blocks = context.blocks
    match node:
        case ast.BoolOp(op=operator, values=values):
            for item in values[:-1]:
                more = blocks.join("and" if isinstance(operator, ast.And) else "or")
                if isinstance(operator, ast.And):
                    _condition(context, item, more, other)
                else:
                    _condition(context, item, then, more)
                blocks.enter(more)
            _condition(context, values[-1], then, other)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _condition(context, operand, other, then)
        case _:
            blocks.branch(context.expect(node, expression(context, node), BOOL), then, other)


def _assigned(statements: Iterable[ast.stmt]) -> set[str]:
    """Every local that the statements may assign, at any depth."""
    names: set[str] = set()
    for statement in statements:
        for node in ast.walk(statement):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AugAssign(target=ast.Name(id=name))
                    | ast.AnnAssign(target=ast.Name(id=name))
                    | ast.For(target=ast.Name(id=name))
                ):
                    names.add(name)
                case _:
                    pass
    return names

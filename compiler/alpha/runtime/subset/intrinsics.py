"""What is written like a call and becomes one instruction: atomics, bit operations, system calls, indirect calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Protocol

from alpha.runtime.subset.context import FunctionContext
from alpha.runtime.subset.types import BOOL, I64, POINTER, TYPES, VOID, Kind, Type, Value


class Evaluate(Protocol):
    def __call__(
        self, context: FunctionContext, node: ast.expr, want: Type | None = None
    ) -> Value: ...


Intrinsic = Callable[[FunctionContext, ast.Call, Evaluate, Type | None], Value]

SYSTEM_CALL_ARGUMENTS = 6


def _named_type(context: FunctionContext, node: ast.Call) -> Type:
    match node.args:
        case [ast.Name(id=name), *_] if name in TYPES:
            return TYPES[name]
    return context.fail(node, "the first argument is a type")


def _address(context: FunctionContext, node: ast.expr, evaluate: Evaluate) -> Value:
    return context.expect(node, evaluate(context, node), POINTER)


def _count(context: FunctionContext, node: ast.Call, count: int) -> None:
    if len(node.args) != count:
        context.fail(node, f"takes {count} arguments")


def _bits(context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None) -> Value:
    """`bits(u32, x)`: the same bits as another type of equal width."""
    _count(context, node, 2)
    to = _named_type(context, node)
    value = evaluate(context, node.args[1])
    if value.type.bits != to.bits:
        context.fail(node, f"{value.type.name} and {to.name} differ in width")
    return context.operation(f"bitcast {value} to {to.llvm}", to)


def _load_atomic(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    """`atomic_load(u32, p)`, sequentially consistent like all atomics here."""
    _count(context, node, 2)
    kind = _named_type(context, node)
    place = _address(context, node.args[1], evaluate)
    return context.operation(
        f"load atomic volatile {kind.llvm}, {place} seq_cst, align {kind.bits // 8}", kind
    )


def _store_atomic(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    _count(context, node, 3)
    kind = _named_type(context, node)
    place = _address(context, node.args[1], evaluate)
    value = context.expect(node.args[2], evaluate(context, node.args[2], kind), kind)
    context.blocks.emit(f"store atomic volatile {value}, {place} seq_cst, align {kind.bits // 8}")
    return Value("", VOID)


def _add_atomic(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    """`atomic_add(u32, p, n)` gives the value before."""
    _count(context, node, 3)
    kind = _named_type(context, node)
    place = _address(context, node.args[1], evaluate)
    value = context.expect(node.args[2], evaluate(context, node.args[2], kind), kind)
    return context.operation(f"atomicrmw volatile add {place}, {value} seq_cst", kind)


def _rotate_right(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    _count(context, node, 2)
    value = evaluate(context, node.args[0], want)
    amount = context.expect(node.args[1], evaluate(context, node.args[1], value.type), value.type)
    kind = value.type.llvm
    context.output.declare(f"{kind} @llvm.fshr.{kind}({kind}, {kind}, {kind})")
    return context.operation(
        f"call {kind} @llvm.fshr.{kind}({value}, {value}, {amount})", value.type
    )


def _swap_bytes(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    _count(context, node, 1)
    value = evaluate(context, node.args[0], want)
    kind = value.type.llvm
    context.output.declare(f"{kind} @llvm.bswap.{kind}({kind})")
    return context.operation(f"call {kind} @llvm.bswap.{kind}({value})", value.type)


def _trap(context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None) -> Value:
    context.output.declare("void @llvm.trap()")
    context.blocks.emit("call void @llvm.trap()")
    context.blocks.end("unreachable")
    return Value("", VOID)


def _invoke(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    """`invoke(f, a, b)` calls a function pointer that gives nothing."""
    target, *values = [evaluate(context, argument) for argument in node.args]
    context.expect(node, target, POINTER)
    context.blocks.emit(f"call void {target.text}({', '.join(map(str, values))})")
    return Value("", VOID)


def _system_call(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    """`syscall(NUMBER, ...)` with up to six arguments gives the kernel's raw answer (negative: an errno)."""
    if not 1 <= len(node.args) <= SYSTEM_CALL_ARGUMENTS + 1:
        context.fail(node, "a number and at most six arguments")
    words = []
    for argument in node.args:
        value = evaluate(context, argument, I64)
        if value.type is POINTER:
            value = context.operation(f"ptrtoint {value} to i64", I64)
        elif not value.type.is_integer:
            context.fail(argument, f"{value.type.name} is no argument of a system call")
        elif value.type.bits < 64:
            extend = "sext" if value.type.kind is Kind.SIGNED else "zext"
            value = context.operation(f"{extend} {value} to i64", I64)
        words.append(f"i64 {value.text}")
    words += ["i64 0"] * (SYSTEM_CALL_ARGUMENTS + 1 - len(words))
    return context.operation(f"call i64 @rt_syscall({', '.join(words)})", I64)


def _is_nan(
    context: FunctionContext, node: ast.Call, evaluate: Evaluate, want: Type | None
) -> Value:
    _count(context, node, 1)
    value = evaluate(context, node.args[0])
    if value.type.kind is not Kind.FLOAT:
        context.fail(node, "only floats are NaN")
    return context.operation(f"fcmp uno {value}, {value.text}", BOOL)


INTRINSICS: dict[str, Intrinsic] = {
    "bits": _bits,
    "atomic_load": _load_atomic,
    "atomic_store": _store_atomic,
    "atomic_add": _add_atomic,
    "rotr": _rotate_right,
    "bswap": _swap_bytes,
    "trap": _trap,
    "invoke": _invoke,
    "syscall": _system_call,
    "is_nan": _is_nan,
}

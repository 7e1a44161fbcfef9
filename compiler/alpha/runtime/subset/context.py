"""What lowering one function needs: the module's names, its own blocks, and a way to fail with a place."""

from __future__ import annotations

import ast
from typing import NoReturn

from alpha.runtime.subset.blocks import Blocks
from alpha.runtime.subset.debug import DebugInfo
from alpha.runtime.subset.errors import SubsetError
from alpha.runtime.subset.handles import LEFT, Handles
from alpha.runtime.subset.scope import Function, Scope
from alpha.runtime.subset.types import BOOL, I64, POINTER, VOID, Type, Value


class Output:
    """What the functions of one module share: declarations of intrinsics, byte strings, debug nodes."""

    def __init__(self, debug: DebugInfo, handles: Handles | None = None) -> None:
        self.debug = debug
        self.handles = handles
        self.declarations: dict[str, None] = {}
        self.strings: dict[bytes, str] = {}

    def declare(self, text: str) -> None:
        self.declarations[f"declare {text}"] = None

    def string(self, text: bytes) -> str:
        """The symbol of a constant that holds `text` and a zero byte."""
        return self.strings.setdefault(text, f"@text.{len(self.strings)}")


class FunctionContext:
    """The state of lowering one function; `types` fixes the type of each local at its first assignment."""

    def __init__(self, scope: Scope, output: Output, function: Function) -> None:
        self.scope = scope
        self.output = output
        self.function = function
        self.subprogram = output.debug.function(function)
        self.types: dict[str, Type] = {}
        self.globals: set[str] = set()
        self.blocks = Blocks()

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        raise SubsetError(self.function.file, node, message)

    def at(self, node: ast.stmt | ast.expr) -> None:
        self.blocks.location = f", !dbg {self.output.debug.location(node, self.subprogram)}"

    def introduce(self, node: ast.AST, name: str, kind: Type) -> None:
        """A new local. Hiding a name of the module is refused, so that no global is assigned by mistake."""
        if self.scope.knows(name):
            self.fail(node, f"{name} hides a name of the module; `global {name}` assigns it")
        self.types[name] = kind

    def expect(self, node: ast.AST, value: Value, kind: Type) -> Value:
        if value.type != kind:
            self.fail(node, f"{value.type.name} where {kind.name} is needed")
        return value

    def operation(self, text: str, kind: Type) -> Value:
        return self.blocks.value(text, Value(f"%{self.blocks.fresh('t')}", kind))

    def variable(self, name: str) -> str:
        """The address of a variable of the module: a symbol, or a place in the block of a library."""
        handles = self.output.handles
        if handles is None or name not in handles.offsets:
            return f"@{name}"
        place = f"getelementptr i8, ptr {self.block}, i64 {handles.offsets[name]}"
        return self.operation(place, POINTER).text

    @property
    def block(self) -> str:
        """The block of variables that a function of a library was handed."""
        is_entry = "entry" in self.function.decorators
        return f"%{self.function.parameters[0][0]}" if is_entry else "%block"

    def arguments(self, function: Function, values: list[Value]) -> list[Value]:
        """The arguments of a call, with the block in front where the function takes it."""
        handles = self.output.handles
        if handles is None or function.name not in handles.bound or "entry" in function.decorators:
            return values
        return [Value(self.block, POINTER), *values]

    def parameters(self, values: list[Value]) -> list[Value]:
        """The parameters of this function, as `arguments`."""
        handles = self.output.handles
        name, is_entry = self.function.name, "entry" in self.function.decorators
        if handles is None or is_entry or name not in handles.bound:
            return values
        return [Value("%block", POINTER), *values]

    def after_call(self, node: ast.AST, function: Function) -> None:
        """Behind a call that may have ended the program, or the work of a library."""
        handles, ends = self.output.handles, "noreturn" in function.decorators
        if handles is None:
            if ends:
                self.blocks.end("unreachable")
            return
        if "entry" in self.function.decorators:
            if ends:
                self.fail(node, "an entry goes on behind what it calls")
        elif ends:
            self._give_up()
        elif function.name in handles.leaving:
            status = self.operation(f"load i64, ptr {self.variable(LEFT)}", I64)
            ended = self.operation(f"icmp ne i64 {status.text}, 0", BOOL)
            out, on = self.blocks.join("left"), self.blocks.join("on")
            self.blocks.branch(ended, out, on)
            self.blocks.enter(out)
            self._give_up()
            self.blocks.enter(on)

    def _give_up(self) -> None:
        result = self.function.result
        self.blocks.end("ret void" if result is VOID else f"ret {result.llvm} zeroinitializer")

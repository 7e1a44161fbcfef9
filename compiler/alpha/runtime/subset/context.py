"""What lowering one function needs: the module's names, its own blocks, and a way to fail with a place."""

from __future__ import annotations

import ast
from typing import NoReturn

from alpha.runtime.subset.blocks import Blocks
from alpha.runtime.subset.debug import DebugInfo
from alpha.runtime.subset.errors import SubsetError
from alpha.runtime.subset.scope import Function, Scope
from alpha.runtime.subset.types import Type, Value


class Output:
    """What the functions of one module share: declarations of intrinsics, byte strings, debug nodes."""

    def __init__(self, debug: DebugInfo) -> None:
        self.debug = debug
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

"""DWARF 4 as LLVM metadata: files, functions and lines, so gdb, perf and valgrind show the sources.

Where locals are is left out: it would be half of all debugging information.

`nameTableKind: None` keeps LLVM from emitting name tables that some readers reject. The directory is a fixed virtual
path: no path of the build host reaches the bytes.
"""

from __future__ import annotations

import ast

from alpha.runtime.subset.scope import Function
from alpha.runtime.subset.types import TYPES, Kind, Type

DIRECTORY = "/alpha/runtime"
_ENCODING = {
    Kind.BOOL: "DW_ATE_boolean",
    Kind.SIGNED: "DW_ATE_signed",
    Kind.UNSIGNED: "DW_ATE_unsigned",
    Kind.FLOAT: "DW_ATE_float",
}


class DebugInfo:
    """The numbered metadata nodes of one LLVM module; equal nodes are kept once."""

    def __init__(self, producer: str, first_file: str) -> None:
        self._nodes: list[str] = []
        self._numbers: dict[str, str] = {}
        self.unit = self.node(
            f"distinct !DICompileUnit(language: DW_LANG_C99, file: {self.file(first_file)}, "
            f'producer: "{producer}", isOptimized: true, runtimeVersion: 0, '
            "emissionKind: FullDebug, nameTableKind: None)"
        )

    def node(self, text: str) -> str:
        if text not in self._numbers or text.startswith("distinct"):
            self._numbers[text] = f"!{len(self._nodes)}"
            self._nodes.append(text)
        return self._numbers[text]

    def file(self, name: str) -> str:
        return self.node(f'!DIFile(filename: "{name}", directory: "{DIRECTORY}")')

    def type(self, kind: Type) -> str:
        if kind.kind is Kind.POINTER:
            base = self.type(TYPES["u8"])
            return self.node(
                f"!DIDerivedType(tag: DW_TAG_pointer_type, baseType: {base}, size: 64)"
            )
        return self.node(
            f'!DIBasicType(name: "{kind.name}", size: {max(kind.bits, 8)}, '
            f"encoding: {_ENCODING[kind.kind]})"
        )

    def function(self, function: Function) -> str:
        """The subprogram node of a function that is defined here."""
        kinds = [function.result, *(kind for _, kind in function.parameters)]
        types = ", ".join("null" if kind.kind is Kind.VOID else self.type(kind) for kind in kinds)
        signature = self.node(f"!DISubroutineType(types: {self.node(f'!{{{types}}}')})")
        file, line = self.file(function.file), function.node.lineno
        local = "" if function.decorators & {"export", "entry"} else "DISPFlagLocalToUnit | "
        return self.node(
            f'distinct !DISubprogram(name: "{function.name}", scope: {file}, file: {file}, '
            f"line: {line}, type: {signature}, scopeLine: {line}, "
            f"spFlags: {local}DISPFlagDefinition | DISPFlagOptimized, unit: {self.unit})"
        )

    def location(self, node: ast.stmt | ast.expr, scope: str) -> str:
        return self.node(
            f"!DILocation(line: {node.lineno}, column: {node.col_offset + 1}, scope: {scope})"
        )

    def text(self) -> list[str]:
        flags = [self.node('!{i32 2, !"Debug Info Version", i32 3}')]
        flags.append(self.node('!{i32 7, !"Dwarf Version", i32 4}'))
        flags.append(self.node('!{i32 7, !"frame-pointer", i32 2}'))
        lines = [f"!{number} = {text}" for number, text in enumerate(self._nodes)]
        lines.append(f"!llvm.dbg.cu = !{{{self.unit}}}")
        lines.append(f"!llvm.module.flags = !{{{', '.join(flags)}}}")
        return lines

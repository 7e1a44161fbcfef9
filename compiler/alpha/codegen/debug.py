"""Line information: DWARF 4 in which every kernel is a function at the line of Alpha source it came from.

Kernels that are launched together are inlined in the function of the launch.

The folder of the sources is a fixed virtual path, so no path of the build machine reaches an executable.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span

FOLDER = "/alpha/src"
PRODUCER = "alpha"


class DebugInfo:
    """Collects the metadata nodes of one module; node 0 is the compile unit once something has a place."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self._files: dict[str, int] = {}
        self._unit: int | None = None
        self._signature: int | None = None

    def location(self, scope: int, span: Span) -> str:
        """The attachment of an instruction in the function `scope`."""
        node = f"!DILocation(line: {span.line}, column: {span.column}, scope: !{scope})"
        return f", !dbg !{self._add(node)}"

    def inlined(self, name: str, span: Span, within: str) -> str:
        """The attachment of an instruction of `name`, which stands in a function: at `within`, its own attachment."""
        at = within.removeprefix(", !dbg ")
        scope = self.function(name, span)
        node = (
            f"!DILocation(line: {span.line}, column: {span.column}, scope: !{scope},"
            f" inlinedAt: {at})"
        )
        return f", !dbg !{self._add(node)}"

    def function(self, name: str, span: Span) -> int:
        """The number of the node that describes a function."""
        file = self._file(span.source.path)
        if self._unit is None:
            self._unit = self._add(
                f"distinct !DICompileUnit(language: DW_LANG_C99, file: !{file}, producer: {quoted(PRODUCER)},"
                " isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, nameTableKind: None)"
            )
            nothing = self._add("!{null}")
            self._signature = self._add(f"!DISubroutineType(types: !{nothing})")
        return self._add(
            f"distinct !DISubprogram(name: {quoted(name)}, linkageName: {quoted(name)}, scope: !{file}, file: !{file},"
            f" line: {span.line}, type: !{self._signature}, scopeLine: {span.line},"
            f" spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{self._unit})"
        )

    def text(self) -> str:
        """The module's metadata."""
        if self._unit is None:
            return ""
        dwarf = self._add('!{i32 7, !"Dwarf Version", i32 4}')
        version = self._add('!{i32 2, !"Debug Info Version", i32 3}')
        lines: Sequence[str] = [
            f"!llvm.dbg.cu = !{{!{self._unit}}}",
            f"!llvm.module.flags = !{{!{dwarf}, !{version}}}",
            *(f"!{number} = {node}" for number, node in enumerate(self._nodes)),
        ]
        return "\n".join(lines) + "\n"

    def _file(self, path: str) -> int:
        if path not in self._files:
            node = f"!DIFile(filename: {quoted(path)}, directory: {quoted(FOLDER)})"
            self._files[path] = self._add(node)
        return self._files[path]

    def _add(self, node: str) -> int:
        self._nodes.append(node)
        return len(self._nodes) - 1


def quoted(text: str) -> str:
    """A string of LLVM's text form: everything but plain characters as hexadecimal bytes."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in text.encode("utf-8")
    )
    return f'"{plain}"'

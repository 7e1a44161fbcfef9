"""PTX as text: exactly one way to write each module."""

from __future__ import annotations

from collections.abc import Iterator

from alpha.targets.nvidia.ptx import SHARED, VERSIONS, Entry, Kind, Label, Line, Module, registers


def to_text(module: Module) -> str:
    """The text of a module, ending with a newline."""
    lines = [f".version {VERSIONS[module.target]}", f".target {module.target}", ".address_size 64"]
    for entry in module.entries:
        lines.append("")
        lines.extend(_entry(entry))
    return "\n".join(lines) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    yield f".visible .entry {entry.name}("
    for number in range(entry.parameters):
        yield f"\t.param .u64 b{number}" + ("," if number + 1 < entry.parameters else "")
    yield ")"
    yield f".reqntid {entry.threads}, 1, 1"
    yield f".maxnreg {entry.registers}"
    yield "{"
    counts: dict[Kind, int] = {}
    for line in entry.body:
        for register in registers(line):
            counts[register.kind] = max(counts.get(register.kind, 0), register.number + 1)
    for kind in Kind:
        if kind in counts:
            yield f"\t.reg .{kind.declared} %{kind.prefix}<{counts[kind]}>;"
    if entry.shared:
        yield f"\t.shared .align 16 .b8 {SHARED}[{entry.shared}];"
    for line in entry.body:
        yield line_text(line)
    yield "}"


def line_text(line: Line) -> str:
    """One line of an entry's body."""
    if isinstance(line, Label):
        return f"{line.name}:"
    guard = f"{line.guard} " if line.guard is not None else ""
    operands = ", ".join(map(str, line.operands))
    return f"\t{guard}{line.form}{' ' * bool(operands)}{operands};"

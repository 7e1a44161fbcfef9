"""Basic blocks and SSA form for structured control flow.

Control flow only joins at a `Join`. A forward join is entered when all its edges are known, so its phi nodes are exact.
The head of a loop is entered with the edges from before it; a phi stands there for every local the loop assigns, and
its operands from the back edges are filled in when the loop is closed.
"""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.record import field, record
from alpha.runtime.subset.types import Value

Locals = dict[str, Value]


@record(frozen=False)
class Join:
    """A label, and the blocks that jump to it with the locals they bring."""

    label: str
    edges: list[tuple[str, Locals]] = field(default_factory=list)
    extra: list[tuple[Value, str]] = field(default_factory=list)


@record
class LoopHead:
    join: Join
    place: int
    phis: tuple[tuple[str, Value], ...]


class Blocks:
    """The body of one function as it grows. `open` is false behind a jump, until the next join is entered."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.locals: Locals = {}
        self.open = True
        self.location = ""
        self._label = "entry"
        self._serial = 0

    def fresh(self, stem: str) -> str:
        self._serial += 1
        return f"{stem}.{self._serial}"

    def join(self, stem: str) -> Join:
        return Join(self.fresh(stem))

    def emit(self, text: str) -> None:
        self.lines.append(f"  {text}{self.location}")

    def value(self, text: str, result: Value) -> Value:
        self.emit(f"{result.text} = {text}")
        return result

    def jump(self, target: Join) -> None:
        """Ends the open block. Does nothing behind a jump."""
        if self.open:
            target.edges.append((self._label, self.locals))
            self.emit(f"br label %{target.label}")
            self.open = False

    def jump_with(self, target: Join, value: Value) -> None:
        """As `jump`, and brings `value` to a join that will be entered with `enter_with`."""
        target.extra.append((value, self._label))
        self.jump(target)

    def branch(self, condition: Value, then: Join, other: Join) -> None:
        then.edges.append((self._label, self.locals))
        other.edges.append((self._label, self.locals))
        self.emit(f"br i1 {condition.text}, label %{then.label}, label %{other.label}")
        self.open = False

    def end(self, text: str) -> None:
        """Ends the open block with `ret` or `unreachable`."""
        self.emit(text)
        self.open = False

    def enter(self, target: Join) -> None:
        """Starts the block of a forward join. A join that nothing reaches leaves the function closed."""
        if not target.edges:
            return
        self._start(target)
        first = target.edges[0][1]
        merged: Locals = {}
        for name, value in first.items():
            incoming = [(edge.get(name), label) for label, edge in target.edges]
            if any(item is None or item.type != value.type for item, _ in incoming):
                continue
            if all(item == value for item, _ in incoming):
                merged[name] = value
                continue
            phi = Value(f"%{self.fresh(name)}", value.type)
            operands = ", ".join(f"[{item.text}, %{label}]" for item, label in incoming if item)
            self.lines.append(f"  {phi.text} = phi {value.type.llvm} {operands}")
            merged[name] = phi
        self.locals = merged

    def enter_with(self, target: Join) -> Value:
        """As `enter`, for a join every edge of which brings a value."""
        first = target.extra[0][0]
        self._start(target)
        phi = Value(f"%{self.fresh('v')}", first.type)
        operands = ", ".join(f"[{value.text}, %{label}]" for value, label in target.extra)
        self.lines.append(f"  {phi.text} = phi {first.type.llvm} {operands}")
        self.locals = target.edges[0][1]
        return phi

    def enter_loop(self, target: Join, assigned: Iterable[str]) -> LoopHead:
        self._start(target)
        before = target.edges[0][1]
        phis = tuple(
            (name, Value(f"%{self.fresh(name)}", before[name].type))
            for name in sorted(set(assigned))
            if name in before
        )
        self.locals = {**before, **dict(phis)}
        return LoopHead(target, len(self.lines), phis)

    def close_loop(self, head: LoopHead) -> None:
        """Writes the phis of the head, once every edge to it is known."""
        lines = [
            f"  {phi.text} = phi {phi.type.llvm} "
            + ", ".join(f"[{edge[name].text}, %{label}]" for label, edge in head.join.edges)
            for name, phi in head.phis
        ]
        self.lines[head.place : head.place] = lines

    def assign(self, name: str, value: Value) -> None:
        self.locals = {**self.locals, name: value}

    def _start(self, target: Join) -> None:
        self.lines.append(f"{target.label}:")
        self._label = target.label
        self.open = True

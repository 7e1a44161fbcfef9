"""The automaton: runs the LALR(1) tables over tokens and calls an action for each node.

Nothing here recurses, so the length and the depth of a text are bounded by memory alone; the depth of the tree that
comes out is bounded by E0010, so that whatever walks it later may recurse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Refused
from alpha.syntax import errors
from alpha.syntax.lexer import END, Token
from alpha.syntax.tables import Tables

Value = object
Action = Callable[[Span, list[Value]], Value]
"""Makes the value of a rule from its span and its arguments: tokens, values, lists, and None for what is left out."""

NESTING = frozenset(
    "fn if_ match einsum pipe binary unary apply select bracket slice tuple list record"
    " pcon ptuple pannotated tarrow tapply ttuple trecord tdims dbinary repeat".split()
)
"""The actions whose value is one level deeper than the deepest of its arguments."""


class Parser:
    """One run. `push` each token in turn; after `$END` the module's part is `result`."""

    __slots__ = ("_actions", "_depths", "_ends", "_source", "_starts", "_states", "_tables", "_values", "result")

    def __init__(self, tables: Tables, actions: Mapping[str, Action], source: Source, start: str) -> None:
        self._tables = tables
        self._actions = actions
        self._source = source
        self._states = [tables.starts[start]]
        self._values: list[Value] = []
        self._starts: list[int] = []  # of the text of each value; -1 where it has none
        self._ends: list[int] = []
        self._depths: list[int] = []
        self.result: Value = None

    def push(self, token: Token) -> bool:
        """Takes one token. False, with nothing changed that `accepts` looks at, if it does not fit."""
        kind = token.kind
        if not self.accepts(kind):
            return False
        while (step := self._tables.actions[self._states[-1]][kind]) < 0:
            self._reduce(-1 - step)
        if kind == END:
            self.result = self._values[-1]
            return True
        written = token.end > token.start
        self._states.append(step)
        self._values.append(token)
        self._starts.append(token.start if written else -1)
        self._ends.append(token.end if written else -1)
        self._depths.append(0)
        return True

    def accepts(self, kind: str) -> bool:
        """True if a token of this kind may come next: its reductions are followed to the end, without their actions."""
        actions, gotos, rules = self._tables.actions, self._tables.gotos, self._tables.rules
        step = actions[self._states[-1]].get(kind)
        if step is None or step >= 0:
            return step is not None
        depth = len(self._states)  # the states below this depth are those of the parser
        pushed: list[int] = []
        while True:
            rule = rules[-1 - step]
            taken = min(rule.size, len(pushed))
            if taken:
                del pushed[-taken:]
            depth -= rule.size - taken
            state = pushed[-1] if pushed else self._states[depth - 1]
            state = gotos[state][rule.origin]
            pushed.append(state)
            step = actions[state].get(kind)
            if step is None or step >= 0:
                return step is not None

    def expected(self) -> list[str]:
        """The terminals that may come next, in the order of their names."""
        return sorted(kind for kind in self._tables.actions[self._states[-1]] if self.accepts(kind))

    def _reduce(self, number: int) -> None:
        rule = self._tables.rules[number]
        size = rule.size
        values, starts, ends, depths = self._values, self._starts, self._ends, self._depths
        start = end = -1
        depth = 0
        arguments: list[Value]
        if size == 0:
            arguments = []
        else:
            for place in range(-size, 0):
                if start < 0:
                    start = starts[place]
                end = max(end, ends[place])
                depth = max(depth, depths[place])
            arguments = self._arguments(rule.kept, values[-size:])
            del self._states[-size:], values[-size:], starts[-size:], ends[-size:], depths[-size:]
        for entry in rule.kept if size == 0 else ():
            assert entry is None
            arguments.append(None)
        if rule.single and len(arguments) == 1:
            value = arguments[0]
        elif rule.action is None:
            value = arguments
        else:
            span = Span(self._source, max(start, 0), max(end, 0))
            if rule.action in NESTING:
                depth += 1
                if depth > errors.MOST_DEPTH:
                    raise Refused(errors.too_deep(span))
            value = self._actions[rule.action](span, arguments)
        self._states.append(self._tables.gotos[self._states[-1]][rule.origin])
        values.append(value)
        starts.append(start)
        ends.append(end)
        depths.append(depth)

    def _arguments(self, kept: tuple[tuple[int, bool] | None, ...], taken: list[Value]) -> list[Value]:
        arguments: list[Value] = []
        for entry in kept:
            if entry is None:
                arguments.append(None)
                continue
            place, inlined = entry
            value = taken[place]
            if not inlined:
                arguments.append(value)
                continue
            assert isinstance(value, list)
            if arguments:
                arguments.extend(value)
            else:
                arguments = value  # its only holder was the stack, so a repetition grows in place
        return arguments

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
from alpha.syntax.tables import Rule, Tables

Value = object
Action = Callable[[Span, list[Value]], Value]
"""Makes the value of a rule from its span and its arguments: tokens, values, lists, and None for what is left out."""

NESTING = frozenset({
    "let", "letfn", "fn", "if_", "match", "einsum", "access", "pipe", "binary", "unary", "apply", "select",
    "bracket", "slice", "tuple", "list", "record", "pcon", "ptuple", "pannotated", "tarrow", "tapply", "ttuple",
    "trecord", "tdims", "dbinary", "repeat",
})  # fmt: skip
"""The actions whose value is one level deeper than the deepest of its arguments."""

_MOST_STATES = 16 * errors.MOST_DEPTH
"""Far more than a tree of the greatest depth needs: what nests to the right is refused before it is read to its end."""


class Parser:
    """One run. `push` each token in turn; after `$END` the module's part is `result`."""

    __slots__ = (
        "_actions",
        "_depths",
        "_ends",
        "_source",
        "_starts",
        "_states",
        "_tables",
        "_values",
        "result",
    )

    def __init__(
        self, tables: Tables, actions: Mapping[str, Action], source: Source, start: str
    ) -> None:
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
        """Takes one token. False if it does not fit; then `expected` says what would, and the run is over."""
        kind = token.kind
        actions = self._tables.actions
        step = actions[self._states[-1]].get(kind)
        if step is None or step < 0:
            before = self._states[:]
            while step is not None and step < 0:
                rule = self._tables.rules[-1 - step]
                if rule.passes:
                    self._pass(kind)
                else:
                    self._reduce(rule)
                step = actions[self._states[-1]].get(kind)
            if step is None:
                self._states = before
                return False
        if kind == END:
            self.result = self._values[-1]
            return True
        if len(self._states) > _MOST_STATES:
            raise Refused(errors.too_deep(Span(self._source, token.start, token.end)))
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

    def _pass(self, kind: str) -> None:
        """Reduces by rules `?rule: other` as long as they follow: an atom passes a dozen levels of precedence.

        The value stays; only the state above `states[-2]` changes, always to the same, so it is looked up.
        """
        states, table = self._states, self._tables
        key = (states[-2], states[-1], kind)
        top = table.passes.get(key)
        if top is None:
            top = states[-1]
            while (step := table.actions[top].get(kind, 0)) < 0 and table.rules[-1 - step].passes:
                top = table.gotos[states[-2]][table.rules[-1 - step].origin]
            table.passes[key] = top
        states[-1] = top

    def _reduce(self, rule: Rule) -> None:
        states, size = self._states, rule.size
        values, starts, ends, depths = self._values, self._starts, self._ends, self._depths
        if size == 1:
            taken, start, end, depth = [values.pop()], starts.pop(), ends.pop(), depths.pop()
            states.pop()
        elif size:
            taken = values[-size:]
            start = starts[-size]
            if start < 0:
                start = next((start for start in starts[-size:] if start >= 0), -1)
            end = max(ends[-size:])
            depth = max(depths[-size:])
            del states[-size:], values[-size:], starts[-size:], ends[-size:], depths[-size:]
        else:
            taken, start, end, depth = [], -1, -1, 0
        arguments = self._arguments(rule.kept, taken)
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
        states.append(self._tables.gotos[states[-1]][rule.origin])
        values.append(value)
        starts.append(start)
        ends.append(end)
        depths.append(depth)

    def _arguments(
        self, kept: tuple[tuple[int, bool] | None, ...], taken: list[Value]
    ) -> list[Value]:
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

"""The automaton: runs the LALR(1) tables over tokens and calls an action for each node.

Nothing here recurses, so the length and the depth of a text are bounded by memory alone; the depth of the tree that
comes out is bounded by E0010, so that whatever walks it later may recurse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

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


class _Reduction(NamedTuple):
    """A rule as the automaton runs it: its action is at hand, and what is the same at every reduction is known.

    `kept` is None where the values that are taken off the stack are the arguments as they stand.
    """

    origin: str
    size: int
    kept: tuple[tuple[int, bool] | None, ...] | None
    make: Action | None
    single: bool
    passes: bool
    nests: bool


class Automaton:
    """The tables with their actions, for any number of parsers."""

    __slots__ = ("reductions", "tables")

    def __init__(self, tables: Tables, actions: Mapping[str, Action]) -> None:
        self.tables = tables
        self.reductions = [
            _Reduction(
                rule.origin,
                rule.size,
                None if rule.kept == tuple((n, False) for n in range(rule.size)) else rule.kept,
                # Some rules `?rule: ...` always have one argument, and so no action.
                actions.get(rule.action or "") if rule.single else _action(rule, actions),
                rule.single,
                rule.passes,
                rule.action in NESTING,
            )
            for rule in tables.rules
        ]


def _action(rule: Rule, actions: Mapping[str, Action]) -> Action | None:
    return None if rule.action is None else actions[rule.action]


class Parser:
    """One run of the automaton. After `$END` the value is `result`."""

    __slots__ = (
        "_actions",
        "_automaton",
        "_depths",
        "_ends",
        "_source",
        "_starts",
        "_states",
        "_values",
        "before",
        "result",
    )

    def __init__(self, automaton: Automaton, source: Source, start: str) -> None:
        self._automaton = automaton
        self._actions = automaton.tables.actions
        self._source = source
        self._states = [automaton.tables.starts[start]]
        self._values: list[Value] = []
        self._starts: list[int] = []  # of the text of each value; -1 where it has none
        self._ends: list[int] = []
        self._depths: list[int] = []
        self.before: Token | None = None  # the last token with a text that was taken
        self.result: Value = None

    def run(self, tokens: Iterable[Token]) -> Token | None:
        """Takes tokens up to and with `$END`. Returns the one that does not fit, if there is one; then `expected` says
        what would, and the run is over.

        This loop is where a check from nothing spends most of its time, so it makes no call that it can do without. It
        takes each token before it asks for the next, which may depend on the state.
        """
        states, values = self._states, self._values
        starts, ends, depths = self._starts, self._ends, self._depths
        actions, gotos = self._actions, self._automaton.tables.gotos
        passes, reductions = self._automaton.tables.passes, self._automaton.reductions
        source = self._source
        value: Value
        for token in tokens:
            kind, text, start, end = token
            step = actions[states[-1]].get(kind)
            if step is None or step < 0:
                before = states[:]
                while step is not None and step < 0:
                    origin, size, kept, make, single, passing, nests = reductions[-1 - step]
                    if passing:
                        top = passes.get((states[-2], states[-1], kind))
                        states[-1] = top = self._passed(kind) if top is None else top
                        step = actions[top].get(kind)
                        continue
                    if size == 1:
                        values_of = [values.pop()]
                        begin, close, depth = starts.pop(), ends.pop(), depths.pop()
                        states.pop()
                    elif size:
                        values_of = values[-size:]
                        begin, close = starts[-size], ends[-1]
                        if begin < 0:
                            begin = next((each for each in starts[-size:] if each >= 0), -1)
                        if close < 0:  # those with a text grow from left to right
                            close = max(ends[-size:])
                        depth = max(depths[-size:])
                        del states[-size:], values[-size:], starts[-size:], ends[-size:]
                        del depths[-size:]
                    else:
                        values_of, begin, close, depth = [], -1, -1, 0
                    arguments = values_of if kept is None else _arguments(kept, values_of)
                    if single and len(arguments) == 1:
                        value = arguments[0]
                    elif make is None:
                        value = arguments
                    else:
                        span = Span(source, begin if begin > 0 else 0, close if close > 0 else 0)
                        if nests:
                            depth += 1
                            if depth > errors.MOST_DEPTH:
                                raise Refused(errors.too_deep(span))
                        value = make(span, arguments)
                    top = gotos[states[-1]][origin]
                    states.append(top)
                    values.append(value)
                    starts.append(begin)
                    ends.append(close)
                    depths.append(depth)
                    step = actions[top].get(kind)
                if step is None:
                    states[:] = before
                    return token
            if kind == END:
                self.result = values[-1]
                break
            if len(states) > _MOST_STATES:
                raise Refused(errors.too_deep(Span(source, start, end)))
            states.append(step)
            values.append(token)
            depths.append(0)
            if text:
                starts.append(start)
                ends.append(end)
                self.before = token
            else:
                starts.append(-1)
                ends.append(-1)
        return None

    def row(self) -> Mapping[str, int]:
        """The terminals that the state on top knows: every one that may come next, and some that may not."""
        return self._actions[self._states[-1]]

    def accepts(self, kind: str) -> bool:
        """True if a token of this kind may come next: its reductions are followed to the end, without their actions."""
        actions = self._actions
        step = actions[self._states[-1]].get(kind)
        if step is None or step >= 0:
            return step is not None
        gotos, rules = self._automaton.tables.gotos, self._automaton.reductions
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
        return sorted(kind for kind in self._actions[self._states[-1]] if self.accepts(kind))

    def _passed(self, kind: str) -> int:
        """The state after reductions by rules `?rule: other` as long as they follow: an atom passes a dozen levels of
        precedence.

        The value stays; only the state above `states[-2]` changes, always to the same, so that is looked up later.
        """
        states, table = self._states, self._automaton.tables
        top = states[-1]
        while (step := table.actions[top].get(kind, 0)) < 0 and table.rules[-1 - step].passes:
            top = table.gotos[states[-2]][table.rules[-1 - step].origin]
        table.passes[states[-2], states[-1], kind] = top
        return top


def _arguments(kept: tuple[tuple[int, bool] | None, ...], taken: list[Value]) -> list[Value]:
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

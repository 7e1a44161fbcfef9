"""The LALR(1) tables of `grammar.lark`: made by Lark, written to `tables.json`, read at every start.

Making the tables takes Lark about half a second, reading them a few milliseconds, and Lark itself is imported only to
make them. `tables.json` names the digest of the grammar and the version of Lark that made it. A file that does not fit
the grammar beside it is not used: the tables are then made in memory.

    python -m alpha.syntax.tables      writes tables.json anew
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from alpha.base.digest import sha256_text
from alpha.base.record import field, record

FORMAT = 1
GRAMMAR = Path(__file__).with_name("grammar.lark")
SHIPPED = Path(__file__).with_name("tables.json")
STARTS = ("header", "item")
END = "$END"


@record
class Rule:
    """How one rule is reduced.

    The top `size` values are taken off the stack. `kept` says which become arguments: its entries are `(place,
    inlined)`, or None for an option that was left out. `action` names the action that makes the node; None means that
    the value is the list of arguments (a part of a repetition), or the only argument when `single` holds.
    """

    origin: str
    size: int
    kept: tuple[tuple[int, bool] | None, ...]
    action: str | None
    single: bool
    passes: bool
    """True for `?rule: other`, which changes nothing but the state."""


@record
class Tables:
    """The automaton. `actions[state][terminal]` is a state or `-1 - rule`; `gotos[state][origin]` is a state."""

    keywords: dict[str, str]
    rules: tuple[Rule, ...]
    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    starts: dict[str, int]
    passes: dict[tuple[int, int, str], int] = field(default_factory=dict)
    """Filled by the automaton: where a run of value-preserving reductions ends. A function of the tables alone."""


@cache
def tables() -> Tables:
    """The tables of the shipped grammar. Made once for a process; they never change."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    if SHIPPED.is_file():
        data = json.loads(SHIPPED.read_text(encoding="utf-8"))
        if data["format"] == FORMAT and data["grammar"] == sha256_text(grammar):
            return _read(data)
    return _read(make(grammar))


def make(grammar: str) -> dict[str, Any]:
    """The tables as JSON values. The LALR construction, and the proof that there is no conflict, are Lark's."""
    import lark
    from lark.lexer import Lexer

    class NoLexer(Lexer):
        """Stands in for the lexer, which is ours: Lark is asked for tables only."""

        def __init__(self, conf: object) -> None:
            pass

        def lex(self, lexer_state: object, parser_state: object) -> Any:
            raise NotImplementedError

    parser = lark.Lark(
        grammar,
        parser="lalr",
        lexer=NoLexer,
        start=list(STARTS),
        strict=True,
        maybe_placeholders=True,
    )
    table: Any = parser.parser.parser._parse_table
    rules = {rule: number for number, rule in enumerate(parser.rules)}
    order = _numbered(table)
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in order:
        action: dict[str, int] = {}
        goto: dict[str, int] = {}
        for symbol, (kind, argument) in sorted(table.states[state].items()):
            if str(kind) == "Reduce":
                action[symbol] = -1 - rules[argument]
            else:
                (action if symbol.isupper() else goto)[symbol] = order[argument]
        actions.append(action)
        gotos.append(goto)
    for start in STARTS:  # Lark leaves the last step to its driver
        state = order[table.end_states[start]]
        actions[state][END] = state
    return {
        "format": FORMAT,
        "grammar": sha256_text(grammar),
        "lark": lark.__version__,
        "keywords": {
            str(terminal.pattern.value): terminal.name
            for terminal in sorted(parser.terminals, key=lambda terminal: terminal.name)
        },
        "rules": [_rule(rule) for rule in parser.rules],
        **_shared(actions, gotos),
        "starts": {start: order[table.start_states[start]] for start in STARTS},
    }


def _numbered(table: Any) -> dict[int, int]:
    """Our numbers of Lark's states: the order in which a walk from the starts meets them, whatever the hash seed."""
    order: dict[int, int] = {}
    waiting = [table.start_states[start] for start in reversed(STARTS)]
    while waiting:
        state = waiting.pop()
        if state in order:
            continue
        order[state] = len(order)
        shifts = [
            argument
            for _, (kind, argument) in sorted(table.states[state].items())
            if str(kind) == "Shift"
        ]
        waiting += reversed(shifts)
    return order


def _shared(actions: list[dict[str, int]], gotos: list[dict[str, int]]) -> dict[str, Any]:
    """Rows that occur in several states are written once."""
    rows: dict[str, int] = {}
    places = [
        [rows.setdefault(json.dumps(row, sort_keys=True), len(rows)) for row in (action, goto)]
        for action, goto in zip(actions, gotos, strict=True)
    ]
    return {"rows": [json.loads(row) for row in rows], "states": places}


def _rule(rule: Any) -> list[Any]:
    """One rule as `[origin, size, kept, action, single]`, by Lark's conventions for filtered and optional symbols."""
    left_out = "".join(str(int(empty)) for empty in rule.options.empty_indices).split("0")
    holes = [len(run) for run in left_out] if rule.options.empty_indices else []
    kept: list[list[int] | None] = []
    for place, symbol in enumerate(rule.expansion):
        kept += [None] * (holes[place] if holes else 0)
        if symbol.is_term:
            if not symbol.filter_out:
                kept.append([place, 0])
        else:
            kept.append([place, int(symbol.name.startswith("_"))])
    kept += [None] * (holes[-1] if holes else 0)
    origin = str(rule.origin.name)
    action = rule.alias or (None if origin.startswith("_") else origin)
    return [
        origin,
        len(rule.expansion),
        kept,
        action,
        int(bool(rule.options.expand1 and not rule.alias)),
    ]


def _read(data: dict[str, Any]) -> Tables:
    rows: list[dict[str, int]] = data["rows"]
    return Tables(
        keywords=data["keywords"],
        rules=tuple(
            Rule(
                origin,
                size,
                tuple(entry and (entry[0], bool(entry[1])) for entry in kept),
                action,
                bool(single),
                bool(single and kept == [[0, 0]] and size == 1),
            )
            for origin, size, kept, action, single in data["rules"]
        ),
        actions=tuple(rows[action] for action, _ in data["states"]),
        gotos=tuple(rows[goto] for _, goto in data["states"]),
        starts=data["starts"],
    )


def write(path: Path = SHIPPED) -> None:
    """Writes the tables of the shipped grammar to `path`, a line for each row, so that a change shows as one."""
    data = make(GRAMMAR.read_text(encoding="utf-8"))
    lines = []
    for name, value in data.items():
        if name in ("rules", "rows", "states"):
            body = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in value)
            lines.append(f'"{name}":[\n{body}\n]')
        else:
            lines.append(f'"{name}":{json.dumps(value, separators=(",", ":"), sort_keys=True)}')
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    write()

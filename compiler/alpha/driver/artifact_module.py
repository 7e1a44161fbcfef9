"""The artifact module: Alpha source that states what an executable is made of, as values, and imports its pairing.

It is the root of the build closure: what its imports reach is what the executable is made from. It parses, checks and
is in the one style.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.record import record
from alpha.base.span import Source
from alpha.core.term import Amount
from alpha.evaluate.system import Fact
from alpha.plan.plan import Demand
from alpha.syntax.format import format_module
from alpha.syntax.parse import parse_module

_UNITS = {
    (1, 0, 0): "B",
    (0, -1, 0): "Hz",
    (0, 0, 1): "FLOP",
    (1, -1, 0): "B/s",
    (0, -1, 1): "FLOP/s",
}


@record
class Statement:
    """`imports` are (module, name) pairs: the pairing's, or the policy's and the profile's."""

    module: str
    executable: str
    target: str
    imports: tuple[tuple[str, str], ...]
    schedule: tuple[tuple[str, int], ...]
    demands: tuple[Demand, ...]
    supplies: tuple[Fact, ...]
    digests: tuple[tuple[str, str], ...]


def module_source(statement: Statement) -> str:
    """The text of the module."""
    blocks = [
        [
            f"--| What `{statement.executable}` is made of. Written by `alpha build`.",
            f"module {statement.module}",
        ],
        [
            f"import Alpha.Admission ({', '.join(_admission_names(statement.demands))})",
            *(f"import {module} ({name})" for module, name in statement.imports),
        ],
        ["target : Text", f"target = {_text(statement.target)}"],
        [
            "--| Each program of the run with the number of its launches.",
            "schedule : List (Text, Int)",
            *_list("schedule", [f"({_text(name)}, {count})" for name, count in statement.schedule]),
        ],
        ["demands : List Demand", *_list("demands", [_demand(d) for d in statement.demands])],
        [
            "supplies : List (Text, Amount)",
            *_list("supplies", [_supply(fact) for fact in statement.supplies]),
        ],
        [
            "--| SHA-256 of every input.",
            "digests : List (Text, Text)",
            *_list("digests", [f"({_text(n)}, {_text(d)})" for n, d in statement.digests]),
        ],
    ]
    text = "\n\n".join("\n".join(block) for block in blocks) + "\n"
    return format_module(parse_module(Source(f"{statement.module}.alpha", text)))


def _admission_names(demands: Sequence[Demand]) -> list[str]:
    """What the module needs of admission: the kinds and bounds of its demands, types before functions."""
    used = {name for demand in demands for name in (demand.kind, demand.bound)}
    return [*sorted({"Demand", *used}), *(["demand"] if demands else [])]


def _demand(demand: Demand) -> str:
    return f"demand {_text(demand.name)} {demand.kind} {demand.bound} {_amount(demand.amount)}"


def _supply(fact: Fact) -> str:
    assert isinstance(fact.amount, Amount)
    return f"({_text(fact.name)}, {_amount(fact.amount)})"


def _amount(amount: Amount) -> str:
    if amount.feature:
        return "present" if amount.value else "absent"
    number = str(amount.value.numerator)
    if amount.unit == (0, 1, 0):
        return f"{int(amount.value * 10**9)}ns"
    unit = _UNITS.get(amount.unit, "")
    return f"{number} {unit}" if unit else number


def _list(name: str, items: Sequence[str]) -> list[str]:
    if not items:
        return [f"{name} = []"]
    lines = [f"{name} ="]
    lines += [f"  {'[' if place == 0 else ','} {item}" for place, item in enumerate(items)]
    return [*lines, "  ]"]


def _text(value: str) -> str:
    escaped = (
        value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    )
    return f'"{escaped}"'

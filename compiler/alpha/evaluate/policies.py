"""Policies: their entries, defaults and checks (specification, section 16)."""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.record import record
from alpha.base.span import Span
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.diagnostics.not_yet import not_yet
from alpha.evaluate import system_errors
from alpha.evaluate.machine import Force, Machine, Steps
from alpha.evaluate.scope import Scope
from alpha.evaluate.system import Checkpoint, Report, Stop
from alpha.evaluate.values import (
    FALSE,
    DataSource,
    LearnerValue,
    ListValue,
    Record,
    Scalar,
    Value,
    Variant,
)

REQUIRED = frozenset({"learner", "data", "batch", "steps", "seed", "rate", "checkpoint"})
DEFAULTS: Mapping[str, Value] = {
    "start": Variant("Fresh"),
    "bundle": FALSE,
    "holdOut": 0,
    "shuffle": Variant("EachEpoch"),
    "report": Record(
        "Report",
        {
            "every": 50,
            "scalars": ListValue(("loss",)),
            "to": ListValue((Variant("Terminal"), Variant("JsonLines"))),
        },
    ),
    "stop": ListValue((Variant("NotFinite"),)),
    "mayMove": ListValue(()),
}
ENTRIES = REQUIRED | frozenset(DEFAULTS) | {"evaluateEvery"}
DERIVED = frozenset(
    {"params", "slots", "batchInput", "lossOutput", "metricOutput", "trainStep", "evaluateBatch"}
)
"""Fields of a policy value that only host declarations use."""


@record
class Settings:
    """A policy as plain data, checked. `spans` gives the place of each entry that was written."""

    learner: str
    data: DataSource
    rate: Value
    batch: int
    steps: int
    seed: int
    hold_out: int
    shuffle: str
    bundle: bool
    evaluate_every: int
    checkpoint: Checkpoint
    report: Report
    stop: tuple[Stop, ...]
    may_move: tuple[str, ...]
    start: Variant
    spans: Mapping[str, Span]
    span: Span

    def place(self, entry: str) -> Span:
        """Where an entry stands, or the policy's name if it was not written."""
        return self.spans.get(entry, self.span)


def entry_steps(policy: core.Policy, name: str, span: Span) -> Steps:
    """The value of `policy.name`: what was written, else the default."""
    for entry, term in policy.entries:
        if entry == name:
            return (yield Force(term, Scope({})))
    if name in DEFAULTS:
        return DEFAULTS[name]
    if name == "evaluateEvery":
        checkpoint = yield from entry_steps(policy, "checkpoint", span)
        assert isinstance(checkpoint, Record)
        return checkpoint.fields["every"]
    if name == "heldOutBatches":
        held_out = yield from entry_steps(policy, "holdOut", span)
        batch = yield from entry_steps(policy, "batch", span)
        assert isinstance(held_out, int) and isinstance(batch, int)
        if batch < 1:
            raise Refused(system_errors.number_below_one("batch", batch, policy.span))
        return held_out // batch
    if name in DERIVED:
        raise Refused(not_yet(f"`.{name}` of a policy", span))
    raise Refused(_fault(policy, name, span))


def _fault(policy: core.Policy, name: str, span: Span) -> Diagnostic:
    if name in REQUIRED:
        return system_errors.entry_missing(policy.symbol.rpartition(".")[2], name, policy.span)
    return system_errors.entry_unknown(name, ENTRIES, span)


def settings(machine: Machine, symbol: str, batch: int | None = None) -> Settings:
    """The checked entries of a policy. `batch` replaces the one written, for the search of nearest changes."""
    policy = machine.index.policy(symbol)
    written = dict(policy.entries)
    faults = [
        system_errors.entry_unknown(name, ENTRIES, term.span)
        for name, term in policy.entries
        if name not in ENTRIES
    ]
    faults += [_fault(policy, name, policy.span) for name in sorted(REQUIRED - set(written))]
    if faults:
        raise Refused(*faults)
    values = {
        name: machine.finish(entry_steps(policy, name, policy.span), policy.span, symbol)
        for name in (*written, *sorted(ENTRIES - set(written)))
    }
    if batch is not None:
        values["batch"] = batch
    spans = {name: term.span for name, term in policy.entries}
    return _Reader(values, spans, policy.span).settings()


@record
class _Reader:
    """Takes evaluated entries apart; the checker has seen to their types."""

    values: Mapping[str, Value]
    spans: Mapping[str, Span]
    span: Span

    def settings(self) -> Settings:
        learner, data = self.values["learner"], self.values["data"]
        assert isinstance(learner, LearnerValue)
        assert isinstance(data, DataSource)
        bundle, start, shuffle = (self.values[name] for name in ("bundle", "start", "shuffle"))
        assert isinstance(bundle, Scalar)
        assert isinstance(start, Variant)
        assert isinstance(shuffle, Variant)
        return Settings(
            learner.symbol,
            data,
            self.values["rate"],
            self._count("batch"),
            self._count("steps"),
            self._seed(),
            _integer(self.values["holdOut"]),
            shuffle.name,
            bool(bundle.value),
            self._count("evaluateEvery"),
            self._checkpoint(),
            self._report(),
            tuple(self._stop(item) for item in _items(self.values["stop"])),
            tuple(
                item.name for item in _items(self.values["mayMove"]) if isinstance(item, Variant)
            ),
            start,
            self.spans,
            self.span,
        )

    def _place(self, entry: str) -> Span:
        return self.spans.get(entry, self.span)

    def _count(self, entry: str) -> int:
        return self._at_least_one(entry, _integer(self.values[entry]), entry)

    def _at_least_one(self, name: str, value: int, entry: str) -> int:
        if value < 1:
            raise Refused(system_errors.number_below_one(name, value, self._place(entry)))
        return value

    def _seed(self) -> int:
        seed = _integer(self.values["seed"])
        if not 0 <= seed < 2**64:
            raise Refused(system_errors.seed_outside(seed, self._place("seed")))
        return seed

    def _checkpoint(self) -> Checkpoint:
        fields = _fields(self.values["checkpoint"])
        every, keep = (
            self._at_least_one(f"checkpoint.{name}", _integer(fields[name]), "checkpoint")
            for name in ("every", "keep")
        )
        folder = _text(fields["folder"])
        if not folder or not folder.isprintable():
            raise Refused(system_errors.no_folder_name(folder, self._place("checkpoint")))
        if folder.startswith("/") or ".." in folder.split("/"):
            raise Refused(system_errors.folder_outside(folder, self._place("checkpoint")))
        return Checkpoint(every, keep, folder)

    def _report(self) -> Report:
        fields = _fields(self.values["report"])
        every = self._at_least_one("report.every", _integer(fields["every"]), "report")
        sinks = tuple(item.name for item in _items(fields["to"]) if isinstance(item, Variant))
        return Report(every, tuple(_text(item) for item in _items(fields["scalars"])), sinks)

    def _stop(self, value: Value) -> Stop:
        assert isinstance(value, Variant)
        if not value.arguments:
            return Stop(value.name)
        fields = _fields(value.arguments[0])
        metric = _text(fields["metric"])
        if value.name == "Plateau":
            patience = self._at_least_one("patience", _integer(fields["patience"]), "stop")
            return Stop(value.name, metric, patience)
        below = fields["value"]
        assert isinstance(below, Scalar)
        return Stop(value.name, metric, value=float(below.value))


def _integer(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _text(value: Value) -> str:
    assert isinstance(value, str)
    return value


def _items(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, ListValue)
    return value.items


def _fields(value: Value) -> Mapping[str, Value]:
    assert isinstance(value, Record)
    return value.fields

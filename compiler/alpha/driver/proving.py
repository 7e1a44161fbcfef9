"""The focused view of proofs and rejections: each with what it came to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from alpha.base.record import record
from alpha.base.span import Span
from alpha.diagnostics.closest import did_you_mean
from alpha.driver.checking import Checked, checked
from alpha.driver.errors import UsageError
from alpha.driver.session import Session
from alpha.evaluate.proofs import REJECTS, TEST
from alpha.syntax import tree


@record
class Proved:
    """A proof or rejection. `kind` is `proof` or `rejects CODE`; `steps` are those of its evaluation.

    A rejection that the types alone settle takes no step.
    """

    symbol: str
    kind: str
    held: bool
    steps: int
    span: Span

    def line(self) -> str:
        """For people: the value, the name, the kind, the steps, the place."""
        value = str(self.held) if self.kind == "proof" else ("refused" if self.held else "accepted")
        steps = f"{self.steps:_} step{'' if self.steps == 1 else 's'}"
        return f"{value}  {self.symbol}  ({self.kind}, {steps})  {self.span}"

    def json_line(self) -> str:
        return json.dumps(
            {
                "event": "proof",
                "name": self.symbol,
                "kind": self.kind,
                "held": self.held,
                "steps": self.steps,
                "place": str(self.span),
            }
        )


def prove_all(session: Session, names: Sequence[str], pattern: str | None) -> list[Proved]:
    """Evaluates the proofs and rejections of the modules `names` that `pattern` chooses; what is wrong is reported.

    Refused where the modules have errors of their own, rejections that their types contradict among them.
    """
    front = checked(session, names)
    declared = dict(_declared(front, names))
    typed = {proof.symbol: proof for module in front.program.modules for proof in module.proofs}
    found: list[Proved] = []
    for symbol in matching(declared, pattern, "proof or rejection"):
        item = declared[symbol]
        held, steps = True, 0  # of a rejection that its types settle
        if symbol in typed:
            held, steps = front.evaluator.settle(typed[symbol])
        kind = item.kind if isinstance(item, tree.ProofDecl) else REJECTS + item.code
        found.append(Proved(symbol, kind, held, steps, item.name.span))
    return found


def matching(symbols: Iterable[str], pattern: str | None, what: str) -> list[str]:
    """The symbols that a pattern chooses: one with `*` or `?` matches the whole of a symbol, another a part of it.

    Raises UsageError where it chooses none.
    """
    known = list(symbols)
    if pattern is None:
        return known
    wild = any(mark in pattern for mark in "*?[")
    found = [name for name in known if (fnmatchcase(name, pattern) if wild else pattern in name)]
    if not found:
        guess = did_you_mean(pattern, [name.rpartition(".")[2] for name in known])
        raise UsageError(f"no {what} matches `{pattern}`" + (f"; {guess}" if guess else ""))
    return found


def _declared(
    front: Checked, names: Sequence[str]
) -> Iterator[tuple[str, tree.ProofDecl | tree.RejectsDecl]]:
    """The proofs and rejections of the modules as they are written, by symbol, without the tests."""
    trees = {module.name: module.tree for module in front.modules}
    for name in names:
        for item in trees[name].items:
            if isinstance(item, tree.RejectsDecl) or (
                isinstance(item, tree.ProofDecl) and item.kind != TEST
            ):
                yield f"{name}.{item.name.text}", item

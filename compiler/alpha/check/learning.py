"""One learner while it is checked."""

from __future__ import annotations

from alpha.base.record import field, record
from alpha.check.module_scope import Work
from alpha.check.scope import Value
from alpha.core import term
from alpha.core.types import Type, TypeVar
from alpha.syntax import tree

FORMS = {
    "loss": "loss net (b : Batch [batch]) = ...",
    "step": "step net slots t b = { net = ..., slots = ..., loss = ... }",
    "metric": "metric name net b = ...",
    "predict": "predict net (x : Tensor f32 [batch, n]) = ...",
}
Part = tree.Define | tree.Metric


@record(frozen=False)
class Learning:
    """One learner while it is checked. `values` are its functions, in scope in one another."""

    work: Work
    item: tree.LearnerDecl
    symbol: str
    parts: dict[str, Part] = field(default_factory=dict)
    signatures: dict[str, tree.Signature] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    lambdas: dict[str, term.Lambda] = field(default_factory=dict)
    bundle: Type = field(default_factory=lambda: TypeVar("!learner"))
    batch: str = ""
    batch_type: Type = field(default_factory=lambda: TypeVar("!learner"))
    keyed: bool = False
    predict_input: Type | None = None
    failed: bool = False

"""From a policy to a `System`: settings, graphs, data and canonical texts."""

from __future__ import annotations

from alpha.base.dtype import Dtype, TensorType
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import canonical, system_errors
from alpha.evaluate.data import load
from alpha.evaluate.files import FileAccess
from alpha.evaluate.learners import SCALAR, Trainer, output_type
from alpha.evaluate.machine import Machine
from alpha.evaluate.policies import Settings, settings
from alpha.evaluate.sampling import sample_graph, samples_text
from alpha.evaluate.source_files import SourceFiles
from alpha.evaluate.staging import Staging
from alpha.evaluate.system import System
from alpha.evaluate.values import Staged
from alpha.evaluate.weights import load as load_weights
from alpha.graph.node import Graph


def make_system(
    machine: Machine, files: FileAccess, symbol: str, batch: int | None = None
) -> System:
    """The system of the policy `symbol`; `batch` replaces the policy's own."""
    chosen = settings(machine, symbol, batch)
    trainer = Trainer.of(machine, chosen.learner, chosen.batch, symbol)
    _check_names(trainer, chosen)
    module = machine.index.home[symbol]
    fields = trainer.batch_fields()
    data = load(files, module, chosen, fields)
    access = SourceFiles(files, module, chosen.place("start"))
    weights = load_weights(chosen.start, access, trainer.net_tensors())
    rate = rate_graph(machine, chosen, symbol)
    predict = trainer.predict()
    learned = (trainer.step(), trainer.evaluate(), *((predict,) if predict else ()))
    sampled = samples_text(data.source, trainer.predict_input(), output_type(predict))
    served = (sample_graph(chosen.span),) if sampled else ()
    return System(
        name=symbol,
        parameters=trainer.net_tensors(),
        slots=trainer.slot_tensors(),
        batch_fields=fields,
        metrics=tuple(name for name, _ in trainer.learner.metrics),
        keyed=trainer.learner.keyed,
        predict_input=trainer.predict_input(),
        predict_output=output_type(predict),
        graphs=(trainer.initial(chosen.seed), rate, *learned, *served),
        data=data,
        weights=weights,
        batch=chosen.batch,
        steps=chosen.steps,
        seed=chosen.seed,
        hold_out=chosen.hold_out,
        shuffle=chosen.shuffle,
        bundle=chosen.bundle,
        evaluate_every=chosen.evaluate_every,
        checkpoint=chosen.checkpoint,
        report=chosen.report,
        stop=chosen.stop,
        may_move=chosen.may_move,
        policy_text=canonical.policy(chosen, rate, weights),
        learner_text=canonical.learner(chosen.learner, trainer.parameters, trainer.slots, learned),
        data_text=canonical.data(data, fields),
        span=chosen.span,
    )


def rate_graph(machine: Machine, chosen: Settings, owner: str) -> Graph:
    """The schedule applied to the step."""
    staging = Staging()
    span = chosen.place("rate")
    step = Staged(staging.input("step", TensorType(Dtype.U32, ()), span))
    rate = machine.call(chosen.rate, (step,), span, owner, staging)
    node = staging.node(rate, span)
    if node.type != SCALAR:
        raise Refused(system_errors.rate_not_scalar(span))
    return staging.builder.graph("rate", [("rate", node)])


def _check_names(trainer: Trainer, chosen: Settings) -> None:
    """The names that a report and the stop rules use are the loss or metrics."""
    known = {"loss", *(name for name, _ in trainer.learner.metrics)}
    named = [(name, "report") for name in chosen.report.scalars]
    named += [(rule.metric, "stop") for rule in chosen.stop if rule.metric]
    for name, entry in named:
        if name not in known:
            raise Refused(system_errors.metric_unknown(name, known, chosen.place(entry)))

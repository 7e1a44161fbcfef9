"""The graphs of a learner at one batch size: step, evaluate, predict and the initial state."""

from __future__ import annotations

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.core import term as core
from alpha.core.dim import Dim
from alpha.core.types import Named, Tensor, TypeArgument
from alpha.evaluate.grounding import Types, ground, tensor
from alpha.evaluate.initial import initial_parameter
from alpha.evaluate.intrinsics.structure import differentiated
from alpha.evaluate.intrinsics.training import apply_optimizer
from alpha.evaluate.machine import Machine
from alpha.evaluate.models import Parameter, bundle, parameters
from alpha.evaluate.scope import Scope
from alpha.evaluate.staging import KEY, Staging
from alpha.evaluate.system import Tensor as NamedTensor
from alpha.evaluate.values import (
    Bundle,
    Closure,
    Initialiser,
    ModelValue,
    OptimizerValue,
    Record,
    SlotsValue,
    Staged,
    TupleValue,
    Value,
)
from alpha.graph.node import Graph, Node

SCALAR = TensorType(Dtype.F32, ())


@record
class Trainer:
    """A learner with its batch size: what its graphs are built from. `owner` pays for the evaluation."""

    machine: Machine
    learner: core.Learner
    batch: int
    owner: str
    model: ModelValue
    optimizer: OptimizerValue
    parameters: tuple[tuple[Parameter, Initialiser], ...]
    slots: tuple[tuple[str, Initialiser], ...]

    @staticmethod
    def of(machine: Machine, symbol: str, batch: int, owner: str) -> Trainer:
        learner = machine.index.learner(symbol)
        scope: Scope[Value] = Scope({learner.batch: Dim.constant(batch)})
        model = machine.evaluate(learner.model, scope, owner)
        optimizer = machine.evaluate(learner.optimizer, scope, owner)
        assert isinstance(model, ModelValue)
        assert isinstance(optimizer, OptimizerValue)
        rule = machine.index.optimizer(optimizer.symbol)
        return Trainer(
            machine,
            learner,
            batch,
            owner,
            model,
            optimizer,
            tuple(
                (
                    parameter,
                    _initialiser(machine, parameter.initialiser, Scope(parameter.types), owner),
                )
                for parameter in parameters(machine.index, model)
            ),
            tuple(
                (name, _initialiser(machine, term, Scope({}), owner)) for name, term in rule.slots
            ),
        )

    # ---- names and types ---------------------------------------------------------------------------------------

    @property
    def types(self) -> Types:
        types: dict[str, TypeArgument] = {self.learner.batch: Dim.constant(self.batch)}
        return types

    def net_tensors(self) -> tuple[NamedTensor, ...]:
        return tuple(NamedTensor(p.path, p.type, p.span) for p, _ in self.parameters)

    def slot_tensors(self) -> tuple[NamedTensor, ...]:
        return tuple(
            NamedTensor(f"{name}.{p.path}", p.type, p.span)
            for name, _ in self.slots
            for p, _ in self.parameters
        )

    def batch_fields(self) -> tuple[NamedTensor, ...]:
        """The fields of a whole batch."""
        type = self.learner.batch_type
        assert isinstance(type, Named)
        record = self.machine.index.record(type.name)
        names = [name for name, _ in record.parameters]
        inner = {
            name: ground(argument, self.types)
            for name, argument in zip(names, type.arguments, strict=True)
        }
        fields = []
        for name, field in record.fields:
            assert isinstance(field, Tensor)
            fields.append(NamedTensor(name, tensor(field, inner), self.learner.span))
        return tuple(fields)

    def predict_input(self) -> TensorType | None:
        type = self.learner.predict_input
        if type is None:
            return None
        assert isinstance(type, Tensor)
        return tensor(type, self.types)

    # ---- graphs --------------------------------------------------------------------------------------------------

    def initial(self, seed: int) -> Graph:
        staging = Staging()
        outputs: list[tuple[str, Node]] = []
        for parameter, initialiser in self.parameters:
            node = initial_parameter(staging, parameter, initialiser, seed)
            outputs.append((f"net.{parameter.path}", node))
        for name, initialiser in self.slots:
            for parameter, _ in self.parameters:
                node = initial_parameter(staging, parameter, initialiser, seed)
                outputs.append((f"slots.{name}.{parameter.path}", node))
        return staging.builder.graph("initial", outputs)

    def step(self) -> Graph:
        staging = Staging()
        net = self._net(staging)
        slots = SlotsValue(
            {name: self._bundle(staging, f"slots.{name}.") for name, _ in self.slots}
        )
        span = self.learner.span
        step = Staged(staging.input("step", TensorType(Dtype.U32, ()), span))
        rate = Staged(staging.input("rate", SCALAR, span))
        tick = Record("Tick", {"step": step, "rate": rate})
        batch = self._batch(staging)
        keys: tuple[Value, ...] = ()
        if self.learner.keyed:
            keys = (staging.key(staging.input("key", KEY, span)),)
        if self.learner.step is None:
            after, after_slots, loss = self._default_step(staging, net, slots, tick, keys, batch)
        else:
            written = self.learner.step
            result = self._call(staging, written, (net, slots, tick, *keys, batch))
            assert isinstance(result, Record)
            after, after_slots, loss = (result.fields[part] for part in ("net", "slots", "loss"))
        assert isinstance(after, Bundle)
        assert isinstance(after_slots, SlotsValue)
        outputs = _named(staging, "net.", after, span)
        for name, values in after_slots.slots.items():
            outputs += _named(staging, f"slots.{name}.", values, span)
        outputs.append(("loss", staging.node(loss, span)))
        return staging.builder.graph("step", outputs)

    def _default_step(
        self,
        staging: Staging,
        net: Bundle,
        slots: SlotsValue,
        tick: Record,
        keys: tuple[Value, ...],
        batch: Record,
    ) -> tuple[Value, Value, Value]:
        """`valueAndGrad` of the loss, then `optimizer.apply`. The net's inputs stand nowhere else, so they are the
        nodes that the loss is differentiated by."""
        span = self.learner.loss.span
        loss = self._call(staging, self.learner.loss, (net, *keys, batch))
        by = tuple((f"parameter `{path}`", staging.node(leaf, span)) for path, leaf in net.leaves())
        found = differentiated(staging, staging.node(loss, span), by, span)
        gradient = net.rebuilt(Staged(node) for node in found)
        steps = apply_optimizer(self.machine, self.optimizer, tick, net, slots, gradient, span)
        result = self.machine.finish(steps, span, self.owner, staging)
        assert isinstance(result, TupleValue)
        after, after_slots = result.items
        return after, after_slots, loss

    def evaluate(self) -> Graph:
        staging = Staging()
        net, batch = self._net(staging), self._batch(staging)
        outputs: list[tuple[str, Node]] = []
        if not self.learner.keyed:
            loss = self._call(staging, self.learner.loss, (net, batch))
            outputs.append(("loss", staging.node(loss, self.learner.loss.span)))
        for name, metric in self.learner.metrics:
            value = self._call(staging, metric, (net, batch))
            outputs.append((f"metric.{name}", staging.node(value, metric.span)))
        return staging.builder.graph("evaluate", outputs)

    def predict(self) -> Graph | None:
        type = self.predict_input()
        if self.learner.predict is None or type is None:
            return None
        staging = Staging()
        net = self._net(staging)
        span = self.learner.predict.span
        given = Staged(staging.input("input", type, span))
        result = self._call(staging, self.learner.predict, (net, given))
        return staging.builder.graph("predict", [("output", staging.node(result, span))])

    # ---- parts ---------------------------------------------------------------------------------------------------

    def _call(self, staging: Staging, term: core.Lambda, arguments: tuple[Value, ...]) -> Value:
        scope: Scope[Value] = Scope(self.types)
        function = Closure(term, scope, self.learner.symbol)
        return self.machine.call(function, arguments, term.span, self.owner, staging)

    def _net(self, staging: Staging) -> Bundle:
        return self._bundle(staging, "net.")

    def _bundle(self, staging: Staging, prefix: str) -> Bundle:
        def leaf(parameter: Parameter) -> Value:
            name = prefix + parameter.path
            return Staged(staging.input(name, parameter.type, parameter.span))

        return bundle(self.machine.index, self.model, leaf)

    def _batch(self, staging: Staging) -> Record:
        type = self.learner.batch_type
        assert isinstance(type, Named)
        fields = {
            field.name: Staged(staging.input(f"batch.{field.name}", field.type, field.span))
            for field in self.batch_fields()
        }
        return Record(type.name, fields)


def _initialiser(machine: Machine, term: core.Term, scope: Scope[Value], owner: str) -> Initialiser:
    value = machine.evaluate(term, scope, owner)
    assert isinstance(value, Initialiser)
    return value


def _named(staging: Staging, prefix: str, values: Bundle, span: Span) -> list[tuple[str, Node]]:
    return [(prefix + path, staging.node(leaf, span)) for path, leaf in values.leaves()]


def output_type(graph: Graph | None) -> TensorType | None:
    """The type of `predict`'s result."""
    return None if graph is None else dict(graph.outputs)["output"].type

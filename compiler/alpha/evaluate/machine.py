"""The explicit stack on which terms are evaluated, and the application of functions.

Two stacks: `_work` holds what is still to be done, last first; `_values` the results it will take. No Python call is as
deep as the program, so a fold over a hundred thousand elements needs no recursion. Evaluation is strict and left to
right. An operation that needs other values is a generator: it yields a request and is resumed with the value.
"""

from __future__ import annotations

from collections.abc import Callable as Python
from collections.abc import Generator, Mapping
from functools import partial
from types import GeneratorType

from alpha.base.record import record
from alpha.base.span import Span
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.budget import Account, Exhausted
from alpha.evaluate.patterns import take
from alpha.evaluate.program import Index
from alpha.evaluate.scope import Scope
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import (
    FUNCTIONS,
    Closure,
    ConstructorFunction,
    Operation,
    OptimizerValue,
    Partial,
    Staged,
    Value,
    Variant,
)


@record
class Call:
    """A request to apply a function."""

    function: Value
    arguments: tuple[Value, ...]


@record
class Force:
    """A request to evaluate a term."""

    term: core.Term
    scope: Scope[Value]


Steps = Generator[Call | Force, Value, Value]
"""An evaluation in steps: it yields requests, receives their values and returns its own."""

Run = Python[["Machine", Operation, tuple[Value, ...], Span], "Value | Steps"]
Visit = Python[["Machine", core.Term, Scope[Value]], None]


VARIABLE = -1
"""The arity of an operation whose type says how many operands it takes."""


@record
class Row:
    """One intrinsic: how many arguments it takes and what it does with them."""

    arity: int
    run: Run


@record
class Place:
    """Where evaluation stands: who pays, which definition is counted, which graph is built."""

    account: Account
    owner: str
    staging: Staging


class Machine:
    """One evaluation session of one program.

    `operations` is the table of intrinsics, `visit` says how each class of term is evaluated, `constants` holds the
    known values of definitions without parameters, `staged` the names of those that hold nodes, which every graph makes
    anew. `plain_operations` holds the intrinsics that depend on no type argument, by the identity of their terms,
    which it keeps alive.
    """

    def __init__(
        self, index: Index, operations: Mapping[str, Row], visit: Mapping[type, Visit]
    ) -> None:
        self.index = index
        self.operations = operations
        self.visit = visit
        self.place = Place(Account(""), "", Staging())
        self.trail: list[tuple[str, Span]] = []
        self.watched: dict[int, Value | None] | None = None
        self.constants: dict[str, Value] = {}
        self.staged: set[str] = set()
        self.plain_operations: dict[int, tuple[core.Term, Operation]] = {}
        self._accounts: dict[str, Account] = {}
        self._work: list[Python[[], None]] = []
        self._values: list[Value] = []

    # ---- entry points ------------------------------------------------------------------------------------------

    def account(self, module: str) -> Account:
        """The account of a module, opened when first asked for."""
        if module not in self._accounts:
            declared = self.index.modules.get(module)
            limit = declared.budget if declared is not None else None
            self._accounts[module] = Account(module, limit if limit is not None else budget.STEPS)
        return self._accounts[module]

    def evaluate(
        self, term: core.Term, scope: Scope[Value], owner: str, staging: Staging | None = None
    ) -> Value:
        """The value of a term of the definition `owner`, charged to its module, its nodes in `staging`."""
        return self._run(partial(self.push, term, scope), owner, staging, term.span)

    def call(
        self,
        function: Value,
        arguments: tuple[Value, ...],
        span: Span,
        owner: str,
        staging: Staging | None = None,
    ) -> Value:
        """The value of an application that no term stands for, such as a loss on its batch."""
        return self._run(partial(self.apply, function, arguments, span), owner, staging, span)

    def finish(self, steps: Steps, span: Span, owner: str, staging: Staging | None = None) -> Value:
        """The value of an evaluation in steps."""
        return self._run(partial(self.drive, steps, span), owner, staging, span)

    def _run(
        self, start: Python[[], None], owner: str, staging: Staging | None, span: Span
    ) -> Value:
        kept = self.place
        base, values, trail = len(self._work), len(self._values), len(self.trail)
        module = self.index.home.get(owner, owner.rpartition(".")[0])
        self.place = Place(self.account(module), owner, staging or Staging())
        try:
            start()
            work = self._work
            while len(work) > base:
                work.pop()()
            return self._values.pop()
        except Exhausted as fault:
            raise Refused(errors.exhausted(fault, span)) from None
        finally:
            del self._work[base:], self._values[values:], self.trail[trail:]
            self.place = kept

    # ---- the stacks ----------------------------------------------------------------------------------------------

    def later(self, work: Python[[], None]) -> None:
        """Do `work` when everything that is pushed from now on is done."""
        self._work.append(work)

    def push(self, term: core.Term, scope: Scope[Value]) -> None:
        """Evaluate `term` next."""
        if self.watched is not None and id(term) in self.watched:
            self._work.append(partial(self._watch, id(term)))
        self._work.append(partial(self.visit[type(term)], self, term, scope))

    def push_all(self, terms: tuple[core.Term, ...], scope: Scope[Value]) -> None:
        """Evaluate terms from the first to the last."""
        for term in reversed(terms):
            self.push(term, scope)

    def give(self, value: Value, size: int = 0) -> None:
        """The result of what was done last. `size` counts its bytes where it was made just now."""
        if size:
            self.place.account.allocate(size)
        self._values.append(value)

    def take(self, count: int) -> tuple[Value, ...]:
        """The last `count` results, in the order they came."""
        if not count:
            return ()
        taken = tuple(self._values[-count:])
        del self._values[-count:]
        return taken

    def last(self) -> Value:
        """The last result, which stays."""
        return self._values[-1]

    def step(self, count: int = 1) -> None:
        place = self.place
        place.account.step(place.owner, count)

    def allocate(self, size: int) -> None:
        self.place.account.allocate(size)

    @property
    def staging(self) -> Staging:
        return self.place.staging

    def _watch(self, key: int) -> None:
        assert self.watched is not None
        self.watched[key] = self._values[-1]

    # ---- definitions ---------------------------------------------------------------------------------------------

    def enter(self, symbol: str, span: Span) -> None:
        """Count what follows for `symbol`, and name it in messages, until it is done."""
        if symbol != self.place.owner:
            self._work.append(partial(self._leave, self.place.owner))
            self.trail.append((symbol, span))
            self.place = Place(self.place.account, symbol, self.place.staging)

    def _leave(self, owner: str) -> None:
        self.trail.pop()
        self.place = Place(self.place.account, owner, self.place.staging)

    def return_to(self, place: Place) -> None:
        self.place = place

    # ---- application ---------------------------------------------------------------------------------------------

    def apply(self, function: Value, arguments: tuple[Value, ...], span: Span) -> None:
        """Apply a function; too few arguments make a partial application, the rest of too many goes to the result."""
        while isinstance(function, Partial):
            arguments = function.given + arguments
            function = function.function
        if not isinstance(function, FUNCTIONS):
            raise TypeError(f"{type(function).__name__} is no function")
        arity, count = function.arity, len(arguments)
        if count < arity:
            self.give(Partial(function, arguments), budget.compound(count + 1))
            return
        if count > arity:
            self._work.append(partial(self._apply_rest, arguments[arity:], span))
            arguments = arguments[:arity]
        place = self.place
        place.account.step(place.owner)
        if isinstance(function, Operation):
            done = self.operations[function.name].run(self, function, arguments, span)
            if type(done) is GeneratorType:
                self._advance(done, span, None)
            else:
                if type(done) is Staged:
                    place.account.step(place.owner, budget.NODE_STEPS)
                self._values.append(done)  # type: ignore[arg-type]
        elif isinstance(function, Closure):
            names: dict[str, Value] = {}
            term = function.term
            for pattern, value in zip(term.parameters, arguments, strict=True):
                if type(pattern) is core.Bind:
                    names[pattern.name] = value
                else:
                    take(pattern, value, names)
            place.account.allocate(budget.compound(len(names)))
            if function.owner != place.owner:
                self.enter(function.owner, span)
            self.push(term.body, function.scope.bound(names))
        elif isinstance(function, ConstructorFunction):
            self.give(Variant(function.constructor, arguments), budget.compound(arity))
        else:
            self.give(OptimizerValue(function.symbol, arguments), budget.compound(arity))

    def _apply_rest(self, arguments: tuple[Value, ...], span: Span) -> None:
        (function,) = self.take(1)
        self.apply(function, arguments, span)

    def drive(self, steps: Steps, span: Span) -> None:
        """Begin an evaluation in steps."""
        self._advance(steps, span, None)

    def _resume(self, steps: Steps, span: Span) -> None:
        self._advance(steps, span, self._values.pop())

    def _advance(self, steps: Steps, span: Span, value: Value | None) -> None:
        try:
            request = next(steps) if value is None else steps.send(value)
        except StopIteration as done:
            self._values.append(done.value)
            return
        self._work.append(partial(self._resume, steps, span))
        if isinstance(request, Call):
            self.apply(request.function, request.arguments, span)
        else:
            self.push(request.term, request.scope)

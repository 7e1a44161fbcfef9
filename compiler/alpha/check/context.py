"""The state of checking one definition, and the few steps that every rule uses.

A rule infers a term, or waits: operators and field selections wait until the types of their operands are known. What
waits is tried again whenever something new is known and someone needs it, and given up at the end of the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from alpha.base.dtype import Dtype
from alpha.base.record import field, record, replace
from alpha.base.span import Span
from alpha.check import errors_names, errors_shapes, errors_types, origins
from alpha.check.entries import (
    Blame,
    Dimension,
    Entry,
    Equation,
    Refuse,
    Variable,
    Waiting,
)
from alpha.check.mismatches import mismatch_diagnostic
from alpha.check.scope import ModelEntity, ModuleScope, Registry, Value, Where
from alpha.check.show import Shower
from alpha.check.solver import Mismatch, Solver
from alpha.check.type_reader import TypeReader, Variables, scan_kinds
from alpha.check.unify import Unifier
from alpha.core import term
from alpha.core.dim import Answer, Dim
from alpha.core.substitute import in_dim, in_type
from alpha.core.types import (
    Constraint,
    Element,
    Kind,
    Scheme,
    Shape,
    Tensor,
    Type,
    TypeArgument,
    TypeVar,
)
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Label, Reported, Severity
from alpha.syntax import tree

_SIZES = frozenset({"E0412", "E0414", "E0415", "E0417"})

Infer = Callable[["Context", tree.Written], term.Term]
Check = Callable[["Context", tree.Written, Type, Blame | None], term.Term]
Rules = tuple[Mapping[type, Infer], Mapping[type, Check]]


@record(frozen=False)
class Context:
    """`locals` maps names in scope within the definition; `rules` are the tables of `expressions`."""

    registry: Registry
    scope: ModuleScope
    diagnostics: Diagnostics
    rules: Rules
    solver: Solver = field(default_factory=Solver)
    locals: dict[str, Entry] = field(default_factory=dict)
    variables: Variables = field(default_factory=Variables)
    waiting: list[Waiting] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    dtype_checks: list[tuple[Element, frozenset[Dtype], bool, str, Span]] = field(
        default_factory=list
    )
    written: dict[Span, Span] = field(default_factory=dict)
    """Of the names that are bound with a type: where the name stands, and where its type does."""
    made: dict[Span, Span] = field(default_factory=dict)
    """Of the names of `let` lines without a type: where the name stands, and where its value does."""
    fault: Reported | None = None
    """The last fault that `unify` or `unify_dims` told."""
    operand_spans: list[Span] = field(default_factory=list)
    """Of the special operation that was named last; an application fills in its arguments'."""
    serial: int = 0
    failed: bool = False
    """An error of this definition is reported: what stays unknown may be its consequence."""
    seen: int = -1
    bound: list[Variable] = field(default_factory=list)
    """What patterns bind, in order."""
    used: set[int] = field(default_factory=set)
    """The variables that stand in an expression, by identity."""
    rigid: list[tuple[str, Kind]] = field(default_factory=list)
    """Names first seen in annotations of parameters, in order."""

    # ---- the two modes ---------------------------------------------------------------------------------------------

    def infer(self, node: tree.Written) -> term.Term:
        return self.rules[0][type(node)](self, node)

    def check(self, node: tree.Written, expected: Type, blame: Blame | None = None) -> term.Term:
        rule = self.rules[1].get(type(node))
        if rule is not None:
            return rule(self, node, expected, blame)
        found = self.infer(node)
        return self.expect(found, expected, blame)

    def expect(self, found: term.Term, expected: Type, blame: Blame | None = None) -> term.Term:
        """`found` if it has the expected type; else the fault is reported and the term is poisoned."""
        if self.unify(found.type, expected, found.span, blame):
            return found
        return self.faulty(found.span)

    def unify(self, found: Type, expected: Type, span: Span, blame: Blame | None = None) -> bool:
        if found is expected:
            return True
        unifier = Unifier(self.solver)
        self.solver.place = span
        try:
            unifier.types(found, expected)
        except Mismatch as mismatch:
            diagnostic = mismatch_diagnostic(
                self.shower, mismatch, found, expected, span, self.blame_labels(blame)
            )
            if diagnostic.code in _SIZES:
                fixed = origins.solved_names(self.solver, (expected, found))
                sizes = [d for d in (mismatch.left, mismatch.right) if isinstance(d, Dim)]
                diagnostic = self.with_origins(diagnostic, fixed, (span,), sizes)
            self.fault = self.report(diagnostic)
            if mismatch.unmet is not None:  # it is told, and would be told again for each use
                self.solver.set_type(*mismatch.unmet)
            return False
        if unifier.later:
            labels = self.blame_labels(blame)
            for left, right in unifier.later:
                self.equations.append(Equation(left, right, span, labels))
        return True

    def unify_dims(
        self,
        left: Dim,
        right: Dim,
        span: Span,
        labels: tuple[Label, ...] = (),
        refuse: Refuse | None = None,
    ) -> bool:
        """The two sizes are equal. `refuse` makes the message when they differ by a number."""
        equation = Equation(left, right, span, labels, refuse)
        self.solver.place = span
        answer = self.solver.solve_dim(left, right)
        if answer is Answer.YES:
            return True
        left, right = self.solver.known_dim(left), self.solver.known_dim(right)
        if answer is Answer.UNDECIDED and any(n[0] == "?" for n in left.names | right.names):
            self.equations.append(equation)
            return True
        self.report_equation(equation, answer)
        return False

    def report_equation(self, equation: Equation, answer: Answer) -> None:
        left, right = self.solver.known_dim(equation.left), self.solver.known_dim(equation.right)
        left, right = self.shower.dim(left), self.shower.dim(right)
        special = equation.refuse(left, right, answer) if equation.refuse is not None else None
        if special is not None:
            diagnostic = special
        elif answer is Answer.NO:
            diagnostic = errors_shapes.sizes(equation.span, left, right, equation.labels)
        else:
            diagnostic = errors_shapes.undecided(equation.span, left, right, equation.labels)
        fixed = origins.solved_names(self.solver, (equation.left, equation.right))
        places = tuple(label.span for label in equation.labels)
        fixed += tuple(label for place in places for label in origins.inside(self.solver, place))
        self.fault = self.report(self.with_origins(diagnostic, fixed, places, (left, right)))

    def with_origins(
        self,
        diagnostic: Diagnostic,
        fixed: tuple[Label, ...],
        places: tuple[Span, ...],
        sizes: Sequence[Dim],
    ) -> Diagnostic:
        """The message with the places where its sizes come from, those that `fixed` names first."""
        trail = origins.Trail(self.solver, self.scope, self.locals, self.written, self.made, sizes)
        known = set(diagnostic.labels)
        more = [label for label in dict.fromkeys((*fixed, *trail.of(places))) if label not in known]
        return replace(diagnostic, labels=diagnostic.labels + tuple(more[: origins.MOST]))

    def require(self, item: Type, constraint: Constraint, span: Span) -> bool:
        try:
            Unifier(self.solver).require(item, constraint)
        except Mismatch:
            self.report(errors_types.constraint(span, self.show(item), constraint))
            return False
        return True

    # ---- reports ---------------------------------------------------------------------------------------------------

    def report(self, diagnostic: Diagnostic) -> Reported:
        if diagnostic.severity is Severity.ERROR:
            self.failed = True
        return self.diagnostics.report(diagnostic)

    def refuse(self, span: Span, diagnostic: Diagnostic) -> term.Term:
        """A term that stands for an expression whose fault is reported now."""
        return self.poisoned(span, self.report(diagnostic))

    def faulty(self, span: Span) -> term.Term:
        """A term that stands for an expression in which `fault` was told."""
        assert self.fault is not None
        return self.poisoned(span, self.fault)

    def poisoned(self, span: Span, reported: Reported) -> term.Term:
        return term.Local("!", span=span, type=self.solver.poisoned(reported))

    @property
    def shower(self) -> Shower:
        return Shower(self.solver)

    def show(self, item: TypeArgument) -> str:
        return self.shower.text(item)

    def blame_labels(self, blame: Blame | None) -> tuple[Label, ...]:
        if blame is None or not blame.text:
            return ()
        text = blame.text if isinstance(blame.text, str) else blame.text()
        return (Label(blame.span, text),)

    # ---- waiting ---------------------------------------------------------------------------------------------------

    def wait(self, waiting: Waiting) -> None:
        if not waiting.attempt():
            self.waiting.append(waiting)

    def settle(self) -> None:
        """Tries everything that waits until nothing more is learned."""
        while self.waiting or self.equations:
            if self.seen == self.solver.progress:
                return
            self.seen = self.solver.progress
            pending, self.waiting = self.waiting, []
            kept = [w for w in pending if not w.attempt()]
            self.waiting = kept + self.waiting
            equations, self.equations = self.equations, []
            for equation in equations:
                self.unify_dims(
                    equation.left, equation.right, equation.span, equation.labels, equation.refuse
                )

    def resolved(self, item: Type) -> Type:
        """The head of a type that is needed now."""
        found = self.solver.head(item)
        if isinstance(found, TypeVar) and found.name[0] == "?" and self.waiting:
            self.settle()
            found = self.solver.head(found)
        return found

    def is_open(self, item: Type) -> bool:
        found = self.solver.head(item)
        return isinstance(found, TypeVar) and found.name[0] == "?"

    def is_poisoned(self, item: Type) -> bool:
        found = self.solver.head(item)
        return isinstance(found, TypeVar) and found.name[0] == "!"

    def require_dtype(
        self, element: Element, allowed: frozenset[Dtype], indexes: bool, operation: str, span: Span
    ) -> None:
        """`element` is one of `allowed`, checked when the definition is finished (E0404)."""
        self.dtype_checks.append((element, allowed, indexes, operation, span))

    # ---- scope -----------------------------------------------------------------------------------------------------

    @contextmanager
    def binding(self, names: Mapping[str, Entry]) -> Iterator[None]:
        """`names` in scope; each that hides something but a prelude name is reported."""
        outer = self.locals
        for name, entry in names.items():
            self.claim(name, entry.span)
        self.locals = {**outer, **names}
        try:
            yield
        finally:
            self.locals = outer

    def claim(self, name: str, span: Span) -> None:
        hidden = self.locals.get(name)
        if hidden is not None:
            self.report(errors_names.hides(span, name, hidden.span))
            return
        outer = self.scope.values.get(name)
        if outer is not None:
            self.report(errors_names.hides(span, name, outer.span))

    def lookup(self, name: str) -> Entry | Value | None:
        found = self.locals.get(name)
        if found is not None:
            return found
        value = self.scope.value(name)
        if value is not None:
            self.scope.used.add(value.symbol)
        return value

    def reader(self) -> TypeReader:
        return TypeReader(self.scope, self.report, self.variables, self.require_model)

    def require_model(self, model: ModelEntity, dims: tuple[Dim, ...], span: Span) -> None:
        """The equations of a model hold where its type is written."""
        if not model.where:
            return
        values = dict(zip(model.dims, dims, strict=True))
        self.require_where(model.where, values, span)

    def require_where(
        self, where: Where, arguments: Mapping[str, TypeArgument], span: Span
    ) -> None:
        for name, dim in where:
            left = arguments.get(name)
            if isinstance(left, Dim):
                text = f"`where {name} = {dim}`"
                self.unify_dims(left, in_dim(dim, arguments), span, (Label(span, text),))

    def annotation(self, node: tree.Type) -> Type:
        """The type of a parameter's annotation; names first seen in it are rigid from here on."""
        before = set(self.variables.kinds)
        scan_kinds(node, self.scope, self.variables.kinds)
        type_ = self.reader().read(node)
        for name, kind in self.variables.kinds.items():
            if name not in before:
                self.rigid.append((name, kind))
                if kind is Kind.DIM:
                    self.claim(name, node.span)
                    self.locals = {**self.locals, name: Dimension(node.span)}
        return type_

    # ---- schemes ---------------------------------------------------------------------------------------------------

    def instantiate(
        self, scheme: Scheme, span: Span, where: Where = ()
    ) -> tuple[Type, tuple[TypeArgument, ...]]:
        """A use of a scheme: its type, and the unknowns it passes."""
        if not scheme.variables:
            return scheme.type, ()
        solver = self.solver
        arguments: dict[str, TypeArgument] = {}
        for name, kind in scheme.variables:
            arguments[name] = solver.fresh(kind, span, name)
        constrained = _constraints(scheme)
        for name, constraint in constrained.items():
            unknown = arguments[name]
            assert isinstance(unknown, TypeVar)
            solver.unknowns[unknown.name].constraints = frozenset({constraint})
        type_ = in_type(scheme.type, arguments)
        if where:
            self.require_where(where, arguments, span)
        return type_, tuple(arguments.values())

    def name_serial(self) -> int:
        self.serial += 1
        return self.serial


def _constraints(scheme: Scheme) -> dict[str, Constraint]:
    """The constrained variables; their names say it, so only few schemes need a walk."""
    found: dict[str, Constraint] = {}
    for name, kind in scheme.variables:
        if kind is Kind.TYPE:
            for constraint in Constraint:
                rest = name.removeprefix(constraint.value)
                if rest != name and not rest.strip("0123456789'"):
                    found[name] = constraint
    return found


def scalar(element: Element) -> Tensor:
    return Tensor(element, Shape(()))

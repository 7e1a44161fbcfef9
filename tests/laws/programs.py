"""Whole modules as random trees: every node of `alpha.syntax.tree`, in any combination that can be written.

The trees are what a parser may yield, not well-typed programs. Their spans point nowhere. `modules` is the Hypothesis
strategy; it draws a seed, a number of declarations and a depth, so that what fails shrinks to few and shallow ones.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

from hypothesis import strategies as st

from alpha.base.span import Source, Span
from alpha.syntax import numbers, texts
from alpha.syntax import tree as t

T = TypeVar("T")
NOWHERE = Span(Source("generated.alpha", ""), 0, 0)

_LOWER = [
    "a", "b", "x", "key", "net", "image", "rate", "loss'", "m''", "headDim", "n_1", "items", "from", "to", "at",
    "every", "most", "on", "width", "step", "tokens", "cast",
]  # fmt: skip
_UPPER = [
    "Tensor", "List", "Digits", "Some", "Mlp", "E0412", "A", "T_1", "Batch", "Key",
]  # fmt: skip
_FACTS = [
    "memory-bytes", "cpu-level", "x", "video-memory-bytes", "sm86-command-stream", "from", "a-b2-c",
]  # fmt: skip
_TEXTS = [
    "",
    "a",
    'say "x"',
    "tab\there",
    "line\nend",
    "back\\slash",
    "é→😀",
    "\u202e",
    "-- no comment",
    "--| no doc",
    "{x}",
]
_DOCS = ["What it is.", "", "`code` and --| more", "  indented", "ünï", "--", "trailing \\"]
_OPERATORS = [
    "^",
    "*",
    "/",
    "//",
    "%",
    "@",
    "+",
    "-",
    "++",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "and",
    "or",
]
_UNITS = [" GiB", "GiB", " B", "B/s", " GB/s", "kHz", " Hz", " TFLOP/s", "FLOP"]


class Programs:
    """Random trees. `depth` bounds how deep expressions, types and patterns go."""

    def __init__(self, random: Random, depth: int = 3) -> None:
        self.random = random
        self.depth = depth

    # ---- parts -----------------------------------------------------------------------------------------------------

    def some(self, make: Callable[[], T], least: int = 1, most: int = 3) -> tuple[T, ...]:
        return tuple(make() for _ in range(self.random.randint(least, most)))

    def maybe(self, make: Callable[[], T]) -> T | None:
        return make() if self.random.random() < 0.4 else None

    def lower(self) -> str:
        return self.random.choice(_LOWER)

    def upper(self) -> str:
        return self.random.choice(_UPPER)

    def name(self) -> t.Name:
        return t.Name(self.lower(), span=NOWHERE)

    def type_name(self) -> t.Name:
        return t.Name(self.upper(), span=NOWHERE)

    def any_name(self) -> t.Name:
        return self.random.choice([self.name, self.type_name])()

    def docs(self) -> tuple[str, ...]:
        return (
            self.some(lambda: self.random.choice(_DOCS), 0, 2) if self.random.random() < 0.3 else ()
        )

    def digits(self) -> str:
        value = self.random.choice([0, 7, 42, 1_024, self.random.randrange(10**12)])
        return self.random.choice([str(value), f"{value:_}"])

    def whole(self) -> str:
        return self.random.choice([self.digits(), f"0x{self.random.randrange(1 << 40):X}"])

    def point(self) -> str:
        return f"{self.digits()}.{self.random.choice(['0', '5', '0625', '70710677'])}"

    def written(self, node: Callable[..., Any], form: str, value: Callable[[str], Any]) -> Any:
        return node(value(form), form, span=NOWHERE)

    def integer(self) -> t.Int:
        return self.written(t.Int, self.whole(), numbers.integer)

    def float_(self) -> t.Float:
        form = self.random.choice([self.point(), "3e-4", "1e9", "1.5e3", self.point() + "e+12"])
        return self.written(t.Float, form, numbers.decimal)

    def text(self, node: Callable[..., Any] = t.Text) -> Any:
        form = self.random.choice(
            [texts.literal(self.random.choice(_TEXTS)), '"\\u{1F600}"', '"\\u{41}\\n"']
        )
        return self.written(node, form, texts.value_of)

    def quantity(self) -> t.Quantity:
        number = self.random.choice([self.digits, self.point])()
        form = number + self.random.choice([*_UNITS, *numbers.TIGHT_UNITS])
        return t.Quantity(*numbers.quantity(form), form, span=NOWHERE)

    def one_of(self, depth: int, leaves: list[Callable[[], T]], inner: list[Callable[[], T]]) -> T:
        """A leaf at depth 0; else mostly something with parts."""
        deep = depth > 0 and self.random.random() < 0.8
        return self.random.choice(inner if deep else leaves)()

    # ---- types and shapes ------------------------------------------------------------------------------------------

    def dim(self, depth: int = 2) -> t.Dim:
        def binary() -> t.Dim:
            operator = self.random.choice(["+", "-", "*", "//", "%"])
            return t.DimBinary(operator, self.dim(depth - 1), self.dim(depth - 1), span=NOWHERE)

        leaves = [
            lambda: t.DimVar(self.lower(), span=NOWHERE),
            lambda: self.written(t.DimInt, self.whole(), numbers.integer),
        ]
        return self.one_of(depth, leaves, [binary, *leaves])

    def shape(self) -> t.TDims:
        def item() -> t.Dim | t.Spread:
            return (
                t.Spread(self.lower(), span=NOWHERE) if self.random.random() < 0.2 else self.dim()
            )

        return t.TDims(self.some(item, 0), span=NOWHERE)

    def type(self, depth: int = 2) -> t.Type:
        def inner() -> t.Type:
            return self.type(depth - 1)

        return self.one_of(
            depth,
            [
                lambda: t.TVar(self.lower(), span=NOWHERE),
                lambda: t.TCon(self.some(self.type_name, 1, 2), span=NOWHERE),
                lambda: self.written(t.TInt, self.whole(), numbers.integer),
                self.shape,
            ],
            [
                lambda: t.TApply(inner(), self.some(inner), span=NOWHERE),
                lambda: t.TApply(
                    t.TCon((self.type_name(),), span=NOWHERE), self.some(inner), span=NOWHERE
                ),
                lambda: t.TArrow(inner(), inner(), span=NOWHERE),
                lambda: t.TTuple(self.some(inner, 2), span=NOWHERE),
                lambda: self.record_type(depth - 1),
            ],
        )

    def record_type(self, depth: int = 1) -> t.TRecord:
        return t.TRecord(
            self.some(lambda: t.TField(self.name(), self.type(depth), span=NOWHERE)), span=NOWHERE
        )

    def equations(self) -> tuple[t.Equation, ...]:
        return self.some(lambda: t.Equation(self.name(), self.dim(), span=NOWHERE), 0, 2)

    # ---- patterns --------------------------------------------------------------------------------------------------

    def pattern(self, depth: int = 2) -> t.Pattern:
        def inner() -> t.Pattern:
            return self.pattern(depth - 1)

        leaves: list[Callable[[], t.Pattern]] = [
            lambda: t.PVar(self.lower(), span=NOWHERE),
            lambda: t.PWild(span=NOWHERE),
            lambda: self.written(t.PInt, self.whole(), numbers.integer),
            lambda: self.text(t.PText),
            lambda: self.written(t.PInt, "-" + self.whole(), _negative),
            lambda: t.PCon((self.type_name(),), (), span=NOWHERE),
        ]
        parts: list[Callable[[], t.Pattern]] = [
            lambda: t.PCon(self.some(self.type_name), self.some(inner), span=NOWHERE),
            lambda: t.PTuple(self.some(inner, 2), span=NOWHERE),
        ]
        return self.one_of(depth, leaves, [*parts, *leaves])

    def parameter(self, depth: int = 1) -> t.Pattern:
        return self.one_of(
            depth,
            [
                lambda: t.PVar(self.lower(), span=NOWHERE),
                lambda: t.PWild(span=NOWHERE),
                lambda: t.PAnnotated(self.name(), self.type(1), span=NOWHERE),
            ],
            [
                lambda: t.PVar(self.lower(), span=NOWHERE),
                lambda: t.PTuple(self.some(lambda: self.parameter(depth - 1), 2), span=NOWHERE),
            ],
        )

    # ---- expressions -----------------------------------------------------------------------------------------------

    def leaf(self) -> t.Expr:
        return self.random.choice(
            [
                lambda: t.Var(self.lower(), span=NOWHERE),
                lambda: t.Con(self.upper(), span=NOWHERE),
                self.integer,
                self.float_,
                self.quantity,
                self.text,
                lambda: t.Accessor(self.lower(), span=NOWHERE),
            ]
        )()

    def expr(self, depth: int | None = None) -> t.Expr:
        depth = self.depth if depth is None else depth

        def inner() -> t.Expr:
            return self.expr(depth - 1)

        def block() -> t.Body:
            return self.body(depth - 1)

        def index() -> t.Expr | t.Slice:
            if self.random.random() < 0.4:
                return t.Slice(self.maybe(inner), self.maybe(inner), span=NOWHERE)
            return inner()

        def binary() -> t.Expr:
            return t.Binary(self.random.choice(_OPERATORS), inner(), inner(), NOWHERE, span=NOWHERE)

        def record() -> t.Expr:
            fields = self.some(lambda: t.Field(self.name(), block(), span=NOWHERE))
            return t.RecordExpr(self.maybe(self.name), fields, span=NOWHERE)

        def match() -> t.Expr:
            arms = self.some(lambda: t.Arm(self.pattern(), block(), span=NOWHERE))
            return t.Match(inner(), arms, span=NOWHERE)

        def einsum() -> t.Expr:
            operands = self.some(
                lambda: t.Access(self.some(self.name, 1, 2), self.some(index), span=NOWHERE)
            )
            return t.Einsum(operands, t.ListExpr(self.some(inner, 0), span=NOWHERE), span=NOWHERE)

        return self.one_of(
            depth,
            [self.leaf],
            [
                lambda: t.ListExpr(self.some(inner, 0), span=NOWHERE),
                lambda: t.TupleExpr(self.some(inner, 2), span=NOWHERE),
                record,
                lambda: t.Select(inner(), self.any_name(), span=NOWHERE),
                lambda: t.Bracket(inner(), self.some(index), span=NOWHERE),
                lambda: t.Apply(inner(), self.some(inner), span=NOWHERE),
                lambda: t.Unary(self.random.choice(["-", "not"]), inner(), span=NOWHERE),
                binary,
                binary,
                lambda: t.Pipe(inner(), inner(), span=NOWHERE),
                lambda: t.Fn(self.some(self.parameter), block(), span=NOWHERE),
                lambda: t.If(inner(), block(), block(), span=NOWHERE),
                match,
                einsum,
            ],
        )

    def body(self, depth: int | None = None) -> t.Body:
        depth = self.depth if depth is None else depth

        def let() -> t.Let | t.LetFn:
            value = self.body(depth - 1)
            if self.random.random() < 0.5:
                annotation = self.maybe(lambda: self.type(1))
                return t.Let(self.pattern(), annotation, value, span=NOWHERE)
            return t.LetFn(self.name(), self.some(self.parameter), value, span=NOWHERE)

        lets = self.some(let) if depth > 0 and self.random.random() < 0.3 else ()
        return t.Body(lets, self.expr(depth), span=NOWHERE)

    # ---- declarations ----------------------------------------------------------------------------------------------

    def item(self, node: Callable[..., T], *parts: Any) -> T:
        return node(*parts, docs=self.docs(), span=NOWHERE)

    def define(self) -> t.Define:
        return self.item(t.Define, self.name(), self.some(self.parameter, 0), self.body())

    def entry(self) -> t.Define:
        return self.item(t.Define, self.name(), (), self.body())

    def signature(self) -> t.Signature:
        return self.item(t.Signature, self.name(), self.type(), self.equations())

    def fact(self) -> t.Fact:
        kind = self.random.choice(["supply", "estimate", "identity"])
        name = t.Name(self.random.choice(_FACTS), span=NOWHERE)
        return self.item(t.Fact, kind, name, self.expr(1), self.type_name(), self.expr(1))

    def model_item(self) -> t.Parameter | t.Signature | t.Define:
        def parameter() -> t.Parameter:
            return self.item(
                t.Parameter, self.some(self.name), self.type(), self.maybe(lambda: self.expr(1))
            )

        return self.random.choice([parameter, self.signature, self.define])()

    def optimizer_item(self) -> t.Slot | t.Signature | t.Define:
        slot = lambda: self.item(t.Slot, self.name(), self.expr(1))  # noqa: E731
        return self.random.choice([slot, self.signature, self.define])()

    def learner_item(self) -> t.Metric | t.Signature | t.Define:
        metric = lambda: self.item(t.Metric, self.name(), self.some(self.parameter, 0), self.body())  # noqa: E731
        return self.random.choice([metric, self.signature, self.define, self.entry])()

    def act(self, depth: int = 1) -> t.Act:
        acts: list[Callable[[], t.Act]] = [
            lambda: t.Write(self.some(self.name), span=NOWHERE),
            lambda: t.Read(self.some(self.name), self.maybe(lambda: self.expr(1)), span=NOWHERE),
            lambda: t.Submit(self.name(), self.maybe(self.name), span=NOWHERE),
            lambda: t.Reissue(self.type_name(), self.quantity(), self.integer(), span=NOWHERE),
        ]
        if depth:
            every = self.maybe(lambda: self.expr(1))
            acts.append(
                lambda: t.Repeat(
                    self.expr(1), every, self.some(lambda: self.act(depth - 1)), span=NOWHERE
                )
            )
        return self.random.choice(acts)()

    def host_item(self) -> t.Region | t.Recipe | t.HostScalar | t.Contract | t.Schedule | t.Define:
        regions = t.ListExpr(self.some(lambda: self.expr(0), 0), span=NOWHERE)
        return self.random.choice(
            [
                lambda: self.item(t.Region, self.name(), self.type(1), self.expr(1)),
                lambda: self.item(t.Recipe, self.name(), self.expr(1), regions),
                lambda: self.item(t.HostScalar, self.name(), self.type(1), self.expr(1)),
                lambda: self.item(t.Contract, self.name(), self.body(1)),
                lambda: self.item(t.Schedule, self.some(self.act)),
                self.entry,
            ]
        )()

    def type_head(self) -> tuple[t.Name, tuple[t.Name, ...], t.TDims | None]:
        return self.type_name(), self.some(self.name, 0), self.maybe(self.shape)

    def declaration(self) -> t.Import | t.Decl:
        choice, item, some = self.random.choice, self.item, self.some

        def variant() -> t.Variant:
            return t.Variant(self.type_name(), some(lambda: self.type(1), 0), span=NOWHERE)

        def type_decl() -> t.TypeDecl:
            body = choice([self.record_type, lambda: some(variant)])()
            return item(t.TypeDecl, *self.type_head(), body)

        def profile_item() -> t.Fact | t.Include:
            return choice([self.fact, lambda: item(t.Include, self.name())])()

        code = f"E{self.random.randrange(10_000):04}"
        path = some(self.type_name, 1, 2)
        return choice(
            [
                type_decl,
                lambda: item(t.AliasDecl, *self.type_head(), self.type()),
                self.signature,
                self.define,
                lambda: item(t.SourceDecl, self.name(), self.body(1)),
                lambda: item(t.ProofDecl, choice(["proof", "test"]), self.name(), self.body()),
                lambda: item(t.RejectsDecl, code, self.name(), self.body()),
                lambda: item(t.FactsDecl, self.name(), some(self.fact)),
                lambda: item(t.ProfileDecl, self.name(), self.type(1), some(profile_item)),
                lambda: item(
                    t.ModelDecl,
                    self.type_name(),
                    self.shape(),
                    self.equations(),
                    some(self.model_item),
                ),
                lambda: item(
                    t.OptimizerDecl, self.name(), some(self.parameter, 0), some(self.optimizer_item)
                ),
                lambda: item(t.LearnerDecl, self.name(), some(self.learner_item)),
                lambda: item(t.PolicyDecl, self.name(), some(self.entry)),
                lambda: item(t.PairingDecl, self.name(), some(self.entry)),
                lambda: item(t.HostDecl, self.name(), self.type(1), some(self.host_item)),
                lambda: item(t.Import, path, self.maybe(self.type_name), some(self.any_name, 0)),
            ]
        )()

    def module(self, declarations: int = 3) -> t.Module:
        exposing = self.maybe(lambda: self.some(self.any_name, 1, 12))
        budget = self.maybe(lambda: self.random.randrange(10**9))
        items = tuple(self.declaration() for _ in range(declarations))
        path = self.some(self.type_name)
        return t.Module(path, exposing, budget, items, (), docs=self.docs(), span=NOWHERE)


def _negative(form: str) -> int:
    return -numbers.integer(form[1:])


def module_from(seed: int, declarations: int, depth: int) -> t.Module:
    return Programs(Random(seed), depth).module(declarations)


modules = st.builds(module_from, st.integers(0, 2**32), st.integers(0, 6), st.integers(0, 4))

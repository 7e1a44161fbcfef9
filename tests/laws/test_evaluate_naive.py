"""The explicit-stack machine agrees with an evaluator that recurses as the term is written (law 4)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import core_builder as c
from alpha.core import term as core
from alpha.core.types import Type
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate.scope import Scope
from alpha.evaluate.values import ListValue, Scalar, TupleValue, Value, Variant

Env = Mapping[str, Type]
Draw = st.DrawFn

INTS = c.list_of(c.INT)
PAIR = c.TupleType((c.INT, c.INT))
MAYBE = c.Named("Maybe", (c.INT,))


class Stopped(Exception):
    """The naive evaluator met a fault; the text is its code."""


# ---- generated terms, well typed by construction --------------------------------------------------------------------


class Builder:
    """Draws terms of a wanted type. What is not chosen is never drawn, so a deep term costs no more than its size."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw

    def term(self, type: Type, env: Env, depth: int) -> core.Term:
        names = [name for name, held in env.items() if held == type]
        kind = self.draw(st.integers(0, 9))
        if depth == 0 or kind < 2:
            if names and kind % 2:
                return c.local(self.draw(st.sampled_from(names)), type)
            return self.leaf(type)
        if kind < 6:
            return self.any(type, env, depth - 1)
        return self.of_type(type, env, depth - 1)

    def leaf(self, type: Type) -> core.Term:
        if type == c.INT:
            return c.integer(self.draw(st.integers(-5, 20)))
        if type == c.BOOL:
            return c.boolean(self.draw(st.booleans()))
        if type == INTS:
            values = self.draw(st.lists(st.integers(-3, 9), max_size=4))
            return c.list_([c.integer(value) for value in values], c.INT)
        if type == PAIR:
            return c.tuple_(c.integer(self.draw(st.integers(0, 9))), c.integer(3))
        return core.Constructor(name="None", type=MAYBE, span=c.SPAN)

    def any(self, type: Type, env: Env, depth: int) -> core.Term:
        """A form that a term of every type may have."""
        fresh, other = f"v{len(env)}", f"w{len(env)}"
        match self.draw(st.integers(0, 4)):
            case 0:
                bound = self.draw(st.sampled_from([c.INT, INTS, PAIR]))
                value = self.term(bound, env, depth)
                return c.let(fresh, value, self.term(type, {**env, fresh: bound}, depth))
            case 1:
                condition = self.term(c.BOOL, env, depth)
                return c.if_(condition, self.term(type, env, depth), self.term(type, env, depth))
            case 2:
                body = self.term(type, {**env, fresh: c.INT}, depth)
                argument = self.term(c.INT, env, depth)
                return c.apply(c.lambda_([(fresh, c.INT)], body), argument, type=type)
            case 3:
                inner = {**env, fresh: c.INT, other: c.INT}
                return _on_pair(
                    fresh, other, self.term(PAIR, env, depth), self.term(type, inner, depth)
                )
            case _:
                none = self.term(type, env, depth)
                some = self.term(type, {**env, fresh: c.INT}, depth)
                return _on_maybe(fresh, self.term(MAYBE, env, depth), none, some)

    def of_type(self, type: Type, env: Env, depth: int) -> core.Term:
        """A form that only terms of this type have."""
        fresh, other = f"v{len(env)}", f"w{len(env)}"
        inside = {**env, fresh: c.INT}

        def of(wanted: Type) -> core.Term:
            return self.term(wanted, env, depth)

        if type == c.INT:
            name = self.draw(
                st.sampled_from(["add", "sub", "mul", "floorDiv", "rem", "length", "fold"])
            )
            if name == "length":
                return c.call(name, of(INTS), type=c.INT)
            if name == "fold":
                body = self.term(c.INT, {**inside, other: c.INT}, depth)
                step = c.lambda_([(fresh, c.INT), (other, c.INT)], body)
                return c.call(name, of(c.INT), step, of(INTS), type=c.INT)
            return c.call(name, of(c.INT), of(c.INT), type=c.INT)
        if type == c.BOOL:
            name = self.draw(
                st.sampled_from(["less", "greaterEqual", "equal", "lists", "and", "or"])
            )
            if name == "lists":
                return c.call("equal", of(INTS), of(INTS), type=c.BOOL)
            operand = c.BOOL if name in ("and", "or") else c.INT
            return c.call(name, of(operand), of(operand), type=c.BOOL)
        if type == INTS:
            name = self.draw(st.sampled_from(["map", "filter", "append", "sort", "range"]))
            if name in ("map", "filter"):
                result = c.INT if name == "map" else c.BOOL
                function = c.lambda_([(fresh, c.INT)], self.term(result, inside, depth))
                return c.call(name, function, of(INTS), type=INTS)
            if name == "append":
                return c.call(name, of(INTS), of(INTS), type=INTS)
            if name == "sort":
                return c.call(name, of(INTS), type=INTS)
            ends = (self.draw(st.integers(-3, 3)), self.draw(st.integers(-3, 9)))
            return c.call(name, *map(c.integer, ends), type=INTS)
        if type == PAIR:
            return c.tuple_(of(c.INT), of(c.INT))
        some = core.Constructor(name="Some", type=c.function(c.INT, MAYBE), span=c.SPAN)
        return c.apply(some, of(c.INT), type=MAYBE)


@st.composite
def any_term(draw: Draw) -> core.Term:
    type = draw(st.sampled_from([c.INT, c.BOOL, INTS, PAIR, MAYBE]))
    return Builder(draw).term(type, {}, 4)


def _on_pair(first: str, second: str, pair: core.Term, body: core.Term) -> core.Term:
    pattern = core.MatchTuple((core.Bind(first, c.INT), core.Bind(second, c.INT)))
    return core.Let(pattern=pattern, value=pair, body=body, type=body.type, span=c.SPAN)


def _on_maybe(name: str, value: core.Term, none: core.Term, some: core.Term) -> core.Term:
    arms = (
        core.Arm(core.MatchConstructor("None", ()), none),
        core.Arm(core.MatchConstructor("Some", (core.Bind(name, c.INT),)), some),
    )
    return core.Match(value=value, arms=arms, type=none.type, span=c.SPAN)


# ---- the naive evaluator --------------------------------------------------------------------------------------------


def _divide(decide: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def run(a: int, b: int) -> int:
        if b == 0:
            raise Stopped("E0504")
        return decide(a, b)

    return run


INTRINSICS: dict[str, Callable[..., object]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floorDiv": _divide(operator.floordiv),
    "rem": _divide(operator.mod),
    "less": operator.lt,
    "lessEqual": operator.le,
    "greater": operator.gt,
    "greaterEqual": operator.ge,
    "equal": operator.eq,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "append": operator.add,
    "length": len,
    "sort": sorted,
    "range": lambda low, high: list(range(low, high)),
    "map": lambda f, items: [f(item) for item in items],
    "filter": lambda f, items: [item for item in items if f(item)],
}


def _fold(result: object, function: Callable[..., object], items: list[object]) -> object:
    for item in items:
        result = function(result, item)
    return result


def naive(term: core.Term, env: Mapping[str, object]) -> object:
    match term:
        case core.Local():
            return env[term.name]
        case core.Literal():
            return term.value
        case core.Constructor():
            return {"True": True, "False": False, "None": None, "Some": lambda x: (x, "Some")}[
                term.name
            ]
        case core.Intrinsic():
            return _fold if term.name == "fold" else INTRINSICS[term.name]
        case core.Lambda():
            names = [p.name for p in term.parameters if isinstance(p, core.Bind)]
            return lambda *given: naive(term.body, {**env, **dict(zip(names, given, strict=True))})
        case core.Apply():
            function = naive(term.function, env)
            assert callable(function)
            return function(*[naive(argument, env) for argument in term.arguments])
        case core.Let():
            value = naive(term.value, env)
            match term.pattern:
                case core.Bind(name):
                    return naive(term.body, {**env, name: value})
                case core.MatchTuple((core.Bind(first), core.Bind(second))):
                    a, b = value  # type: ignore[misc]
                    return naive(term.body, {**env, first: a, second: b})
            raise AssertionError(term.pattern)
        case core.If():
            return naive(term.then if naive(term.condition, env) else term.otherwise, env)
        case core.Match():
            value = naive(term.value, env)
            none, some = term.arms
            if value is None:
                return naive(none.body, env)
            assert isinstance(some.pattern, core.MatchConstructor)
            (bind,) = some.pattern.arguments
            assert isinstance(bind, core.Bind)
            return naive(some.body, {**env, bind.name: value[0]})  # type: ignore[index]
        case core.ListTerm():
            return [naive(item, env) for item in term.items]
        case core.TupleTerm():
            return tuple(naive(item, env) for item in term.items)
        case _:
            raise AssertionError(type(term))


def plain(value: Value) -> object:
    match value:
        case ListValue(items):
            return [plain(item) for item in items]
        case TupleValue(items):
            return tuple(plain(item) for item in items)
        case Scalar(_, held):
            return held
        case Variant("None"):
            return None
        case Variant("Some", (item,)):
            return (plain(item), "Some")
        case _:
            return value


# ---- the laws -------------------------------------------------------------------------------------------------------


@given(any_term())
def test_the_machine_agrees_with_a_naive_evaluator(term: core.Term) -> None:
    try:
        expected = naive(term, {})
    except Stopped as fault:
        expected = fault.args[0]
    try:
        found = plain(c.run(term))
    except Refused as refused:
        found = refused.diagnostics[0].code
    assert found == expected


@pytest.mark.slow
@given(any_term())
def test_the_count_of_a_term_never_varies(term: core.Term) -> None:
    counts = set()
    for _ in range(2):
        machine = c.machine()
        with suppress(Refused):
            machine.evaluate(term, Scope({}), "Main.it")
        account = machine.account("Main")
        counts.add((account.steps, account.bytes))
    assert len(counts) == 1


@given(any_term(), st.integers(0, 40))
def test_evaluation_stays_in_its_budget(term: core.Term, limit: int) -> None:
    machine = c.machine(c.module("Main", budget=limit))
    free = c.machine()
    try:
        free.evaluate(term, Scope({}), "Main.it")
        needed = free.account("Main").steps
    except Refused:
        return
    try:
        machine.evaluate(term, Scope({}), "Main.it")
        assert needed <= limit
    except Refused as refused:
        assert refused.diagnostics[0].code == "E0502"
        assert needed > limit

"""Evaluation of single terms: known values, staging, keys and the budget."""

from __future__ import annotations

from fractions import Fraction

import pytest

import core_builder as c
from alpha.base.dtype import Dtype, TensorType
from alpha.core import term as core
from alpha.core.dim import Dim
from alpha.core.types import Kind, Scheme, TypeVar
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate.budget import BYTES
from alpha.evaluate.scope import Scope
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import ListValue, Scalar, Staged, TupleValue, Variant


def refused(term: core.Term, *modules: core.Module, staging: Staging | None = None) -> str:
    with pytest.raises(Refused) as caught:
        c.run(term, *modules, staging=staging)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    return diagnostic.code


def add(a: core.Term, b: core.Term) -> core.Term:
    return c.call("add", a, b, type=a.type)


def staged(staging: Staging, *shape: int, dtype: Dtype = Dtype.F32) -> Staged:
    name = f"x{len(staging.builder._inputs)}"
    return Staged(staging.input(name, TensorType(dtype, shape), c.SPAN))


def in_graph(term: core.Term, staging: Staging, **names: Staged) -> object:
    scope: Scope[object] = Scope({}, names)
    return c.machine().evaluate(term, scope, "Main.it", staging)  # type: ignore[arg-type]


class TestKnownValues:
    def test_let_and_arithmetic(self) -> None:
        term = c.let(
            "x", c.integer(6), c.call("mul", c.local("x", c.INT), c.integer(7), type=c.INT)
        )
        assert c.run(term) == 42

    def test_floor_division_rounds_down(self) -> None:
        assert c.run(c.call("floorDiv", c.integer(-7), c.integer(2), type=c.INT)) == -4
        assert c.run(c.call("rem", c.integer(-7), c.integer(2), type=c.INT)) == 1

    @pytest.mark.parametrize("name", ["floorDiv", "rem", "ceilDiv"])
    def test_division_by_zero_is_refused(self, name: str) -> None:
        assert refused(c.call(name, c.integer(1), c.integer(0), type=c.INT)) == "E0504"

    def test_float_division_by_zero_is_ieee(self) -> None:
        assert c.run(c.call("div", c.number(1), c.number(0), type=c.F32)) == Scalar(
            Dtype.F32, float("inf")
        )

    def test_negative_exponent_is_refused(self) -> None:
        assert refused(c.call("power", c.integer(2), c.integer(-1), type=c.INT)) == "E0404"

    def test_known_scalars_have_the_bits_of_f32(self) -> None:
        tenth = core.Literal(value=Fraction(1, 10), type=c.F32, span=c.SPAN)
        result = c.run(c.call("mul", tenth, c.number(3), type=c.F32))
        assert result == Scalar(Dtype.F32, 0.30000001192092896)

    def test_a_literal_takes_the_dtype_of_a_type_argument(self) -> None:
        body = core.Literal(value=3, type=TypeVar("num"), span=c.SPAN)
        scheme = Scheme((("num", Kind.TYPE),), TypeVar("num"))
        three = core.Definition("Main.three", scheme, body, c.SPAN)
        use = core.Global(symbol="Main.three", arguments=(c.F32,), type=c.F32, span=c.SPAN)
        assert c.run(use, c.module("Main", [three])) == Scalar(Dtype.F32, 3.0)

    def test_a_literal_out_of_range_is_refused(self) -> None:
        byte = core.Literal(value=256, type=c.Tensor(Dtype.U8, c.Shape(())), span=c.SPAN)
        assert refused(byte) == "E0402"

    def test_units_must_agree(self) -> None:
        size = core.Literal(value=core.Amount(Fraction(1), (1, 0, 0)), type=c.AMOUNT, span=c.SPAN)
        time = core.Literal(value=core.Amount(Fraction(1), (0, 1, 0)), type=c.AMOUNT, span=c.SPAN)
        assert refused(add(size, time)) == "E0310"
        ratio = c.run(c.call("div", size, time, type=c.AMOUNT))
        assert ratio == core.Amount(Fraction(1), (1, -1, 0))

    def test_a_feature_is_no_count(self) -> None:
        present = core.Intrinsic(name="present", type=c.AMOUNT, span=c.SPAN)
        one = core.Literal(value=1, type=c.AMOUNT, span=c.SPAN)
        assert refused(c.call("equal", present, one, type=c.BOOL)) == "E0310"

    def test_partial_application_and_more_arguments_than_parameters(self) -> None:
        curried = c.lambda_(
            [("x", c.INT)],
            c.lambda_([("y", c.INT)], add(c.local("x", c.INT), c.local("y", c.INT))),
        )
        assert c.run(c.apply(curried, c.integer(1), c.integer(2), type=c.INT)) == 3
        plus = core.Intrinsic(name="add", type=c.function(c.INT, c.INT, c.INT), span=c.SPAN)
        more = c.apply(plus, c.integer(1), type=c.function(c.INT, c.INT))
        items = c.list_([c.integer(1), c.integer(2)], c.INT)
        mapped = c.run(c.call("map", more, items, type=c.list_of(c.INT)))
        assert mapped == ListValue((2, 3))

    def test_arms_are_tried_in_order(self) -> None:
        some = core.Constructor(name="Some", type=c.function(c.INT, c.INT), span=c.SPAN)
        arms = (
            core.Arm(core.MatchConstructor("None", ()), c.integer(0)),
            core.Arm(core.MatchConstructor("Some", (core.MatchLiteral(1),)), c.integer(10)),
            core.Arm(core.MatchConstructor("Some", (core.Bind("x", c.INT),)), c.local("x", c.INT)),
        )
        value = c.apply(some, c.integer(5), type=c.INT)
        assert c.run(core.Match(value=value, arms=arms, type=c.INT, span=c.SPAN)) == 5

    def test_sort_is_stable_and_ascending(self) -> None:
        items = c.list_([c.integer(n) for n in (3, 1, 2, 1)], c.INT)
        assert c.run(c.call("sort", items, type=items.type)) == ListValue((1, 1, 2, 3))

    def test_record_update_copies_the_other_fields(self) -> None:
        record = core.RecordTerm(
            fields=(("a", c.integer(1)), ("b", c.integer(2))), type=c.Named("Main.R"), span=c.SPAN
        )
        changed = core.Update(
            base=record, fields=(("b", c.integer(3)),), type=record.type, span=c.SPAN
        )
        assert c.run(core.Select(value=changed, field="a", type=c.INT, span=c.SPAN)) == 1
        assert c.run(core.Select(value=changed, field="b", type=c.INT, span=c.SPAN)) == 3

    def test_dimensions_are_numbers(self) -> None:
        name = Dim.variable("n")
        body = core.DimValue(dim=name * name + Dim.constant(1), type=c.INT, span=c.SPAN)
        scope: Scope[object] = Scope({"n": Dim.constant(4)})
        assert c.machine().evaluate(body, scope, "Main.it") == 17  # type: ignore[arg-type]


class TestStaging:
    def test_a_scalar_is_broadcast_to_the_tensor(self) -> None:
        staging = Staging()
        result = in_graph(
            add(c.local("x", c.f32(2, 3)), c.number(1)), staging, x=staged(staging, 2, 3)
        )
        assert isinstance(result, Staged)
        x, one = result.node.operands
        assert (x.operation, one.operation) == ("input", "broadcast")
        assert result.node.type == TensorType(Dtype.F32, (2, 3))

    def test_a_lower_rank_is_broadcast_along_the_leading_axes(self) -> None:
        staging = Staging()
        result = in_graph(
            add(c.local("b", c.f32(3)), c.local("x", c.f32(2, 3))),
            staging,
            b=staged(staging, 3),
            x=staged(staging, 2, 3),
        )
        assert isinstance(result, Staged)
        assert [node.operation for node in result.node.operands] == ["broadcast", "input"]

    def test_an_if_on_a_staged_value_is_refused(self) -> None:
        staging = Staging()
        condition = c.call("less", c.local("x", c.F32), c.number(0), type=c.BOOL)
        with pytest.raises(Refused) as caught:
            in_graph(c.if_(condition, c.number(1), c.number(2)), staging, x=staged(staging))
        assert caught.value.diagnostics[0].code == "E0409"

    def test_the_trail_names_the_calls_that_led_there(self) -> None:
        condition = c.call("less", c.local("x", c.F32), c.number(0), type=c.BOOL)
        choose = c.lambda_([("x", c.F32)], c.if_(condition, c.number(1), c.number(2)))
        main = c.module("Main", [c.definition("Main.choose", choose)])
        staging = Staging()
        scope: Scope[object] = Scope({}, {"y": staged(staging)})
        use = c.apply(c.reference("Main.choose", choose.type), c.local("y", c.F32), type=c.F32)
        with pytest.raises(Refused) as caught:
            c.machine(main).evaluate(use, scope, "Main.it", staging)  # type: ignore[arg-type]
        assert [label.text for label in caught.value.diagnostics[0].labels] == [
            "`choose` is evaluated here"
        ]

    def test_matmul_of_a_batch_shares_the_leading_axes(self) -> None:
        staging = Staging()
        product = c.call(
            "matmul",
            c.local("a", c.f32(5, 2, 3)),
            c.local("b", c.f32(5, 3, 4)),
            type=c.f32(5, 2, 4),
        )
        result = in_graph(product, staging, a=staged(staging, 5, 2, 3), b=staged(staging, 5, 3, 4))
        assert isinstance(result, Staged)
        assert result.node.type.shape == (5, 2, 4)

    def test_an_einsum_of_three_contracts_from_the_left(self) -> None:
        staging = Staging()
        spec = core.EinsumSpec((("i", "j"), ("j", "k"), ("k", 0)), ("i",))
        shapes = ((2, 3), (3, 4), (4, 5))
        values = {f"x{n}": staged(staging, *shape) for n, shape in enumerate(shapes)}
        operands = [c.local(name, c.f32(*value.node.type.shape)) for name, value in values.items()]
        result = in_graph(
            c.call("einsum", *operands, type=c.f32(2), einsum=spec), staging, **values
        )
        assert isinstance(result, Staged)
        first, _ = result.node.operands
        assert first.type.shape == (2, 4)
        assert result.node.type.shape == (2,)

    def test_subscripts_drop_slice_and_keep(self) -> None:
        staging = Staging()
        items = (
            core.At(Dim.constant(1)),
            core.Range(Dim.constant(0), Dim.constant(2)),
            None,
        )
        term = core.Subscript(
            value=c.local("x", c.f32(2, 3, 4)), items=items, type=c.f32(2, 4), span=c.SPAN
        )
        result = in_graph(term, staging, x=staged(staging, 2, 3, 4))
        assert isinstance(result, Staged)
        assert result.node.type.shape == (2, 4)

    @pytest.mark.parametrize(
        ("item", "code"),
        [
            (core.At(Dim.constant(3)), "E0423"),
            (core.Range(Dim.constant(1), Dim.constant(4)), "E0423"),
            (core.Range(Dim.constant(2), Dim.constant(2)), "E0503"),
        ],
    )
    def test_subscripts_outside_are_refused(self, item: core.At | core.Range, code: str) -> None:
        staging = Staging()
        term = core.Subscript(
            value=c.local("x", c.f32(3)), items=(item,), type=c.f32(1), span=c.SPAN
        )
        with pytest.raises(Refused) as caught:
            in_graph(term, staging, x=staged(staging, 3))
        assert caught.value.diagnostics[0].code == code

    def test_a_staged_count_must_be_known(self) -> None:
        staging = Staging()
        bound = c.call("clamp", c.local("x", c.F32), c.number(1), c.number(2), type=c.F32)
        with pytest.raises(Refused) as caught:
            in_graph(bound, staging, x=staged(staging))
        assert caught.value.diagnostics[0].code == "E0410"

    def test_an_operation_of_a_later_version_is_named(self) -> None:
        staging = Staging()
        size = c.call("bytesOf", c.local("x", c.F32), type=c.F32)
        with pytest.raises(Refused) as caught:
            in_graph(size, staging, x=staged(staging))
        assert caught.value.diagnostics[0].code == "E0011"


class TestKeys:
    KEY = c.call("keyFrom", c.integer(0), type=c.KEY)
    X = c.call("fill", c.number(0), type=c.f32(8), shape=(Dim.constant(8),))

    def draw(self, key: core.Term) -> core.Term:
        return c.call("uniformLike", key, self.X, type=c.f32(8))

    def derive(self, key: core.Term, label: int) -> core.Term:
        return c.call("derive", key, c.number(label, c.U32), type=c.KEY)

    def with_key(self, *uses: core.Term) -> core.Term:
        return c.let("k", self.KEY, c.tuple_(*uses))

    def test_one_draw_is_allowed(self) -> None:
        assert isinstance(c.run(self.draw(self.KEY)), Staged)

    def test_two_draws_are_refused_and_both_shown(self) -> None:
        key = c.local("k", c.KEY)
        with pytest.raises(Refused) as caught:
            c.run(self.with_key(self.draw(key), self.draw(key)))
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "E0601"
        assert [label.text for label in diagnostic.labels] == ["first used here"]

    def test_drawn_and_derived_is_refused(self) -> None:
        key = c.local("k", c.KEY)
        assert refused(self.with_key(self.draw(key), self.derive(key, 1))) == "E0602"

    def test_split_twice_is_refused(self) -> None:
        key = c.local("k", c.KEY)
        halves = c.TupleType((c.KEY, c.KEY))
        split = c.call("split", key, type=halves)
        assert refused(self.with_key(split, split)) == "E0601"

    def test_different_labels_are_allowed_equal_ones_refused(self) -> None:
        key = c.local("k", c.KEY)
        assert isinstance(
            c.run(self.with_key(self.derive(key, 1), self.derive(key, 2))), TupleValue
        )
        assert refused(self.with_key(self.derive(key, 1), self.derive(key, 1))) == "E0604"

    def test_a_loop_may_not_draw_from_a_key_of_outside(self) -> None:
        key = c.local("k", c.KEY)
        body = c.lambda_([("x", c.f32(8))], add(c.local("x", c.f32(8)), self.draw(key)))
        loop = c.call("iterate", c.integer(2), body, self.X, type=c.f32(8))
        assert refused(c.let("k", self.KEY, loop)) == "E0603"


class TestBudget:
    @pytest.mark.slow
    def test_a_fold_over_a_hundred_thousand_elements_needs_no_recursion(self) -> None:
        plus = c.lambda_(
            [("a", c.INT), ("b", c.INT)], add(c.local("a", c.INT), c.local("b", c.INT))
        )
        numbers = c.call("range", c.integer(0), c.integer(100_000), type=c.list_of(c.INT))
        assert c.run(c.call("fold", c.integer(0), plus, numbers, type=c.INT)) == 4_999_950_000

    @pytest.mark.slow
    def test_a_long_chain_of_lets_needs_no_recursion(self) -> None:
        term: core.Term = c.local("x19999", c.INT)
        for n in reversed(range(20_000)):
            value = add(c.local(f"x{n - 1}", c.INT), c.integer(1)) if n else c.integer(0)
            term = core.Let(
                pattern=core.Bind(f"x{n}", c.INT), value=value, body=term, type=c.INT, span=c.SPAN
            )
        assert c.run(term) == 19_999

    def spend(self, count: int) -> core.Term:
        numbers = c.call("range", c.integer(0), c.integer(count), type=c.list_of(c.INT))
        same = c.lambda_([("x", c.INT)], c.local("x", c.INT))
        return c.call("map", same, numbers, type=c.list_of(c.INT))

    def test_steps_beyond_the_budget_are_refused_and_the_spenders_named(self) -> None:
        spend = c.lambda_([("_", c.INT)], self.spend(200))
        main = c.module("Main", [c.definition("Main.spend", spend)], budget=300)
        use = c.apply(c.reference("Main.spend", spend.type), c.integer(0), type=c.list_of(c.INT))
        with pytest.raises(Refused) as caught:
            c.run(use, main)
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic.code == "E0502"
        assert "`Main.spend`" in diagnostic.cause
        assert "budget 1_200" in diagnostic.hints[0]

    def test_a_list_too_large_for_the_budget_is_refused_before_it_is_made(self) -> None:
        numbers = c.call("range", c.integer(0), c.integer(10**15), type=c.list_of(c.INT))
        assert refused(c.call("length", numbers, type=c.INT)) == "E0502"

    def test_a_number_too_large_for_the_budget_is_refused_before_it_is_made(self) -> None:
        huge = c.call("power", c.integer(10), c.integer(BYTES * 8), type=c.INT)
        assert refused(huge) == "E0502"

    def test_the_count_is_the_same_every_time_and_in_every_order(self) -> None:
        one = c.definition("Main.one", self.spend(50))
        two = c.definition(
            "Main.two", c.call("length", c.reference("Main.one", one.value.type), type=c.INT)
        )
        main = c.module("Main", [one, two])
        counts = set()
        for order in (("one", "two"), ("two", "one"), ("two", "two", "one")):
            machine = c.machine(main)
            for name in order:
                declared = machine.index.declarations[f"Main.{name}"]
                assert isinstance(declared, core.Definition)
                use = c.reference(declared.symbol, declared.scheme.type)
                machine.evaluate(use, Scope({}), declared.symbol)
            account = machine.account("Main")
            counts.add((account.steps, account.bytes))
        assert len(counts) == 1

    def test_a_constant_is_charged_to_its_own_module(self) -> None:
        library = c.module("Library", [c.definition("Library.big", self.spend(50))])
        use = c.call("length", c.reference("Library.big", c.list_of(c.INT)), type=c.INT)
        machine = c.machine(library, c.module("Main"))
        machine.evaluate(use, Scope({}), "Main.it")
        assert machine.account("Main").steps == 1
        assert machine.account("Library").steps == 102


def test_a_tensor_constant_is_made_anew_in_every_graph() -> None:
    table = c.call("fill", c.number(0), type=c.f32(4), shape=(Dim.constant(4),))
    main = c.module("Main", [c.definition("Main.table", table)])
    machine = c.machine(main)
    use = c.reference("Main.table", c.f32(4))
    graphs = (Staging(), Staging())
    nodes = []
    for staging in graphs:
        pair = c.tuple_(use, use)
        value = machine.evaluate(pair, Scope({}), "Main.it", staging)
        assert isinstance(value, TupleValue)
        first, second = value.items
        assert isinstance(first, Staged)
        assert first is second
        nodes.append(first.node)
    assert nodes[0] is not nodes[1]


def test_constructors_without_arguments_are_values() -> None:
    assert c.run(core.Constructor(name="None", type=c.INT, span=c.SPAN)) == Variant("None")

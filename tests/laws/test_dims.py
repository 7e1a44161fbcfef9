"""Dimensions obey the ring laws, and their questions have three answers that no choice of sizes contradicts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alpha.core.dim import Answer, Dim, equal, nonnegative

NAMES = ("k", "m", "n")
monomials = st.lists(st.sampled_from(NAMES), max_size=3).map(lambda names: tuple(sorted(names)))
dims = st.lists(st.tuples(monomials, st.integers(-6, 6)), max_size=4).map(Dim.of)
sizes = st.fixed_dictionaries({name: st.integers(1, 9) for name in NAMES})

ZERO, ONE = Dim.constant(0), Dim.constant(1)


def value(dim: Dim, choice: dict[str, int]) -> int:
    number = dim.substituted({n: Dim.constant(v) for n, v in choice.items()}).value
    assert number is not None
    return number


@given(dims, dims, dims)
def test_addition_is_a_commutative_group(a: Dim, b: Dim, c: Dim) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + ZERO == a
    assert a - a == ZERO


@given(dims, dims, dims)
def test_multiplication_is_commutative_and_distributes(a: Dim, b: Dim, c: Dim) -> None:
    assert a * b == b * a
    assert (a * b) * c == a * (b * c)
    assert a * ONE == a
    assert a * (b + c) == a * b + a * c


@given(dims, dims, sizes)
def test_operations_agree_with_those_on_numbers(a: Dim, b: Dim, choice: dict[str, int]) -> None:
    assert value(a + b, choice) == value(a, choice) + value(b, choice)
    assert value(a * b, choice) == value(a, choice) * value(b, choice)


@given(dims, st.integers(1, 6))
def test_division_undoes_multiplication(a: Dim, divisor: int) -> None:
    assert (a * Dim.constant(divisor)).divided(divisor) == a


@given(dims, dims, sizes)
def test_equality_is_never_contradicted(a: Dim, b: Dim, choice: dict[str, int]) -> None:
    answer = equal(a, b)
    same = value(a, choice) == value(b, choice)
    if answer is Answer.YES:
        assert same
    elif answer is Answer.NO:
        assert not same


def test_equality_has_all_three_answers() -> None:
    n, m = Dim.variable("n"), Dim.variable("m")
    assert equal(ONE + n - ONE, n) is Answer.YES
    assert equal(n, n + ONE) is Answer.NO
    assert equal(n, m) is Answer.UNDECIDED


@given(dims, sizes)
def test_order_is_never_contradicted(a: Dim, choice: dict[str, int]) -> None:
    answer = nonnegative(a)
    if answer is Answer.YES:
        assert value(a, choice) >= 0
    elif answer is Answer.NO:
        assert value(a, choice) < 0


def test_order_uses_that_sizes_are_at_least_one() -> None:
    n = Dim.variable("n")
    assert nonnegative(n - ONE) is Answer.YES
    assert nonnegative(ONE - n - ONE) is Answer.NO
    assert nonnegative(n - Dim.constant(2)) is Answer.UNDECIDED


@given(dims)
def test_text_reads_back_as_the_same_polynomial(a: Dim) -> None:
    total = ZERO
    sign, term = 1, ONE
    for word in (str(a).replace("-", "- ")).split():
        if word in "+-":
            total, sign, term = (
                total + term * Dim.constant(sign) if term is not ONE else total,
                1 if word == "+" else -1,
                ONE,
            )
        elif word != "*":
            factor = Dim.constant(int(word)) if word.isdigit() else Dim.variable(word)
            term = factor if term is ONE else term * factor
    assert total + (term if term is not ONE else ZERO) * Dim.constant(sign) == a

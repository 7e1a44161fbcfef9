"""Records behave like frozen slotted dataclasses, however often they are made."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any
from weakref import ref

import pytest

from alpha.base import record as module
from alpha.base.record import field, fields, is_record, record, replace


@record(kw_only=True)
class Base:
    span: int = field(compare=False, repr=False)


@record
class Leaf(Base):
    """A leaf."""

    name: str
    sizes: tuple[int, ...] = ()


@record
class Made(Base):
    name: str
    items: list[int] = field(default_factory=list)
    length: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.items))


@record
class Empty:
    pass


@record(frozen=False)
class Open:
    count: int = 0
    names: list[str] = field(default_factory=list)


@record(eq=False, weakref=True)
class Known:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainBase:
    span: int = dataclasses.field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Plain(PlainBase):
    name: str
    sizes: tuple[int, ...] = ()


@pytest.fixture(params=["first", "often"])
def times(request: pytest.FixtureRequest) -> None:
    """Runs a test with the shared methods, and with those of a class that was made often."""
    if request.param == "often":
        for _ in range(module._OFTEN + 1):
            Leaf("a", span=1), Made("a", span=1), Empty()


@pytest.mark.usefixtures("times")
class TestRecord:
    def test_values_by_place_by_name_and_by_default(self) -> None:
        assert Leaf("a", (1,), span=2).sizes == (1,)
        assert Leaf(span=2, name="a").sizes == ()
        assert Leaf("a", sizes=(3,), span=2).sizes == (3,)

    def test_equality_and_hash_leave_out_what_is_not_compared(self) -> None:
        assert Leaf("a", span=1) == Leaf("a", span=2)
        assert hash(Leaf("a", span=1)) == hash(Leaf("a", span=2))
        assert Leaf("a", span=1) != Leaf("b", span=1)
        assert Leaf("a", span=1) != Plain("a", span=1)
        assert Empty() == Empty() and hash(Empty()) == hash(Empty())

    def test_it_is_frozen_and_slotted(self) -> None:
        leaf = Leaf("a", span=1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            leaf.name = "b"  # type: ignore[misc]
        with pytest.raises(dataclasses.FrozenInstanceError):
            del leaf.name
        assert not hasattr(leaf, "__dict__")

    @pytest.mark.parametrize(
        "arguments",
        [
            ((), {"span": 1}),
            (("a",), {}),
            (("a", (), 1), {"span": 1}),
            (("a",), {"span": 1, "x": 1}),
        ],
    )
    def test_wrong_values_are_refused(self, arguments: Any) -> None:
        places, names = arguments
        with pytest.raises(TypeError):
            Leaf(*places, **names)

    def test_it_agrees_with_dataclasses(self) -> None:
        leaf, plain = Leaf("a", (1,), span=2), Plain("a", (1,), span=2)
        assert [f.name for f in dataclasses.fields(leaf)] == [
            f.name for f in dataclasses.fields(plain)
        ]
        assert dataclasses.asdict(leaf) == dataclasses.asdict(plain)
        assert dataclasses.replace(leaf, name="b") == Leaf("b", (1,), span=2)
        assert repr(leaf) == repr(plain).replace("Plain", "Leaf")
        assert Leaf.__match_args__ == Plain.__match_args__
        assert Leaf.__doc__ == "A leaf."

    def test_it_can_be_matched_copied_and_pickled(self) -> None:
        leaf = Leaf("a", (1,), span=2)
        match leaf:
            case Leaf(name, sizes):
                assert (name, sizes) == ("a", (1,))
        for other in (copy.copy(leaf), copy.deepcopy(leaf), pickle.loads(pickle.dumps(leaf))):
            assert other == leaf and other.span == 2

    def test_its_own_functions_need_no_dataclasses(self) -> None:
        leaf = Leaf("a", (1,), span=2)
        assert [field.name for field in fields(leaf)] == ["span", "name", "sizes"]
        assert fields(Leaf) == fields(leaf)
        assert is_record(leaf) and not is_record("a")
        made = replace(Made("a", [1, 2], span=1), name="b", items=[1])
        assert (made.name, made.span, made.length) == ("b", 1, 1)
        with pytest.raises(TypeError):
            replace(leaf, colour="red")

    def test_factories_and_values_that_are_computed(self) -> None:
        first, second = Made("a", span=1), Made("a", [1, 2], span=1)
        assert (first.items, first.length, second.length) == ([], 0, 2)
        assert first.items is not Made("a", span=1).items


def test_a_record_that_is_not_frozen_is_assigned_to_and_has_no_hash() -> None:
    first, second = Open(), Open()
    first.count += 1
    first.names.append("a")
    assert (first.count, first.names, second.names) == (1, ["a"], [])
    assert first != second and Open(1, ["a"]) == first
    assert not hasattr(first, "__dict__")
    with pytest.raises(TypeError):
        hash(first)


def test_a_record_without_equality_is_itself_alone() -> None:
    first, second = Known("a"), Known("a")
    assert first != second and len({first, second}) == 2
    assert ref(first)() is first


def test_a_field_of_dataclasses_is_refused() -> None:
    with pytest.raises(TypeError, match="`names` of `Wrong`"):

        @record
        class Wrong:
            names: list[str] = dataclasses.field(default_factory=list)


def test_the_compiler_starts_without_dataclasses() -> None:
    code = "import sys, alpha.driver.checking; print('dataclasses' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"

"""Frozen dataclasses: each behaves as the one that the standard library makes of the same class."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, replace
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from gate.core import frozen

T = TypeVar("T")
Make = Callable[..., Any]


def shapes_of(dataclass: Make) -> dict[str, Any]:
    """Return one class of each shape that the gate has, made by that decorator."""

    @dataclass(frozen=True, slots=True)
    class Empty:
        """No fields."""

    @dataclass(frozen=True, slots=True)
    class Single(Generic[T]):
        """One field."""

        value: T

    @dataclass(frozen=True, slots=True)
    class Several:
        """Defaults, of which one is made for each value, and a constant of the class."""

        MOST: ClassVar[int] = 3
        name: str
        count: int = 1
        parts: list[str] = field(default_factory=list)

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        """Given by name; what has no default may follow what has one."""

        first: int = 1
        second: int

    @dataclass(frozen=True, slots=True)
    class Late:
        """One field by name, one that the class computes, two that are no arguments."""

        base: int
        also: int = field(default=2, kw_only=True)
        double: int = field(init=False)
        marks: list[int] = field(init=False, default_factory=list)
        fixed: int = field(init=False, default=3)

        def __post_init__(self) -> None:
            object.__setattr__(self, "double", self.base * 2)

    @dataclass(frozen=True, slots=True)
    class Partly:
        """Fields that do not count for everything."""

        key: int
        hidden: int = field(default=0, repr=False)
        aside: int = field(default=0, compare=False)
        unhashed: dict[str, int] = field(default_factory=dict, hash=False)

    @dataclass(frozen=True, slots=True)
    class Own:  # noqa: PLW1641 - so that it gets the hash of its fields
        """Methods of its own, which stay."""

        value: int

        def __eq__(self, other: object) -> bool:
            return other == "equal"

        def __repr__(self) -> str:
            return "mine"

    @dataclass(frozen=True, slots=True)
    class Child(Several):
        """Adds a field to those of another class."""

        last: int = 9

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        """Has an order."""

        value: int

    @dataclass(frozen=True, slots=True, eq=False)
    class Alone:
        """Equal to itself alone."""

        value: int

    @dataclass(slots=True)
    class Mutable:
        """Not frozen."""

        value: int

    made = (Empty, Single, Several, Named, Late, Partly, Own, Child, Ordered, Alone, Mutable)
    return {one.__name__: one for one in made}


OURS = shapes_of(frozen.dataclass)
THEIRS = shapes_of(dataclasses.dataclass)
NAN = float("nan")
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Empty", (), {}),
    ("Empty", (), {}),
    ("Single", (1,), {}),
    ("Single", (2,), {}),
    ("Single", (NAN,), {}),
    ("Several", ("a",), {}),
    ("Several", ("a", 1, []), {}),
    ("Several", ("a",), {"parts": ["b"]}),
    ("Named", (), {"second": 2}),
    ("Late", (4,), {}),
    ("Late", (4,), {"also": 5}),
    ("Partly", (1,), {}),
    ("Partly", (1, 0, 7), {}),
    ("Partly", (1, 0, 7, {"x": 1}), {}),
    ("Partly", (1, 5), {}),
    ("Own", (1,), {}),
    ("Child", ("a", 2, ["b"], 3), {}),
    ("Ordered", (1,), {}),
    ("Alone", (1,), {}),
    ("Mutable", (1,), {}),
    ("Empty", (1,), {}),
    ("Several", (), {}),
    ("Named", (1,), {"second": 2}),
    ("Late", (4, 5), {}),
    ("Several", ("a",), {"none": 1}),
]
"""The last five are refused."""


def outcome_of(act: Callable[..., Any], *words: Any, **keys: Any) -> tuple[str, Any]:
    """Return what came of a call."""
    try:
        return "returned", act(*words, **keys)
    except (TypeError, AttributeError) as error:
        return type(error).__name__, str(error)


def built(shapes: dict[str, Any]) -> list[Any]:
    """Return a value of each call, or how it was refused."""
    return [outcome_of(shapes[name], *words, **keys) for name, words, keys in CALLS]


def values(shapes: dict[str, Any]) -> list[Any]:
    """Return the values that are not refused."""
    return [value for how, value in built(shapes) if how == "returned"]


def assert_same(look: Callable[[Any], Any]) -> None:
    """Look at each value of both decorators."""
    for one, other in zip(values(OURS), values(THEIRS), strict=True):
        assert outcome_of(look, one) == outcome_of(look, other), type(one).__name__


def test_the_same_arguments_are_taken_and_refused() -> None:
    """With the words of Python, which name the class."""
    refused = [one for one in built(OURS) if one[0] != "returned"]
    assert refused == [one for one in built(THEIRS) if one[0] != "returned"]
    assert len(refused) == 5


def test_values_hold_and_show_the_same() -> None:
    """Fields, representation, as a dictionary, positions of a match, places of attributes."""
    assert_same(repr)
    assert_same(asdict)
    assert_same(lambda value: type(value).__match_args__)
    assert_same(lambda value: type(value).__slots__)
    assert_same(lambda value: [(one.name, one.init) for one in dataclasses.fields(value)])
    assert_same(lambda value: hasattr(value, "__dict__"))


def test_equality_and_hashes_are_the_same() -> None:
    """Of each pair, NaN and values of other classes among them."""
    ours, theirs = values(OURS), values(THEIRS)

    def table(made: list[Any]) -> list[list[bool]]:
        return [[one == other for other in (*made, "equal", None)] for one in made]

    assert table(ours) == table(theirs)

    def hashes(made: list[Any]) -> list[Any]:
        return [(type(one).__name__, outcome_of(hash, one)) for one in made]

    def groups(made: list[Any]) -> list[Any]:
        """Return which is the first with the hash of each; of what has none, why."""
        found = hashes([one for one in made if type(one).__name__ != "Alone"])
        return [found.index(one) if one[1][0] == "returned" else one for one in found]

    assert groups(ours) == groups(theirs)


@pytest.mark.parametrize("name", ["value", "other"])
def test_nothing_is_set_or_deleted(name: str) -> None:
    """Neither a field nor what is none."""
    value = OURS["Single"](1)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(value, name, 2)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(value, name)
    assert value.value == 1


def test_each_value_gets_a_default_of_its_own() -> None:
    """A list that is a default is no other value's."""
    one, other = OURS["Several"]("a"), OURS["Several"]("a")
    one.parts.append("b")
    assert other.parts == []


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_equal(copied: Callable[[Any], Any]) -> None:
    """Although nothing may be set; it is frozen, too."""
    value = OURS["Several"]("a", 2, ["b"])
    made = copied(value)
    assert made == value
    assert made is not value
    with pytest.raises(FrozenInstanceError):
        made.name = "b"


def test_a_value_goes_through_pickle() -> None:
    """As through the queue to another process."""
    value = Pickled("a", 2)
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own


@frozen.dataclass(frozen=True, slots=True)
class Pickled:
    """Pickle finds a class by its name in a module."""

    name: str
    count: int


def test_a_replaced_value_is_checked_again() -> None:
    """`replace` goes through `__init__` and `__post_init__`."""
    value = OURS["Late"](4)
    assert replace(value, base=5).double == 10
    with pytest.raises(TypeError):
        replace(value, none=1)

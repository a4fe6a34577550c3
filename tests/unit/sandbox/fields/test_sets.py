"""Sets of fields as sets: what the algebra says of the trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.fields.sets import (
    FieldSet,
    canonical,
    difference,
    fit_to_schema,
    intersection,
    paths,
    union,
    with_structs,
    without_trees,
)
from sandbox.kinds import BY_KEY
from sandbox.schema import schema_of

DEPLOYMENT = schema_of(BY_KEY["deployments.apps"]).type
Path = tuple[str, ...]

STEPS = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
MEMBERS = st.frozensets(st.lists(STEPS, min_size=1, max_size=3).map(tuple), max_size=8)


def tree(members: frozenset[Path]) -> FieldSet:
    """Return the set of these paths, in no order."""
    found: FieldSet = {}
    for path in members:
        node = found
        for step in path:
            node = node.setdefault(step, {})
        node["."] = {}
    return canonical(found)


def members(fields: FieldSet) -> frozenset[Path]:
    """Return a set's paths."""
    return frozenset(paths(fields))


@given(MEMBERS)
def test_a_set_holds_its_members(some: frozenset[Path]) -> None:
    """Paths in, the same paths out."""
    assert members(tree(some)) == some


@given(MEMBERS, MEMBERS)
def test_the_algebra_is_that_of_sets(one: frozenset[Path], other: frozenset[Path]) -> None:
    """Union, difference and intersection are those of the paths, in canonical form."""
    assert union(tree(one), tree(other)) == tree(one | other)
    assert difference(tree(one), tree(other)) == tree(one - other)
    assert intersection(tree(one), tree(other)) == tree(one & other)


@given(MEMBERS, MEMBERS)
def test_results_are_in_order(one: frozenset[Path], other: frozenset[Path]) -> None:
    """Equal sets are equal to the letter, however they came about."""
    assert str(union(tree(one), tree(other))) == str(tree(one | other))
    assert str(difference(tree(one), tree(other))) == str(tree(one - other))


@given(MEMBERS, MEMBERS)
def test_trees_go_with_all_below(one: frozenset[Path], roots: frozenset[Path]) -> None:
    """Whatever begins with a root is gone."""
    left = {path for path in one if not any(path[: len(root)] == root for root in roots)}
    assert members(without_trees(tree(one), tree(roots))) == left


@given(MEMBERS, MEMBERS)
def test_nothing_given_is_changed(one: frozenset[Path], other: frozenset[Path]) -> None:
    """Sets are values."""
    first, second = tree(one), tree(other)
    union(first, second)
    difference(first, second)
    intersection(first, second)
    without_trees(first, second)
    assert (first, second) == (tree(one), tree(other))


@given(MEMBERS)
def test_without_a_difference_the_set_is_the_same_object(some: frozenset[Path]) -> None:
    """What does not change is not copied."""
    fields = tree(some)
    assert difference(fields, {"f:else": {}}) is fields


def test_foreign_sets_become_canonical() -> None:
    """Elements of unknown kinds go, a lone dot is a leaf, numbers are sorted as numbers."""
    ports: FieldSet = {f'k:{{"containerPort":{port}}}': {".": {}} for port in (8080, 443, 80)}
    found = canonical({"x:future": {}, "f:ports": ports})
    assert list(found["f:ports"].items()) == [
        (f'k:{{"containerPort":{port}}}', {}) for port in (80, 443, 8080)
    ]
    assert list(found) == ["f:ports"]


def test_what_is_no_element_is_refused() -> None:
    """A key without its kind is an error."""
    with pytest.raises(ValueError, match="missing colon: spec"):
        canonical({"spec": {}})


def test_atomic_fields_are_owned_as_one() -> None:
    """A set that reaches into a selector owns the selector."""
    fields = {"f:spec": {"f:selector": {"f:matchLabels": {"f:app": {}}}, "f:what": {"f:x": {}}}}
    assert fit_to_schema(fields, DEPLOYMENT) == {
        "f:spec": {"f:selector": {}, "f:what": {"f:x": {}}},
    }


def test_structs_are_members_where_their_fields_are() -> None:
    """For removal, a struct's field goes with what it held; a map's entry is on its own."""
    fields = {
        "f:metadata": {"f:labels": {"f:a": {}}},
        "f:spec": {"f:template": {"f:spec": {"f:containers": {'k:{"name":"x"}': {"f:image": {}}}}}},
    }
    assert with_structs(fields, DEPLOYMENT) == {
        "f:metadata": {".": {}, "f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            ".": {},
            "f:template": {
                ".": {},
                "f:spec": {
                    ".": {},
                    "f:containers": {".": {}, 'k:{"name":"x"}': {"f:image": {}}},
                },
            },
        },
    }

"""Pod templates: equality and the hash that names a ReplicaSet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.controllers.template_hash import (
    LABEL,
    safe_letters,
    same_template,
    template_hash,
)
from sandbox.json import JSON
from sandbox.times import NAME_LETTERS

TEMPLATE: JSON = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web"}]}}


def with_metadata(**metadata: object) -> JSON:
    """Return the template with other metadata."""
    return {**TEMPLATE, "metadata": {**TEMPLATE["metadata"], **metadata}}


@pytest.mark.parametrize(
    "other",
    [
        with_metadata(labels={"app": "web", LABEL: "abc"}),
        with_metadata(annotations={}),
        with_metadata(creationTimestamp=None),
    ],
    ids=["hash label", "no annotations", "no time"],
)
def test_templates_are_the_same_but_for_what_does_not_count(other: JSON) -> None:
    """The hash label, empty maps and null fields make no other template, nor another hash."""
    assert same_template(TEMPLATE, other)
    assert template_hash(TEMPLATE, None) == template_hash(other, None)


@pytest.mark.parametrize(
    "other",
    [
        with_metadata(labels={"app": "api"}),
        with_metadata(annotations={"restartedAt": "1"}),
        {**TEMPLATE, "spec": {"containers": [{"name": "web"}], "securityContext": {}}},
    ],
    ids=["label", "annotation", "empty object"],
)
def test_other_templates_are_others(other: JSON) -> None:
    """Labels, annotations and every field of the spec count."""
    assert not same_template(TEMPLATE, other)
    assert template_hash(TEMPLATE, None) != template_hash(other, None)


def test_each_collision_makes_another_hash() -> None:
    """A collision that was counted changes the name, also the first count of 0."""
    hashes = {template_hash(TEMPLATE, count) for count in (None, 0, 1, 2)}
    assert len(hashes) == 4


@given(st.integers(min_value=0, max_value=2**31 - 1))
def test_hashes_make_names_of_safe_letters(count: int) -> None:
    """A hash is at most ten of the letters that generated names are made of."""
    found = template_hash(TEMPLATE, count)
    assert 1 <= len(found) <= 10
    assert set(found) <= set(NAME_LETTERS)


def test_digits_are_encoded_as_apimachinery_does() -> None:
    """`rand.SafeEncodeString` takes each character's code modulo the 27 letters."""
    assert safe_letters("0123456789") == "456789bcdf"

"""Whatever is sent, the answer is an object, field errors or a refusal: never a crash."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.failure import ApiError
from sandbox.json import JSON, copy_json
from sandbox.kinds import Resource
from sandbox.objects import (
    fill_defaults,
    prepared_for_create,
    prepared_for_update,
    strict_errors,
    validate_create,
    validate_update,
)
from tests.long import longer
from tests.unit.sandbox.objects.cases import NAMESPACE, Case, all_cases

JUNK: tuple[Any, ...] = (None, "", "!", 0, -1, 1.5, True, [], {}, [{}], {"a": 1})
BASES = {case.name: case for case in all_cases() if case.name in {case.base, "pod-full"}}
LARGEST = BASES.pop("pod-full")


@pytest.mark.parametrize("case", [*BASES.values(), longer(LARGEST)], ids=lambda case: case.name)
def test_junk_at_any_place_is_answered(case: Case) -> None:
    """Every value of a good object is replaced by every kind of junk, one at a time."""
    whole = fill_defaults(case.resource, case.body)
    for path in _paths(whole, ()):
        for junk in JUNK:
            _ask(case.resource, _replaced(whole, path, junk), whole)


def test_junk_at_any_place_of_a_full_pod_is_answered() -> None:
    """Of the largest object, each value is replaced by two kinds of junk, all kinds in turn."""
    whole = fill_defaults(LARGEST.resource, LARGEST.body)
    kinds = itertools.cycle(JUNK)
    for path in _paths(whole, ()):
        for junk in itertools.islice(kinds, 2):
            _ask(LARGEST.resource, _replaced(whole, path, junk), whole)


def _ask(resource: Resource, body: JSON, good: JSON) -> None:
    strict_errors(resource, body)
    try:
        found = fill_defaults(resource, body)
        if resource.namespaced:
            found["metadata"]["namespace"] = NAMESPACE
        created = prepared_for_create(resource, found)
        updated = prepared_for_update(resource, prepared_for_create(resource, good), found)
    except ApiError:
        return
    validate_create(resource, created)
    validate_update(resource, good, updated)
    validate_update(resource, good, found, "status")


def _paths(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        yield (*path, key)
        if isinstance(part, dict | list):
            yield from _paths(part, (*path, key))


def _replaced(body: JSON, path: tuple[str | int, ...], junk: Any) -> JSON:
    made: Any = copy_json(body)
    at = made
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = copy_json(junk)
    found: JSON = made
    return found

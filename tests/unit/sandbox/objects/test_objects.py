"""Objects beyond what the golden answers show: decoding, defaults, quantities, junk anywhere."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.failure import ApiError
from sandbox.json import JSON, copy_json
from sandbox.kinds import BY_KEY, Resource
from sandbox.objects import (
    fill_defaults,
    prepared_for_create,
    prepared_for_update,
    strict_errors,
    validate_create,
    validate_update,
)
from sandbox.objects.prepare import quality_class
from sandbox.objects.quantity import (
    NANO,
    QuantityError,
    canonical,
    canonical_resource,
    parse_quantity,
)
from tests.long import longer
from tests.unit.sandbox.objects.cases import NAMESPACE, Case, all_cases, golden

STORED = [
    (case.resource, golden(case.base)[case.name]["object"])
    for case in all_cases()
    if "object" in golden(case.base)[case.name]
]
POD = BY_KEY["pods"]


def test_a_stored_object_is_defaulted_already() -> None:
    """What the real server stored stays as it is when it is decoded again."""
    for resource, stored in STORED:
        before = copy_json(stored)
        assert fill_defaults(resource, stored) == stored, resource.key
        assert stored == before


def test_a_wrong_type_names_its_place() -> None:
    """The message is Go's: the struct, the path without indexes, the type."""
    body = {"spec": {"containers": [{"name": "a"}, {"ports": [{"containerPort": "http"}]}]}}
    with pytest.raises(ApiError) as caught:
        fill_defaults(POD, body)
    assert caught.value.status == 400
    assert caught.value.message == (
        'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go'
        " struct field ContainerPort.spec.containers.ports.containerPort of type int32"
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.987Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+01:00", "2026-01-02T02:04:05Z"),
    ],
)
def test_times_are_in_seconds_and_in_utc(given: str, kept: str) -> None:
    """A time of an object has no fraction and no zone."""
    found = fill_defaults(POD, {"metadata": {"creationTimestamp": given}})
    assert found["metadata"]["creationTimestamp"] == kept


@pytest.mark.parametrize(
    "given",
    [
        *("2026-13-05T00:00:00Z", "2026-02-30T00:00:00.5Z", "2026-01-02T25:00:00+01:00"),
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_a_date_that_there_is_not_is_refused(given: str) -> None:
    """400 with the text."""
    with pytest.raises(ApiError, match=f'parsing time "{re.escape(given)}"'):
        fill_defaults(POD, {"metadata": {"creationTimestamp": given}})


SERVICE = BY_KEY["services"]


def _service(**spec: object) -> JSON:
    return fill_defaults(
        SERVICE, {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], **spec}}
    )


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"requests": {"cpu": "0"}}], "BestEffort"),
        ([{"requests": {"cpu": "1"}}], "Burstable"),
        ([{"requests": {"example.com/gpu": "1"}}], "BestEffort"),
        ([{side: {"cpu": "1", "memory": "1Gi"} for side in ("limits", "requests")}], "Guaranteed"),
        (
            [{side: {"cpu": "1", "memory": "1Gi"} for side in ("limits", "requests")}, {}],
            "Burstable",
        ),
        ([{"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1"}}], "Burstable"),
    ],
)
def test_the_quality_class_follows_limits_and_requests(resources: list[JSON], quality: str) -> None:
    """Guaranteed needs both limits of every container, met by the requests."""
    spec = {"containers": [{"name": "a", "resources": each} for each in resources]}
    assert quality_class(spec) == quality


def test_a_priority_class_of_ones_own_is_taken() -> None:
    """Its number is not known: such a manifest can be rehearsed all the same."""
    spec = {"priorityClassName": "high", "containers": [{"name": "web", "image": "a:1"}]}
    made = prepared_for_create(POD, fill_defaults(POD, {"metadata": {"name": "p"}, "spec": spec}))
    assert made["spec"]["priority"] == 0


SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-2", "E2")
texts = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**9),
    st.one_of(st.just(""), st.integers(0, 999).map(".{}".format)),
    st.sampled_from(SUFFIXES),
)


@given(texts)
def test_a_canonical_text_means_the_same(text: str) -> None:
    """What is stored is the same amount, and is stored again as it is."""
    stored = canonical(text)
    assert parse_quantity(stored).nanos == parse_quantity(text).nanos
    assert canonical(stored) == stored


@given(texts)
def test_a_resource_has_nothing_below_a_milli(text: str) -> None:
    """Entries of a ResourceList are rounded away from zero to a milli."""
    exact, stored = parse_quantity(text).nanos, parse_quantity(canonical_resource(text)).nanos
    assert stored % (NANO // 1000) == 0
    assert abs(exact) <= abs(stored) < abs(exact) + NANO // 1000


@pytest.mark.parametrize("text", ["", "lots", "1 Gi", "0x10", "1Gi ", "--1", "1e", "1.5.5"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    """The error is a sentence of the server."""
    with pytest.raises(QuantityError, match="quantit"):
        parse_quantity(text)


@pytest.mark.parametrize("text", ["1e99999999", "1e-99999999", "9" * 5000])
def test_what_would_take_forever_is_refused(text: str) -> None:
    """Nobody means such an amount."""
    with pytest.raises(QuantityError):
        parse_quantity(text)


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

"""Decoding and defaults beyond what the golden answers show."""

from __future__ import annotations

import re

import pytest

from sandbox.failure import ApiError
from sandbox.json import copy_json
from sandbox.kinds import BY_KEY
from sandbox.objects import fill_defaults
from tests.unit.sandbox.objects.cases import all_cases, golden

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
    "given", ["2026-13-05T00:00:00Z", "2026-02-30T00:00:00.5Z", "2026-01-02T25:00:00+01:00"]
)
def test_a_date_that_there_is_not_is_refused(given: str) -> None:
    """400 with the text."""
    with pytest.raises(ApiError, match=f'parsing time "{re.escape(given)}"'):
        fill_defaults(POD, {"metadata": {"creationTimestamp": given}})

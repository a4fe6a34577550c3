"""What differs between two objects; duplicates as a server v1.36 counts them."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.fields.comparing import Comparison, compare
from sandbox.fields.sets import FieldSet
from sandbox.schema.reading import named_type

CONTAINER = named_type("io.k8s.api.core.v1.Container")
POD = named_type("io.k8s.api.core.v1.Pod")
HPA_STATUS = named_type("io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus")
A = 'k:{"name":"A"}'
ITEM: FieldSet = {".": {}, "f:name": {}, "f:value": {}}


def env(*values: str) -> dict[str, Any]:
    """Return a container whose variables are a name and a value each: `A1`."""
    variables = [{"name": value[0], "value": value[1]} for value in values]
    return {"name": "a", "env": variables} if values else {"name": "a"}


def in_env(**found: FieldSet) -> Comparison:
    """Return a comparison that is about variables alone."""
    parts = {
        name: {"f:env": found[name]} if name in found else {}
        for name in ("added", "modified", "removed")
    }
    return Comparison(**parts)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (("A1",), ("A1",), in_env()),
        (("A1",), ("A2",), in_env(modified={A: {"f:value": {}}})),
        (("A1", "B1"), ("B1", "A1"), in_env()),
        ((), ("A1",), in_env(added={".": {}, A: ITEM})),
        (("A1",), (), in_env(removed={".": {}, A: ITEM})),
        (("B1",), ("B1", "A1"), in_env(added={A: ITEM})),
        (("A1", "A2"), ("A1", "A2", "B1"), in_env(added={'k:{"name":"B"}': ITEM})),
        (("A1", "A2"), ("A1", "A3"), in_env(modified={A: {}})),
        (("A1", "A2"), ("A1",), in_env(added={A: ITEM}, removed={A: {}})),
        (("A1",), ("A1", "A2"), in_env(added={A: {}}, removed={A: ITEM})),
        (("A1", "A2", "B1"), ("B1",), in_env(removed={A: {}})),
        ((), ("A1", "A2"), in_env(added={".": {}, A: {}})),
    ],
)
def test_items_are_compared_by_their_key(
    old: tuple[str, ...], new: tuple[str, ...], found: Comparison
) -> None:
    """An item that comes twice is one field; one that comes alone is compared inside."""
    assert compare(env(*old), env(*new), CONTAINER) == found


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"command": ["a"]}, {"command": ["a", "b"]}, Comparison({}, {"f:command": {}}, {})),
        ({"resources": {}}, {}, Comparison({}, {}, {})),
        ({"livenessProbe": {}}, {}, Comparison({}, {}, {"f:livenessProbe": {}})),
        ({"env": []}, {"env": None}, Comparison({}, {"f:env": {}}, {})),
        ({"env": None}, {}, Comparison({}, {}, {})),
        (
            {},
            {"livenessProbe": {"httpGet": {"port": 80}}},
            Comparison(
                {"f:livenessProbe": {".": {}, "f:httpGet": {".": {}, "f:port": {}}}}, {}, {}
            ),
        ),
    ],
)
def test_places_are_compared_by_what_they_are(
    old: dict[str, Any], new: dict[str, Any], found: Comparison
) -> None:
    """Atomic and empty values are leaves; what the server writes anyhow is no difference."""
    assert compare({"name": "a", **old}, {"name": "a", **new}, CONTAINER) == found


def test_what_is_created_differs_from_an_empty_object() -> None:
    """Structs that every object has are not added, nor are lists that are written as null."""
    found = compare({}, {"spec": {"containers": [{"name": "a"}]}}, POD)
    container: FieldSet = {".": {}, "f:name": {}, "f:resources": {}}
    assert found.written == {"f:spec": {"f:containers": {'k:{"name":"a"}': container}}}


def test_a_null_that_is_always_written_is_nothing_new() -> None:
    """The server writes an autoscaler's metrics as null before it has any."""
    assert compare({}, {"currentMetrics": None}, HPA_STATUS) == Comparison({}, {}, {})

"""The fields that a configuration sets."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.fields.extracting import field_set
from sandbox.fields.sets import FieldSet
from sandbox.schema import Shape, Type
from sandbox.schema.reading import named_type

POD_SPEC = named_type("io.k8s.api.core.v1.PodSpec")
OF_STRUCTS = Type(Shape.MAP, {}, element=named_type("io.k8s.api.core.v1.EnvVar"))


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({"hostNetwork": False}, {"f:hostNetwork": {}}),
        ({"securityContext": {}}, {"f:securityContext": {}}),
        ({"securityContext": None}, {"f:securityContext": {}}),
        ({"securityContext": {"runAsUser": 5}}, {"f:securityContext": {"f:runAsUser": {}}}),
        ({"containers": []}, {}),
        ({"containers": None}, {"f:containers": {}}),
        ({"containers": [{}]}, {"f:containers": {'k:{"name":""}': {}}}),
        (
            {"containers": [{"name": "a"}, {"name": "a", "image": "x"}]},
            {"f:containers": {'k:{"name":"a"}': {}}},
        ),
        ({"tolerations": []}, {"f:tolerations": {}}),
        ({"nodeSelector": {"a": "b"}}, {"f:nodeSelector": {}}),
        ({"overhead": {"cpu": "1"}}, {"f:overhead": {"f:cpu": {}}}),
    ],
)
def test_leaves_items_and_what_is_empty_are_set(value: dict[str, Any], fields: FieldSet) -> None:
    """A struct or a list counts by what is in it, an empty map by itself."""
    assert field_set(value, POD_SPEC) == fields


def test_entries_of_a_map_are_set_themselves() -> None:
    """Beside what they hold."""
    found = field_set({"x": {"name": "a"}, "y": {}}, OF_STRUCTS)
    assert found == {"f:x": {".": {}, "f:name": {}}, "f:y": {}}

"""JSON merge patch: RFC 7386."""

from __future__ import annotations

import copy

import pytest

from sandbox.json import JSON
from sandbox.patching import merge_patch


@pytest.mark.parametrize(
    ("doc", "patch", "found"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": [1]}, {"a": [{"b": None, "c": 1}, None]}, {"a": [{"c": 1}, None]}),
    ],
)
def test_the_patch_is_merged(doc: JSON, patch: JSON, found: JSON) -> None:
    """The cases of the RFC's appendix that Kubernetes objects can have."""
    before = copy.deepcopy((doc, patch))
    assert merge_patch(doc, patch) == found
    assert (doc, patch) == before

"""JSON patch: RFC 6902 with the habits of the server's library."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sandbox.json import JSON
from sandbox.patching import PatchError, json_patch

DOCUMENT: JSON = {"a": {"b": 1, "c/d": 2, "e~f": 3}, "l": ["x", "y", "z"], "n": None}


def op(kind: str, path: str, **more: Any) -> JSON:
    """Return an operation."""
    return {"op": kind, "path": path, **more}


@pytest.mark.parametrize(
    ("operation", "pointed", "found"),
    [
        (op("add", "/a/new", value=[1]), "a", {"b": 1, "c/d": 2, "e~f": 3, "new": [1]}),
        (op("add", "/a/b", value=9), "a", {"b": 9, "c/d": 2, "e~f": 3}),
        (op("add", "/l/1", value="i"), "l", ["x", "i", "y", "z"]),
        (op("add", "/l/3", value="i"), "l", ["x", "y", "z", "i"]),
        (op("add", "/l/-", value="i"), "l", ["x", "y", "z", "i"]),
        (op("remove", "/a/c~1d"), "a", {"b": 1, "e~f": 3}),
        (op("remove", "/a/e~0f"), "a", {"b": 1, "c/d": 2}),
        (op("add", "/a/~01", value=1), "a", {"b": 1, "c/d": 2, "e~f": 3, "~1": 1}),
        (op("remove", "/l/0"), "l", ["y", "z"]),
        (op("replace", "/l/1", value=None), "l", ["x", None, "z"]),
        (op("replace", "/a/nope", value=7), "a", {"b": 1, "c/d": 2, "e~f": 3, "nope": 7}),
        (op("copy", "/l/0", **{"from": "/a/b"}), "l", [1, "x", "y", "z"]),
        (op("move", "/l/2", **{"from": "/l/0"}), "l", ["y", "z", "x"]),
        (op("test", "/l", value=["x", "y", "z"]), "n", None),
        (op("test", "/a/nope", value=None), "n", None),
    ],
)
def test_an_operation_changes_what_it_names(operation: JSON, pointed: str, found: Any) -> None:
    """Each operation, on members and on items."""
    assert json_patch(DOCUMENT, [operation])[pointed] == found


@pytest.mark.parametrize(
    "operation",
    [
        op("test", "/a/b", value=2),
        op("test", "/a/nope", value=1),
        op("test", "", value={}),
        op("remove", "/a/nope"),
        op("remove", "/l/3"),
        op("remove", "/l/x"),
        op("replace", "/l/3", value=1),
        op("replace", "", value=1),
        op("add", "/l/4", value=1),
        op("add", "/nope/x", value=1),
        op("add", "/a/b/x", value=1),
        op("add", "", value={}),
        op("move", "/x", **{"from": "/nope"}),
        op("copy", "/x", **{"from": "/l/7/a"}),
        op("copy", "/x"),
        op("steal", "/a"),
        {"op": "add"},
    ],
)
def test_what_does_not_apply_is_refused_without_a_word(operation: JSON) -> None:
    """Clients are told nothing of why, and nothing has happened."""
    before = copy.deepcopy(DOCUMENT)
    with pytest.raises(PatchError) as error:
        json_patch(DOCUMENT, [op("remove", "/n"), operation])
    refusal = error.value.refusal()
    assert (refusal.status, refusal.reason) == (422, "Invalid")
    assert refusal.message == "the server rejected our request due to an error in our request"
    assert before == DOCUMENT

"""JSON patch (RFC 6902), merge patch (RFC 7386) and strategic merge patch, as a server has them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.patching import PatchError, json_patch, merge_patch, strategic_merge
from sandbox.schema import schema_of

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
        (op("add", "/l/-", value="i"), "l", ["x", "y", "z", "i"]),
        (op("remove", "/a/c~1d"), "a", {"b": 1, "e~f": 3}),
        (op("remove", "/a/e~0f"), "a", {"b": 1, "c/d": 2}),
        (op("add", "/a/~01", value=1), "a", {"b": 1, "c/d": 2, "e~f": 3, "~1": 1}),
        (op("remove", "/l/0"), "l", ["y", "z"]),
        (op("replace", "/l/1", value=None), "l", ["x", None, "z"]),
        (op("replace", "/a/nope", value=7), "a", {"b": 1, "c/d": 2, "e~f": 3, "nope": 7}),
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
        op("test", "/a/nope", value=1),
        op("test", "", value={}),
        op("remove", "/a/nope"),
        op("remove", "/l/3"),
        op("add", "/l/4", value=1),
        op("add", "/nope/x", value=1),
        op("add", "", value={}),
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


@pytest.mark.parametrize(
    ("doc", "patch", "found"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": [1]}, {"a": [{"b": None, "c": 1}, None]}, {"a": [{"c": 1}, None]}),
    ],
)
def test_the_patch_is_merged(doc: JSON, patch: JSON, found: JSON) -> None:
    """The cases of the RFC's appendix that Kubernetes objects can have."""
    before = copy.deepcopy((doc, patch))
    assert merge_patch(doc, patch) == found
    assert (doc, patch) == before


PODS = schema_of(BY_KEY["pods"])
DEPLOYMENTS = schema_of(BY_KEY["deployments.apps"])
LIVE: JSON = {
    "metadata": {"finalizers": ["a", "b", "c"], "labels": {"x": "1", "y": "2"}},
    "spec": {
        "containers": [
            {"name": "p", "image": "i:1", "env": [{"name": "A", "value": "1"}]},
            {"name": "q", "image": "i:1"},
            {"name": "r", "image": "i:1", "command": ["sh"]},
        ],
        "nodeSelector": {"k": "v"},
        "tolerations": [{"key": "a"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
    },
}


def patched(**spec: Any) -> JSON:
    """Return the pod's spec after a patch of it."""
    found: JSON = strategic_merge(LIVE, {"spec": spec}, PODS)["spec"]
    return found


def names(items: list[JSON]) -> str:
    """Return the names of items, in order."""
    return "".join(item["name"] for item in items)


def metadata(**patch: Any) -> JSON:
    """Return the metadata after a patch of it."""
    found: JSON = strategic_merge(LIVE, {"metadata": patch}, PODS)["metadata"]
    return found


@pytest.mark.parametrize(
    ("containers", "left"),
    [
        ([{"name": "q", "$patch": "delete"}], "pr"),
        ([{"name": "nope", "$patch": "delete"}], "pqr"),
        ([{"name": "n"}, {"name": "q", "$patch": "delete"}], "prn"),
        ([{"name": "n"}, {"$patch": "replace"}], "n"),
    ],
)
def test_items_are_deleted_and_replaced(containers: list[JSON], left: str) -> None:
    """Directives stand in items of the list."""
    assert sorted(names(patched(containers=containers)["containers"])) == sorted(left)


@pytest.mark.parametrize(
    ("patch", "labels"),
    [
        ({"$patch": "replace", "z": "3"}, {"z": "3"}),
        ({"$patch": "delete"}, {}),
        ({"z": "3", "x": None}, {"y": "2", "z": "3"}),
    ],
)
def test_maps_are_replaced_and_deleted(patch: JSON, labels: JSON) -> None:
    """Directives stand in the map that they are about."""
    assert metadata(labels=patch)["labels"] == labels


@pytest.mark.parametrize(
    ("patch", "left"),
    [
        ({"finalizers": ["d"]}, ["d", "a", "b", "c"]),
        ({"finalizers": ["b"]}, ["a", "b", "c"]),
        ({"$deleteFromPrimitiveList/finalizers": ["b", "x"]}, ["a", "c"]),
        ({"$setElementOrder/finalizers": ["c", "b"]}, ["a", "c", "b"]),
        (
            {
                "finalizers": ["d"],
                "$deleteFromPrimitiveList/finalizers": ["a"],
                "$setElementOrder/finalizers": ["d", "c"],
            },
            ["d", "b", "c"],
        ),
    ],
)
def test_scalars_are_added_taken_out_and_ordered(patch: JSON, left: list[str]) -> None:
    """A set of scalars is merged without repetition."""
    assert metadata(**patch)["finalizers"] == left


@pytest.mark.parametrize(
    ("order", "patch", "found"),
    [
        ("rqp", "", "rqp"),
        ("pxr", "x", "pxqr"),
        ("zx", "x", "xpqr"),
        ("", "xr", "xpqr"),
        ("", "rxyp", "qrxyp"),
    ],
)
def test_an_order_is_kept(order: str, patch: str, found: str) -> None:
    """Items that the order names come as it says, the others where they were."""
    items = [{"name": name} for name in patch]
    change: JSON = {"containers": items} if items else {}
    if order:
        change["$setElementOrder/containers"] = [{"name": name} for name in order]
    after = patched(**change)
    assert names(after["containers"]) == found


@pytest.mark.parametrize(
    ("patch", "found"),
    [
        ({"initContainers": [{"name": "a", "$patch": "delete"}, {"name": "b"}]}, [{"name": "b"}]),
        (
            {
                "initContainers": [
                    {
                        "name": "b",
                        "env": [{"name": "x", "$patch": "delete"}, {"name": "y"}],
                        "resources": {"$patch": "replace"},
                    }
                ]
            },
            [{"name": "b", "env": [{"name": "y"}]}],
        ),
        (
            {
                "$setElementOrder/initContainers": [{"name": "c"}, {"name": "b"}],
                "initContainers": [{"name": "c"}, {"name": "b"}],
            },
            [{"name": "c"}, {"name": "b"}],
        ),
        ({"$setElementOrder/initContainers": [{"name": "c"}]}, None),
    ],
)
def test_what_is_new_has_no_directives(patch: JSON, found: list[JSON] | None) -> None:
    """Where nothing was, deletions are about nothing."""
    assert patched(**patch).get("initContainers") == found


def test_retained_keys_drop_the_others() -> None:
    """What `$retainKeys` does not name is gone: another kind of strategy has other fields."""
    live = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}
    change = {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}
    assert strategic_merge(live, change, DEPLOYMENTS) == {
        "spec": {"strategy": {"type": "Recreate"}}
    }


@pytest.mark.parametrize(
    "patch",
    [
        {"spec": {"$patch": "foo"}},
        {"spec": {"containers": [{"$patch": "foo", "name": "a"}]}},
        {"spec": {"containers": [{"image": "x"}]}},
        {"spec": {"containers": ["x"]}},
        {"spec": {"$setElementOrder/containers": "x"}},
        {"spec": {"$setElementOrder/nope": []}},
    ],
    ids=["map", "item", "key", "types", "order type", "field"],
)
def test_what_cannot_be_merged_is_refused(patch: JSON) -> None:
    """400, and nothing has happened."""
    before = copy.deepcopy(LIVE)
    with pytest.raises(PatchError) as error:
        strategic_merge(LIVE, patch, PODS)
    assert error.value.refusal().status == 400
    assert before == LIVE

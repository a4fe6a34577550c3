"""Strategic merge patch; results and words are those of a server v1.36."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.patching import PatchError, strategic_merge
from sandbox.schema import schema_of

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


def test_items_are_merged_by_their_key() -> None:
    """An item that is named is merged, another is added, the rest stays."""
    found = patched(
        containers=[{"name": "q", "image": "i:2"}, {"name": "n", "env": [{"name": "B"}]}]
    )
    assert found["containers"] == [
        LIVE["spec"]["containers"][0],
        {"name": "q", "image": "i:2"},
        {"name": "n", "env": [{"name": "B"}]},
        LIVE["spec"]["containers"][2],
    ]


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
        ("rp", "", "qrp"),
        ("pxr", "x", "pxqr"),
        ("xrqp", "x", "xrqp"),
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

"""The algebra of managed fields, against sets of paths as its model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.core.ssa.field_set import (
    Fields,
    differing,
    extract,
    intersect,
    paths,
    remove_field,
    still_holds,
    subtract,
    union,
)

LEAF: Fields = {}
KEYS = ["f:image", "f:kubernetes.io/x", 'k:{"name":"web"}', 'v:"x"', "i:0"]


def trees() -> st.SearchStrategy[Fields | None]:
    """Draw trees of fields, None among them."""
    inner = st.recursive(
        st.just(LEAF),
        lambda below: st.dictionaries(st.sampled_from(KEYS), below, min_size=1).flatmap(
            lambda tree: st.sampled_from([tree, {".": {}, **tree}])
        ),
        max_leaves=8,
    )
    return st.none() | inner


def members(tree: Fields | None, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Return the set that a tree stands for, as structured-merge-diff reads it."""
    if tree is None:
        return set()
    own = {path} if not tree or "." in tree else set()
    below = (members(inner, (*path, key)) for key, inner in tree.items() if key != ".")
    return own.union(*below)


@given(trees(), trees())
def test_the_algebra_is_that_of_sets(a: Fields | None, b: Fields | None) -> None:
    """Union, difference and intersection of trees are those of the sets they stand for."""
    assert members(union(a, b)) == members(a) | members(b)
    assert members(subtract(a, b)) == members(a) - members(b)
    assert members(intersect(a, b)) == members(a) & members(b)
    assert subtract(a, a) is None, "an empty tree would be the whole value"


names = st.sampled_from(["image", "kubernetes.io/x", "a", "b"])
scalars = st.booleans() | st.integers() | st.text(max_size=3)


def keyed_lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Draw lists whose items are known by `name`, as those of containers."""
    parts = st.dictionaries(names, items, max_size=2)
    named = st.tuples(st.sampled_from("xyz"), parts).map(lambda two: {**two[1], "name": two[0]})
    return st.lists(named, min_size=1, unique_by=lambda item: item["name"])


values = st.dictionaries(
    names,
    st.recursive(
        scalars,
        lambda inner: (
            st.dictionaries(names, inner, min_size=1)
            | keyed_lists(inner)
            | st.lists(st.sampled_from("xyz"), min_size=1, unique=True)
        ),
        max_leaves=12,
    ),
    min_size=1,
)


@st.composite
def fields_of(draw: st.DrawFn, value: Any) -> Fields:
    """Draw some of the fields that `value` has."""
    children = {key: inner for key, inner in children_of(value) if draw(st.booleans())}
    return {key: draw(fields_of(inner)) for key, inner in children.items()}


def children_of(value: Any) -> list[tuple[str, Any]]:
    """Return the keys that a tree may have at `value`, with what they select."""
    if isinstance(value, dict):
        return [(f"f:{name}", inner) for name, inner in value.items()]
    if isinstance(value, list) and isinstance(value[0], dict):
        return [(f"k:{json.dumps({'name': item['name']})}", item) for item in value]
    if isinstance(value, list):
        return [(f"v:{json.dumps(item)}", item) for item in value]
    return []


with_fields = values.flatmap(lambda value: st.tuples(st.just(value), fields_of(value)))


@given(with_fields)
def test_what_is_extracted_holds(drawn: tuple[Any, Fields]) -> None:
    """The part that fields name has all of them, is a part of the whole, and is that of itself."""
    value, fields = drawn
    part = extract(value, fields)
    assert still_holds(value, fields, part)
    assert still_holds(part, fields, value)
    assert extract(part, fields) == part


WEB = 'k:{"name":"web"}'
PORT = 'k:{"containerPort":8080,"protocol":"TCP"}'
CONTAINERS: Fields = {
    "f:containers": {
        WEB: {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}},
            "f:ports": {PORT: {".": {}, "f:containerPort": {}}},
            "f:args": {},
        }
    }
}
POD: dict[str, Any] = {
    "containers": [
        {"name": "sidecar", "image": "proxy"},
        {
            "name": "web",
            "image": "shop/web:1",
            "args": ["-v", "-p"],
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "imagePullPolicy": "Always",
        },
    ],
    "dnsPolicy": "ClusterFirst",
}


def test_extract_takes_what_the_manager_applied() -> None:
    """Keyed items keep the keys that were set, atomic lists come whole, the rest stays behind."""
    assert extract(POD, CONTAINERS) == {
        "containers": [
            {
                "name": "web",
                "image": "shop/web:1",
                "args": ["-v", "-p"],
                "env": [{"name": "A", "value": "1"}],
                "ports": [{"containerPort": 8080}],
            }
        ]
    }


def test_extract_takes_items_of_sets_and_by_index() -> None:
    """`v:` selects by value, `i:` by place."""
    assert extract(["a", "b", "c"], {'v:"b"': {}}) == ["b"]
    assert extract(["a", "b", "c"], {"i:0": {}, "i:2": {}}) == ["a", "c"]


def test_paths_are_those_of_the_server() -> None:
    """Paths read as in the API server's message of a conflict, but for the leading dot."""
    assert paths({"f:spec": CONTAINERS, "f:metadata": {"f:finalizers": {'v:"keep"': {}}}}) == (
        'spec.containers[name="web"].name',
        'spec.containers[name="web"].image',
        'spec.containers[name="web"].env[name="A"].name',
        'spec.containers[name="web"].env[name="A"].value',
        'spec.containers[name="web"].ports[containerPort=8080,protocol="TCP"].containerPort',
        'spec.containers[name="web"].args',
        'metadata.finalizers[="keep"]',
    )


def test_a_path_shows_no_control_character() -> None:
    """A name that a terminal would act on comes escaped."""
    assert paths({"f:a\x1b[31m": {}}) == ('"a\\u001b[31m"',)


@pytest.mark.contract("B58")
def test_additions_to_the_template_keep_it_ours() -> None:
    """A restart annotation, another container, another variable or reordering change nothing."""
    live = {**POD, "containers": [{**POD["containers"][1], "env": []}, POD["containers"][0]]}
    live["containers"][0]["env"] = [{"name": "C", "value": "3"}, {"name": "A", "value": "1"}]
    assert differing(POD, CONTAINERS, live) == ()


@pytest.mark.contract("B59")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"image": "shop/web:2"}, 'containers[name="web"].image'),
        ({"args": ["-p", "-v"]}, 'containers[name="web"].args'),
        ({"args": ["-v", "-p", "-q"]}, 'containers[name="web"].args'),
        ({"env": [{"name": "A", "value": "9"}]}, 'containers[name="web"].env[name="A"].value'),
        ({"env": []}, 'containers[name="web"].env[name="A"]'),
        ({"name": "other"}, 'containers[name="web"]'),
        ({"ports": None}, 'containers[name="web"].ports[containerPort=8080,protocol="TCP"]'),
    ],
)
def test_a_change_of_an_owned_field_is_named(change: dict[str, Any], path: str) -> None:
    """What somebody changed or took away of the owned fields is named by its path."""
    live = {**POD, "containers": [{**POD["containers"][1], **change}]}
    assert differing(POD, CONTAINERS, live) == (path,)


def test_an_empty_map_that_others_fill_still_holds() -> None:
    """`resources: {}` of ours is not broken by limits that somebody set in it."""
    fields: Fields = {"f:resources": {}}
    assert still_holds({"resources": {}}, fields, {"resources": {"limits": {"cpu": "1"}}})
    assert not still_holds({"resources": {}}, fields, {})


def test_a_field_that_the_server_dropped_has_nothing_to_hold() -> None:
    """An owned field without a value in the answer (`env: []`, null) is not missed."""
    assert still_holds({"a": 1, "b": None}, {"f:a": {}, "f:b": {}, "f:env": {}}, {"a": 1})


@pytest.mark.parametrize("dot", ["", "."])
def test_removed_takes_one_field_away(dot: str) -> None:
    """The path of `paths` and that of the server, with its leading dot, name the same field."""
    body = {"spec": {"replicas": 2, **POD}}
    assert remove_field(body, f"{dot}spec.replicas") == {"spec": POD}
    left = remove_field(body, f'{dot}spec.containers[name="web"].env[name="A"].value')
    assert left["spec"]["containers"][1]["env"] == [{"name": "A"}, {"name": "B", "value": "2"}]
    assert remove_field(body, f'{dot}spec.containers[name="web"]')["spec"]["containers"] == [
        {"name": "sidecar", "image": "proxy"}
    ]
    assert body == {"spec": {"replicas": 2, **POD}}


@pytest.mark.contract("B140")
def test_removed_finds_an_item_by_keys_that_the_server_filled_in() -> None:
    """A Service's ports are known by their protocol too, which manifests leave out."""
    path = 'spec.ports[port=80,protocol="TCP"].targetPort'
    short, other = {"port": 80, "targetPort": 8080}, {"port": 90, "targetPort": 9090}
    body = {"spec": {"ports": [short, other]}}
    assert remove_field(body, path) == {"spec": {"ports": [{"port": 80}, other]}}
    exact = {"port": 80, "protocol": "TCP", "targetPort": 8080}
    datagrams = {"port": 80, "protocol": "UDP", "targetPort": 8080}
    left = remove_field({"spec": {"ports": [datagrams, exact]}}, path)
    assert left == {"spec": {"ports": [datagrams, {"port": 80, "protocol": "TCP"}]}}
    alone = {"spec": {"ports": [datagrams]}}
    assert remove_field(alone, path) is alone


def test_removed_leaves_no_empty_map_behind() -> None:
    """An empty map would be applied, and so claimed, in place of what was in it."""
    body = {"a": 1, "spec": {"strategy": {"type": "Recreate"}, "finalizers": ["x"]}}
    assert remove_field(body, "spec.strategy.type") == {"a": 1, "spec": {"finalizers": ["x"]}}
    assert remove_field(body, 'spec.finalizers[="x"]')["spec"] == {"strategy": {"type": "Recreate"}}


@pytest.mark.parametrize(
    "path",
    [
        "spec",
        "a.b",
        "a[0",
        "a.list[name=]",
        "a.list[]",
        'a.list[name="x"]',
        "a.list[7]",
        'a.list[name="web"',
        "",
    ],
)
def test_removed_does_nothing_for_what_is_not_there(path: str) -> None:
    """A path that leads nowhere, or is none, leaves the value as it is."""
    body = {"a": {"list": [{"name": "web"}]}}
    assert remove_field(body, path) == body

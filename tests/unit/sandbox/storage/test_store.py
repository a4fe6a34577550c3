"""The store: versions, history, listeners, and what it shares."""

from __future__ import annotations

import pytest

from sandbox.json import JSON, copy_json
from sandbox.storage.store import Change, ChangeType, Expired, Key, Store


def named(name: str, namespace: str = "shop", **content: object) -> JSON:
    """Return an object."""
    return {"kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, **content}


def key(name: str, namespace: str = "shop", resource: str = "configmaps") -> Key:
    """Return where it is stored."""
    return Key(resource, namespace, name)


def test_listeners_hear_each_change_of_their_resource() -> None:
    """A listener is told before and after of each change, at once, and of no other resource."""
    store, heard = Store(version=0), list[Change]()
    stop = store.listen("configmaps", heard.append)
    first = store.put(key("a"), named("a"))
    second = store.put(key("a"), named("a", data={"x": "1"}))
    store.put(key("a", resource="pods"), named("a"))
    store.remove(key("a"))
    assert heard == [
        Change(ChangeType.ADDED, key("a"), None, first, 1),
        Change(ChangeType.MODIFIED, key("a"), first, second, 2),
        Change(ChangeType.DELETED, key("a"), second, None, 4),
    ]
    stop()
    store.put(key("b"), named("b"))
    assert len(heard) == 3


def test_a_forgotten_position_is_expired() -> None:
    """Beyond the bound the oldest changes go, and a position before them is told so."""
    store = Store(version=0, kept_changes=2)
    for name in "abcd":
        store.put(key(name), named(name))
    assert len(store.changes_after("configmaps", 2)) == 2
    with pytest.raises(Expired, match=r"too old resource version: 1 \(2\)"):
        store.changes_after("configmaps", 1)


def test_versions_share_what_did_not_change() -> None:
    """A new version holds the very parts of the old one that are equal."""
    store = Store()
    template = {"labels": {"app": "web"}, "containers": [{"name": "c", "image": "x" * 200}]}
    first = store.put(key("a"), named("a", spec=copy_json(template), data={"x": "1"}))
    second = store.put(key("a"), named("a", spec=copy_json(template), data={"x": "2"}))
    third = store.put(key("b"), named("b", spec=copy_json(template)))
    assert second["spec"] is first["spec"]
    assert third["spec"] is first["spec"]
    assert first["data"] == {"x": "1"}
    assert second["data"] == {"x": "2"}

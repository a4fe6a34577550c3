"""The store and its watches: versions, history, listeners, bookmarks."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.json import JSON, copy_json
from sandbox.storage.selection import selection
from sandbox.storage.store import Change, ChangeType, Expired, Key, Store
from sandbox.storage.watching import Watch, WatchStart
from sandbox.times import Timers


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


BLANK = {"kind": "ConfigMap", "apiVersion": "v1"}


class Room:
    """A store with a clock, and a short way to write into it."""

    def __init__(self, kept_changes: int = 2_000) -> None:
        self.store = Store(version=0, kept_changes=kept_changes)
        self.timers = Timers()

    def put(self, name: str, **labels: str) -> JSON:
        """Store an object."""
        metadata = {"name": name, "namespace": "shop", "labels": labels}
        return self.store.put(Key("configmaps", "shop", name), {**BLANK, "metadata": metadata})

    def remove(self, name: str) -> None:
        """Remove it."""
        self.store.remove(Key("configmaps", "shop", name))

    def watch(self, labels: str = "", **start: Any) -> Watch:
        """Watch the objects."""
        selected = selection("configmaps", "shop", labels)
        return Watch(self.store, self.timers, selected, WatchStart(**start), BLANK)


@pytest.fixture
def room() -> Room:
    """Return an empty room."""
    return Room()


def watched(watch: Watch) -> list[tuple[str, str, str]]:
    """Return what a watch has to tell: type, name and version."""
    return [
        (
            event["type"],
            event["object"]["metadata"].get("name", ""),
            event["object"]["metadata"].get("resourceVersion", ""),
        )
        for event in watch.take()
    ]


def test_initial_events_end_with_a_marked_bookmark(room: Room) -> None:
    """`sendInitialEvents` tells the objects, then the bookmark that says that they were all."""
    room.put("a")
    watch = room.watch(initial=True, bookmarks=True)
    first, mark = watch.take()
    assert first["type"] == "ADDED"
    assert mark == {
        "type": "BOOKMARK",
        "object": {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": "1",
                "annotations": {"k8s.io/initial-events-end": "true"},
            },
        },
    }


def test_objects_enter_and_leave_a_selection(room: Room) -> None:
    """Leaving is told as a deletion of the object as it was, entering as an addition."""
    room.put("a", z="1")
    watch = room.watch("z=1", version=1)
    room.put("a", z="2")
    room.put("a", y="2")
    room.put("a", y="2", z="1")
    room.put("a", y="3", z="1")
    room.remove("a")
    events = watch.take()
    assert [
        (event["type"], event["object"]["metadata"]["resourceVersion"]) for event in events
    ] == [("DELETED", "2"), ("ADDED", "4"), ("MODIFIED", "5"), ("DELETED", "6")]
    assert events[0]["object"]["metadata"]["labels"] == {"z": "1"}


def test_a_reader_that_is_too_slow_is_told_so() -> None:
    """A watch holds no events: who does not read for too long has lost its place."""
    room = Room(kept_changes=2)
    watch = room.watch()
    for name in "abc":
        room.put(name)
    assert [event["type"] for event in watch.take()] == ["ERROR"]
    assert watch.ended


def test_bookmarks_come_every_minute_and_before_the_end(room: Room) -> None:
    """A quiet watch is told how far the store is, the last time just before its timeout."""
    watch = room.watch(bookmarks=True, timeout_seconds=100)
    room.store.put(Key("pods", "shop", "p"), {"metadata": {"name": "p", "namespace": "shop"}})
    room.timers.run_due(60)
    assert watched(watch) == [("BOOKMARK", "", "1")]
    room.timers.run_due(97)
    assert watched(watch) == []
    room.timers.run_due(98)
    assert watched(watch) == [("BOOKMARK", "", "1")]
    room.timers.run_due(100)
    assert watch.ended

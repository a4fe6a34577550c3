"""The caches of the controllers: what is stored, a moment later."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sandbox.controllers.informer import LATENCY_SECONDS, Informer
from sandbox.json import JSON
from sandbox.storage.store import Change, ChangeType, Key, Store
from sandbox.times import Timers

KEY = Key("pods", "shop", "p")


def pod(name: str = "p", owner: str | None = None) -> JSON:
    """Return a pod, controlled by the owner of a uid where one is given."""
    owners = [{"uid": owner, "controller": True, "kind": "ReplicaSet", "name": "r"}]
    metadata = {"name": name, "namespace": "shop", "ownerReferences": owners if owner else []}
    return {"metadata": metadata}


@pytest.fixture
def timers() -> Timers:
    """Virtual time."""
    return Timers(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def store() -> Store:
    """An empty store."""
    return Store()


def test_a_change_is_seen_after_the_latency(timers: Timers, store: Store) -> None:
    """Not earlier: a controller acts on what it may have changed itself meanwhile."""
    informer = Informer(store, timers, "pods")
    informer.start()
    store.put(KEY, pod())
    timers.run_due(LATENCY_SECONDS / 2)
    assert informer.get(KEY) is None
    timers.run_due(LATENCY_SECONDS)
    assert informer.get(KEY) == store.get(KEY)


def test_what_was_stored_before_the_start_is_added(timers: Timers, store: Store) -> None:
    """A controller that begins late has the same to do."""
    store.put(KEY, pod())
    informer = Informer(store, timers, "pods")
    heard: list[Change] = []
    informer.watch(heard.append)
    informer.start()
    timers.run_due(1)
    assert [change.type for change in heard] == [ChangeType.ADDED]


def test_objects_are_found_by_their_controller(timers: Timers, store: Store) -> None:
    """A new owner moves them; without one they are found by their namespace."""
    informer = Informer(store, timers, "pods")
    informer.start()
    store.put(KEY, pod(owner="a"))
    store.put(Key("pods", "shop", "q"), pod("q"))
    timers.run_due(1)
    assert [each["metadata"]["name"] for each in informer.controlled_by("a")] == ["p"]
    assert [each["metadata"]["name"] for each in informer.without_controller("shop")] == ["q"]
    store.put(KEY, pod(owner="b"))
    timers.run_due(2)
    assert informer.controlled_by("a") == []
    assert len(informer.controlled_by("b")) == 1


def test_a_deleted_object_is_told_as_it_was_cached(timers: Timers, store: Store) -> None:
    """`before` is what stood in the cache, `after` nothing; the indexes forget it."""
    informer = Informer(store, timers, "pods")
    heard: list[Change] = []
    informer.watch(heard.append)
    informer.start()
    stored = store.put(KEY, pod(owner="a"))
    timers.run_due(1)
    store.remove(KEY)
    timers.run_due(2)
    assert (heard[-1].type, heard[-1].before, heard[-1].after) == (ChangeType.DELETED, stored, None)
    assert informer.controlled_by("a") == []
    assert [*informer.all()] == []

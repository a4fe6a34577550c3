"""Watches and followed logs, as they go over the wire."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.json import JSON
from tests.unit.sandbox.serving.client import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PODS,
    Client,
    events,
)

Make = Callable[..., JSON]
MERGE = "application/merge-patch+json"


def test_a_watch_tells_what_is_there_and_what_happens(client: Client, config_map: Make) -> None:
    """A line an event, whole objects with their kind; it ends with its timeout."""
    client.ask("POST", CONFIG_MAPS, config_map("a"))
    stream = client.watch(f"{CONFIG_MAPS}?watch=1&timeoutSeconds=10")
    called = []
    stream.on_data(lambda: called.append(client.cluster.timers.now()))
    assert [(each["type"], each["object"]["kind"]) for each in events(stream)] == [
        ("ADDED", "ConfigMap")
    ]
    client.ask("PATCH", f"{CONFIG_MAPS}/a", {"data": {"x": "1"}}, content_type=MERGE)
    client.ask("DELETE", f"{CONFIG_MAPS}/a")
    assert [each["type"] for each in events(stream)] == ["MODIFIED", "DELETED"]
    assert len(called) == 2
    client.pass_seconds(10)
    assert stream.ended
    assert len(called) == 3


def test_a_closed_watch_hears_no_more(client: Client, config_map: Make) -> None:
    """The reader's end ends it."""
    stream = client.watch(f"{CONFIG_MAPS}?watch=1")
    stream.close()
    client.ask("POST", CONFIG_MAPS, config_map("a"))
    assert stream.ended
    assert stream.take() == []


def _pod(client: Client, body: JSON) -> str:
    client.ask("POST", DEPLOYMENTS, body)
    client.pass_seconds(5)
    return str(client.json("GET", PODS)["items"][0]["metadata"]["name"])

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


def test_a_followed_log_grows_until_its_container_ends(client: Client, deployment: Make) -> None:
    """What is written later comes later; the end of the attempt ends the stream."""
    body = deployment(replicas=1)
    metadata = body["spec"]["template"]["metadata"]
    metadata["annotations"] = {"sandbox.rollout-gate.dev/behaviour": "ready-then-crash=20"}
    pod = _pod(client, body)
    stream = client.watch(f"{PODS}/{pod}/log?follow=true")
    assert stream.take() == [f"{pod} web: attempt 0 starts\n".encode()]
    assert not stream.ended
    client.pass_seconds(30)
    assert b"fatal: " in b"".join(stream.take())
    assert stream.ended


def test_a_followed_log_ends_with_its_pod(client: Client, deployment: Make) -> None:
    """A pod that goes takes its log along; so does a reader that closes."""
    body = deployment(replicas=1)
    body["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1
    pod = _pod(client, body)
    stream, closed = (client.watch(f"{PODS}/{pod}/log?follow=true") for _ in range(2))
    called = []
    stream.on_data(lambda: called.append(stream.ended))
    closed.close()
    client.ask("DELETE", f"{DEPLOYMENTS}/web")
    client.pass_seconds(60)
    assert (stream.ended, closed.ended) == (True, True)
    assert called[-1] is True


def test_a_log_of_what_has_ended_is_over_at_once(client: Client, deployment: Make) -> None:
    """Following it is reading it."""
    body = deployment(replicas=1)
    body["spec"]["template"]["spec"]["initContainers"] = [{"name": "once", "image": "i:1"}]
    pod = _pod(client, body)
    stream = client.watch(f"{PODS}/{pod}/log?follow=true&container=once")
    assert b"attempt 0 starts" in b"".join(stream.take())
    assert stream.ended


def _pod(client: Client, body: JSON) -> str:
    client.ask("POST", DEPLOYMENTS, body)
    client.pass_seconds(5)
    return str(client.json("GET", PODS)["items"][0]["metadata"]["name"])

"""Update: optimistic locking, generations, what a write cannot touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.api.api import Api, ApiError, Key, Writer
from sandbox.json import JSON, copy_json
from sandbox.times import Timers

ME = Writer("alice", "kubectl")


@pytest.fixture
def live(api: Api, deployment: Callable[..., JSON]) -> JSON:
    """Return a stored Deployment."""
    return api.create("deployments.apps", "default", deployment(), ME)


def changed(body: JSON, *path: str, to: Any) -> JSON:
    """Return a copy with one value set."""
    made: JSON = copy_json(body)
    place = made
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = to
    return made


def refusal(api: Api, key: Key, body: JSON) -> ApiError:
    """Return why an update is not written."""
    with pytest.raises(ApiError) as caught:
        api.update(key, body, ME)
    return caught.value


@pytest.mark.parametrize(
    ("path", "value", "generation"),
    [
        (("spec", "replicas"), 3, 2),
        (("spec", "paused"), True, 2),
        (("metadata", "annotations"), {"a": "b"}, 2),
        (("metadata", "labels"), {"a": "b"}, 1),
        (("metadata", "finalizers"), ["a.b/c"], 1),
        (("metadata", "generation"), 17, 1),
        (("status", "replicas"), 5, 1),
    ],
)
def test_spec_and_annotations_count_a_deployments_generation(
    api: Api, web: Key, live: JSON, path: tuple[str, ...], value: Any, generation: int
) -> None:
    """Labels, finalizers, status and what the client says of the generation do not."""
    made = api.update(web, changed(live, *path, to=value), ME)
    assert made["metadata"]["generation"] == generation


def test_a_write_that_changes_nothing_is_none(
    api: Api, timers: Timers, web: Key, live: JSON
) -> None:
    """No version is spent on it, not even when time has passed."""
    timers.run_due(60)
    before = api.store.version
    assert api.update(web, live, ME) is live
    assert api.store.version == before


def test_the_status_is_written_alone(api: Api, web: Key, live: JSON) -> None:
    """Through its subresource: spec and labels stay, annotations may come, nothing is counted."""
    body = changed(live, "status", to={"replicas": 2, "observedGeneration": 1})
    body = changed(body, "spec", "replicas", to=9)
    body["metadata"] |= {"labels": {"no": "1"}, "annotations": {"yes": "1"}}
    made = api.update(web, body, ME, subresource="status")
    assert made["status"] == {"replicas": 2, "observedGeneration": 1}
    assert made["spec"] == live["spec"]
    assert "labels" not in made["metadata"]
    assert made["metadata"]["annotations"] == {"yes": "1"}
    assert made["metadata"]["generation"] == 1
    owners = [
        (entry["manager"], entry.get("subresource")) for entry in made["metadata"]["managedFields"]
    ]
    assert owners == [("kubectl", None), ("kubectl", "status")]

"""Delete: finalizers, propagation, preconditions, and pods that a node has to end."""

from __future__ import annotations

import pytest

from sandbox.api.api import (
    Api,
    ApiError,
    DeleteOptions,
    Key,
    Patch,
    PatchType,
    Writer,
)
from sandbox.json import JSON
from sandbox.storage.store import Change
from sandbox.times import Timers

ME = Writer("alice", "kubectl")
CONFIG = Key("configmaps", "default", "c")
POD = Key("pods", "default", "p")


@pytest.fixture
def config(api: Api) -> JSON:
    """Return a stored ConfigMap."""
    return api.create("configmaps", "default", {"metadata": {"name": "c"}}, ME)


@pytest.fixture
def running(api: Api) -> JSON:
    """Return a pod that is bound to a node, and gets 20 s to end."""
    spec: JSON = {"containers": [{"name": "web", "image": "shop/web:1"}]}
    spec |= {"terminationGracePeriodSeconds": 20}
    api.create("pods", "default", {"metadata": {"name": "p"}, "spec": spec}, ME)
    bound = api.get(POD)["metadata"]["uid"]
    api.bind(POD, bound, "n", ME)
    return api.get(POD)


def set_finalizers(api: Api, key: Key, *names: str) -> JSON:
    """Set an object's finalizers."""
    body = {"metadata": {"finalizers": list(names) or None}}
    return api.patch(key, Patch(PatchType.MERGE, body), ME)


def test_a_finalizer_holds_an_object(api: Api, config: JSON) -> None:
    """It is marked, deleting again changes nothing, and letting go removes it."""
    set_finalizers(api, CONFIG, "a.b/c")
    marked = api.delete(CONFIG, ME)["metadata"]
    assert marked["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert marked["deletionGracePeriodSeconds"] == 0
    version = api.store.version
    api.delete(CONFIG, ME)
    assert api.store.version == version
    answer = set_finalizers(api, CONFIG)
    assert "finalizers" not in answer["metadata"]
    assert api.store.get(CONFIG) is None


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (
            DeleteOptions(uid="x"),
            "the UID in the precondition (x) does not match the UID in record",
        ),
        (
            DeleteOptions(resource_version="1"),
            "the ResourceVersion in the precondition (1) does not match the ResourceVersion in",
        ),
    ],
)
def test_a_precondition_that_fails_is_a_conflict(
    api: Api, config: JSON, options: DeleteOptions, what: str
) -> None:
    """Nothing is deleted."""
    with pytest.raises(ApiError) as caught:
        api.delete(CONFIG, ME, options)
    assert caught.value.status == 409
    assert what in caught.value.message
    assert api.get(CONFIG) is config


def test_a_second_deletion_only_shortens_the_grace(api: Api, timers: Timers, running: JSON) -> None:
    """From when the first one came; a longer one and none change nothing."""
    api.delete(POD, ME)
    timers.run_due(3)
    before = api.get(POD)
    for options in (DeleteOptions(), DeleteOptions(grace_seconds=30)):
        assert api.delete(POD, ME, options) is before
    made = api.delete(POD, ME, DeleteOptions(grace_seconds=5))["metadata"]
    assert made["deletionTimestamp"] == "2026-01-01T00:00:05Z"
    assert (made["deletionGracePeriodSeconds"], made["generation"]) == (5, 2)


def test_grace_zero_marks_the_pod_and_removes_it(api: Api, running: JSON) -> None:
    """Watches see the mark, then the end: so the kubelet confirms that a pod has ended."""
    heard: list[Change] = []
    api.delete(POD, ME)
    api.store.listen("pods", heard.append)
    api.delete(POD, ME, DeleteOptions(grace_seconds=0))
    assert [change.type for change in heard] == ["MODIFIED", "DELETED"]
    assert heard[0].after is not None
    assert heard[0].after["metadata"]["deletionGracePeriodSeconds"] == 0
    assert heard[0].after["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"
    assert api.store.get(POD) is None

"""Writes: deletions, patches, updates and scales, and what a namespace that goes refuses."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.api.api import (
    Api,
    ApiError,
    DeleteOptions,
    Key,
    Patch,
    PatchType,
    Strictness,
    WriteOptions,
    Writer,
)
from sandbox.json import JSON, copy_json, dig
from sandbox.objects.selectors import selector_text
from sandbox.storage.store import Change
from sandbox.times import Timers
from tests.unit.sandbox.bed import web as deployment

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


SHOP = Key("namespaces", "", "shop")


@pytest.fixture
def shop(api: Api) -> JSON:
    """Return a namespace."""
    return api.create("namespaces", "", {"metadata": {"name": "shop"}}, ME)


def create_config(api: Api, namespace: str) -> JSON:
    """Create a ConfigMap."""
    return api.create("configmaps", namespace, {"metadata": {"name": "c"}}, ME)


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_stay(api: Api, name: str) -> None:
    """403."""
    with pytest.raises(ApiError) as caught:
        api.delete(Key("namespaces", "", name), ME)
    assert (caught.value.status, caught.value.message) == (
        403,
        f'namespaces "{name}" is forbidden: this namespace may not be deleted',
    )


def test_a_terminating_namespace_takes_nothing_in(api: Api, shop: JSON) -> None:
    """403 with the cause that clients look for; what is there may be changed."""
    there = Key("configmaps", "shop", "c")
    create_config(api, "shop")
    api.delete(SHOP, ME)
    with pytest.raises(ApiError) as caught:
        api.create("configmaps", "shop", {"metadata": {"name": "d"}}, ME)
    assert caught.value.status == 403
    assert caught.value.message == (
        'configmaps "d" is forbidden: unable to create new content in namespace shop because it is'
        " being terminated"
    )
    assert caught.value.details["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": "namespace shop is being terminated",
            "field": "metadata.namespace",
        }
    ]
    changed = api.patch(there, Patch(PatchType.MERGE, {"data": {"a": "b"}}), ME)
    assert changed["data"] == {"a": "b"}


@pytest.fixture
def live(api: Api) -> JSON:
    """Return a stored Deployment."""
    return api.create("deployments.apps", "default", deployment(2), ME)


def refusal(api: Api, key: Key, patch: Patch, by: Writer = ME, **options: Any) -> ApiError:
    """Return why a patch is not written."""
    with pytest.raises(ApiError) as caught:
        api.patch(key, patch, by, **options)
    return caught.value


def test_unknown_fields_of_a_patch_are_treated_as_asked(api: Api, web: Key, live: JSON) -> None:
    """Refused when strict, told when warned about."""
    patch, warnings = Patch(PatchType.MERGE, {"spec": {"foo": 1}}), list[str]()
    warned = WriteOptions(strictness=Strictness.WARN, warn=warnings.append)
    assert api.patch(web, patch, ME, options=warned) is live
    assert warnings == ['unknown field "spec.foo"']
    found = refusal(api, web, patch, options=WriteOptions(strictness=Strictness.STRICT))
    assert found.status == 422
    assert found.message.endswith('strict decoding error: unknown field "spec.foo"')


HPA = Writer("system:hpa", "autoscaler")
SCALE = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web"}}


def to(replicas: Any, **metadata: str) -> JSON:
    """Return a Scale that asks for replicas."""
    return {**SCALE, "metadata": {"name": "web", **metadata}, "spec": {"replicas": replicas}}


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({}, ""),
        ({"matchLabels": {"b": "1", "a": "2"}}, "a=2,b=1"),
        (
            {
                "matchLabels": {"m": "1"},
                "matchExpressions": [
                    {"key": "z", "operator": "In", "values": ["y", "x"]},
                    {"key": "a", "operator": "DoesNotExist"},
                    {"key": "b", "operator": "Exists"},
                    {"key": "c", "operator": "NotIn", "values": ["q"]},
                ],
            },
            "!a,b,c notin (q),m=1,z in (x,y)",
        ),
    ],
)
def test_a_selector_is_written_as_one_string(selector: JSON, text: str) -> None:
    """In the order of the labels' names."""
    assert selector_text(selector) == text


@pytest.mark.parametrize(
    "patch",
    [
        Patch(PatchType.MERGE, {"spec": {"replicas": 5}}),
        Patch(PatchType.STRATEGIC, {"spec": {"replicas": 5}}),
        Patch(PatchType.JSON, [{"op": "replace", "path": "/spec/replicas", "value": 5}]),
    ],
)
def test_a_scale_can_be_patched(api: Api, web: Key, live: JSON, patch: Patch) -> None:
    """The answer is a Scale; the object has the replicas, and another owner of them."""
    made = api.patch(web, patch, HPA, subresource="scale")
    assert (made["kind"], made["spec"]) == ("Scale", {"replicas": 5})
    body = api.get(web)
    assert body["spec"] == {**live["spec"], "replicas": 5}
    assert body["metadata"]["generation"] == 2
    owners = {
        (entry["manager"], entry.get("subresource")): entry["fieldsV1"]
        for entry in body["metadata"]["managedFields"]
    }
    assert owners["autoscaler", "scale"] == {"f:spec": {"f:replicas": {}}}
    assert dig(owners["kubectl", None], "f:spec", "f:replicas") is None


def changed(body: JSON, *path: str, to: Any) -> JSON:
    """Return a copy with one value set."""
    made: JSON = copy_json(body)
    place = made
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = to
    return made


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

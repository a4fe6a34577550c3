"""The scale subresource: replicas of a workload through autoscaling/v1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.api.api import Api, ApiError, Key, Patch, PatchType, Writer
from sandbox.api.scale import selector_text
from sandbox.json import JSON, dig

ME = Writer("alice", "kubectl")
HPA = Writer("system:hpa", "autoscaler")
SCALE = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "web"}}


@pytest.fixture
def live(api: Api, deployment: Callable[..., JSON]) -> JSON:
    """Return a stored Deployment."""
    return api.create("deployments.apps", "default", deployment(), ME)


def to(replicas: Any, **metadata: str) -> JSON:
    """Return a Scale that asks for replicas."""
    return {**SCALE, "metadata": {"name": "web", **metadata}, "spec": {"replicas": replicas}}


def refusal(api: Api, key: Key, body: JSON) -> ApiError:
    """Return why a Scale is not written."""
    with pytest.raises(ApiError) as caught:
        api.update(key, body, HPA, subresource="scale")
    return caught.value


def test_a_scale_shows_the_replicas_and_the_selector(api: Api, web: Key, live: JSON) -> None:
    """Those asked for and those that the status counts; zero is left out of the spec."""
    api.patch(web, Patch(PatchType.MERGE, {"status": {"replicas": 1}}), ME, subresource="status")
    found = api.get(web, subresource="scale")
    assert (found["kind"], found["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert found["spec"] == {"replicas": 2}
    assert found["status"] == {"replicas": 1, "selector": "app=web"}
    assert set(found["metadata"]) == {
        "name", "namespace", "uid", "resourceVersion", "creationTimestamp"
    }  # fmt: skip
    api.update(web, to(0), HPA, subresource="scale")
    assert api.get(web, subresource="scale")["spec"] == {}


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
        Patch(PatchType.APPLY, to(5), force=True),
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


def test_a_scale_can_be_replaced(api: Api, web: Key, live: JSON) -> None:
    """Without a version it wins, and the same again is no write."""
    made = api.update(web, to(3), HPA, subresource="scale")
    assert made["spec"] == {"replicas": 3}
    version = api.store.version
    api.update(web, to(3), HPA, subresource="scale")
    assert api.store.version == version


def test_a_dry_run_scales_nothing(api: Api, web: Key, live: JSON) -> None:
    """The answer shows what would be."""
    made = api.update(web, to(3), HPA, subresource="scale", dry_run=True)
    assert made["spec"] == {"replicas": 3}
    assert api.get(web) is live


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (
            to(-1),
            422,
            (
                'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1:'
                " must be greater than or equal to 0"
            ),
        ),
        (to(3, resourceVersion="1"), 409, "the object has been modified"),
        (to(3, uid="x"), 409, "Precondition failed: UID in precondition: x"),
        (to(3, name="e"), 400, "does not match the name on the URL (web)"),
        (
            {**to(3), "kind": "Deployment", "apiVersion": "apps/v1"},
            400,
            (
                'Deployment in version "v1" cannot be handled as a Scale: converting'
                " (v1.Deployment) to (autoscaling.Scale): unknown conversion"
            ),
        ),
        (to("x"), 400, "json: cannot unmarshal string into Go struct field"),
    ],
)
def test_a_scale_that_cannot_be_is_refused(
    api: Api, web: Key, live: JSON, body: JSON, status: int, message: str
) -> None:
    """With the code and the words of the server."""
    found = refusal(api, web, body)
    assert found.status == status
    assert message in found.message
    assert api.get(web) is live


def test_an_applied_scale_meets_conflicts(api: Api, web: Key, live: JSON) -> None:
    """As any apply does."""
    with pytest.raises(ApiError) as caught:
        api.patch(web, Patch(PatchType.APPLY, to(5)), HPA, subresource="scale")
    assert caught.value.status == 409
    assert "conflict with" in caught.value.message


def test_what_is_not_there_has_no_scale(api: Api, web: Key) -> None:
    """404 of the workload."""
    assert refusal(api, web, to(3)).message == 'deployments.apps "web" not found'
    with pytest.raises(ApiError, match="not found"):
        api.get(web, subresource="scale")

"""The scale subresource: replicas of a workload through autoscaling/v1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.api.api import Api, Key, Patch, PatchType, Writer
from sandbox.json import JSON, dig
from sandbox.objects.selectors import selector_text

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

"""Nodes, and which node a pod is for, as they are read and recorded."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.objects import Node
from gate.wire import decode
from gate.wire.masking import Masker
from tests.decoded import decode_pod
from tests.table import each


def terms(*fields: dict[str, Any]) -> dict[str, Any]:
    """Return the affinity by which a pod may run on certain nodes alone."""
    required = {"nodeSelectorTerms": [{"matchFields": [*fields]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def named(*names: str) -> dict[str, Any]:
    """Return the requirement of a name, as the DaemonSet controller writes it."""
    return {"key": "metadata.name", "operator": "In", "values": [*names]}


@pytest.mark.contract("B941", "B952")
@each(
    ("spec", "node"),
    [
        ({"nodeName": "a"}, "a"),
        ({"nodeName": "a", "affinity": terms(named("b"))}, "a"),
        ({"affinity": terms(named("b"))}, "b"),
        ({"affinity": terms(named("b", "c"))}, ""),
        ({"affinity": terms({**named("b"), "operator": "NotIn"})}, ""),
        ({"affinity": {"nodeAffinity": {}}}, ""),
        ({"affinity": {"podAffinity": {}}}, ""),
        ({}, ""),
    ],
)
def test_a_pod_is_for_the_node_that_it_is_on_or_may_only_run_on(
    spec: dict[str, Any], node: str
) -> None:
    """A DaemonSet's pod names its node before it is placed; a recording keeps both."""
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    assert decode_pod(body).node == node
    assert decode_pod(Masker().mask_object(body)).node == node


@pytest.mark.contract("B952")
@each(
    ("conditions", "ready"),
    [
        ([{"type": "Ready", "status": "True"}], True),
        ([{"type": "Ready", "status": "False"}], False),
        ([{"type": "Ready", "status": "Unknown"}], False),
        ([{"type": "MemoryPressure", "status": "True"}], False),
        (None, False),
    ],
)
def test_a_node_is_ready_while_its_kubelet_says_so(
    conditions: list[dict[str, Any]] | None, *, ready: bool
) -> None:
    """An unknown state is none; a recording has the conditions of a node and not its images."""
    body = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "a", "uid": "u", "resourceVersion": "7"},
        "status": {"conditions": conditions, "images": [{"names": ["shop/web:1"]}]},
    }
    kept = Masker().mask_object(body)
    found = [decode.decode_watched(one) for one in (body, kept)]
    assert found == [Node("a", "u", "7", ready), Node("a", "u", "7", ready)]
    assert "images" not in kept["status"]

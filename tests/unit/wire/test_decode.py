"""Objects of the API server to core values, field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import Deployment, ReplicaSet, deployment_ref
from gate.core.model.objects import (
    ClusterEvent,
    Condition,
    Container,
    ContainerStatus,
    Pod,
    PodDeletion,
    Termination,
)
from gate.wire import decode
from tests.decoded import decode_deployment, decode_pod, decode_replica_set
from tests.unit.core.world import container
from tests.unit.wire.api_objects import EVENT, POD, REPLICA_SET, line, text


def test_a_deployment_is_read_field_by_field(deployment: dict[str, Any]) -> None:
    """Each field that the judge knows comes from its place in the API's object."""
    found = decode_deployment(deployment)
    assert found == Deployment(
        ref=deployment_ref("shop", "web"),
        uid="d-1",
        resource_version="17",
        generation=3,
        revision=2,
        deleting=False,
        paused=True,
        replicas=4,
        min_ready_seconds=5,
        progress_deadline_seconds=60,
        recreate=False,
        max_surge="1",
        max_unavailable="25%",
        template=found.template,
        observed_generation=3,
        status_replicas=5,
        updated_replicas=2,
        ready_replicas=3,
        available_replicas=3,
        terminating_replicas=1,
        conditions=(
            Condition("Progressing", "False", "ProgressDeadlineExceeded", text("timed out")),
        ),
    )
    assert found.template.containers == (
        Container("mesh", text("mesh:1"), init=True),
        Container("web", text("shop/web:1")),
    )
    assert found.template.body.thaw() == deployment["spec"]["template"]


def test_a_replica_set_is_read_field_by_field() -> None:
    """Its template comes without the hash label, its change cause on one line."""
    found = decode_replica_set(REPLICA_SET)
    assert found == ReplicaSet(
        name="web-abc",
        namespace="shop",
        uid="rs-1",
        resource_version="8",
        owner_uid="d-1",
        revision=2,
        deleting=False,
        created_at="2026-01-01T00:00:00Z",
        change_cause=text("two lines"),
        replicas=2,
        template=found.template,
        observed_generation=1,
        status_replicas=2,
        ready_replicas=1,
        available_replicas=1,
        conditions=(Condition("ReplicaFailure", "True", "FailedCreate", text("quota")),),
        generation=2,
        min_ready_seconds=5,
        label_value="abc",
    )
    assert "pod-template-hash" not in found.template.body.thaw()["metadata"]["labels"]


@pytest.mark.contract("B176")
def test_a_pod_is_read_field_by_field() -> None:
    """Init containers come first, messages come clean, the controller is the owner."""
    assert decode_pod(POD) == Pod(
        name="web-1",
        namespace="shop",
        uid="p-1",
        resource_version="9",
        owner_uid="rs-1",
        deleting=True,
        phase="Running",
        reason=text(""),
        ready=True,
        unschedulable=text("no node"),
        containers=(
            status(
                "init",
                init=True,
                ready=True,
                terminated=Termination(text("Completed"), 0, text(""), ""),
            ),
            status(
                "web",
                restarts=3,
                waiting_reason=text("CrashLoopBackOff"),
                waiting_message=text("back-off 1m"),
                last_terminated=Termination(
                    text("OOMKilled"), 137, text("last\nwords"), "2026-01-01T00:00:01Z"
                ),
                image_id=text("sha256:1"),
            ),
            status("sidecar", running=True),
        ),
        deletion=PodDeletion(30.0, (text("example.com/hold"),)),
    )


def status(name: str, **more: Any) -> ContainerStatus:
    """Make a container's status that has nothing to say but `more`."""
    return container(name, **{"ready": False, "running": False, **more})


@pytest.mark.contract("B176")
def test_an_event_is_read_field_by_field() -> None:
    """An event names what it is about; its message can command no CI host."""
    event = decode.watch_line(line("ADDED", EVENT)).object
    assert event == ClusterEvent(
        uid="e-1",
        resource_version="4",
        about_kind="Pod",
        about_name="web-1",
        about_uid="p-1",
        type="Warning",
        reason=text("BackOff"),
        message=text(": :error::Back-off"),
        count=7,
        at="2026-01-01T00:05:00Z",
    )


@pytest.mark.parametrize(
    ("change", "count", "at"),
    [
        ({"series": {"count": 9, "lastObservedTime": "T9"}}, 9, "T9"),
        ({"lastTimestamp": None, "eventTime": "T5", "count": None}, 1, "T5"),
        ({"lastTimestamp": None}, 7, "2026-01-01T00:00:00Z"),
    ],
)
def test_events_of_either_api_have_count_and_time(
    change: dict[str, Any], count: int, at: str
) -> None:
    """Series, legacy timestamps and the time of the first: the last one known counts."""
    event = decode.watch_line(line("ADDED", {**EVENT, **change})).object
    assert isinstance(event, ClusterEvent)
    assert (event.count, event.at) == (count, at)


@pytest.mark.contract("B43")
def test_templates_of_owner_and_owned_are_equal(deployment: dict[str, Any]) -> None:
    """The hash label and the order of keys do not count, all else does."""
    owner = decode_deployment(deployment).template
    assert decode_replica_set(REPLICA_SET).template == owner
    other = json.loads(json.dumps(REPLICA_SET).replace("shop/web:1", "shop/web:2"))
    assert decode_replica_set(other).template != owner


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"progressDeadlineSeconds": None}, {"progress_deadline_seconds": 600}),
        ({"replicas": None}, {"replicas": 1}),
        ({"replicas": 0}, {"replicas": 0}),
        ({"paused": None}, {"paused": False}),
        (
            {"strategy": {"type": "Recreate"}},
            {"recreate": True, "max_surge": "0", "max_unavailable": "0"},
        ),
        ({"strategy": None}, {"recreate": False, "max_surge": "25%", "max_unavailable": "25%"}),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0}}},
            {"max_surge": "0", "max_unavailable": "25%"},
        ),
    ],
)
def test_what_a_spec_leaves_out_has_its_default(
    deployment: dict[str, Any], spec: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Null and missing fields mean the API's default."""
    given_nulls = decode_deployment({**deployment, "spec": {**deployment["spec"], **spec}})
    present = {key: value for key, value in spec.items() if value is not None}
    bare = {key: value for key, value in deployment["spec"].items() if key not in spec}
    left_out = decode_deployment({**deployment, "spec": {**bare, **present}})
    for found in (given_nulls, left_out):
        assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize("revision", ["", "two", "-1", "1" * 5000, None])
def test_a_revision_that_is_no_number_is_none(
    deployment: dict[str, Any], revision: str | None
) -> None:
    """Anybody may write annotations."""
    annotations = {"deployment.kubernetes.io/revision": revision}
    meta = {**deployment["metadata"], "annotations": annotations}
    assert decode_deployment({**deployment, "metadata": meta}).revision is None


CONTAINERS_NOT_READY = {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}
GATE_NOT_READY = {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady"}


@pytest.mark.contract("B91")
@pytest.mark.parametrize(
    ("ready", "containers_ready", "silent"),
    [
        ({"type": "Ready", "status": "False"}, "True", True),
        ({"type": "Ready", "status": "True"}, "True", False),
        ({"type": "Ready", "status": "False"}, "False", False),
        (CONTAINERS_NOT_READY, "False", False),
        (GATE_NOT_READY, "True", False),
        ({"type": "Ready", "status": "False"}, None, False),
    ],
)
def test_a_pod_tells_of_a_node_that_is_not_heard_of(
    ready: dict[str, str], containers_ready: str | None, silent: bool
) -> None:
    """As seen on Kubernetes 1.36: `Ready` alone is changed, without a reason."""
    conditions = [ready]
    if containers_ready is not None:
        conditions.append({"type": "ContainersReady", "status": containers_ready})
    metadata = {"name": "web-1", "namespace": "shop", "uid": "u", "resourceVersion": "1"}
    body = {"kind": "Pod", "metadata": metadata, "status": {"conditions": conditions}}
    assert decode_pod(json.dumps(body).encode()).node_silent is silent


@pytest.mark.contract("B84", "B114")
@pytest.mark.parametrize(
    ("started", "turned", "status", "seconds"),
    [
        ("2026-01-01T00:00:05Z", "2026-01-01T00:00:45Z", "True", 40.0),
        ("2026-01-01T00:00:05Z", "2026-01-01T00:00:45Z", "False", None),
        ("2026-01-01T00:00:45Z", "2026-01-01T00:00:05Z", "True", None),
        ("soon", "2026-01-01T00:00:05Z", "True", None),
        ("2026-01-01T00:00:05", "2026-01-01T00:00:45Z", "True", None),
        (None, None, "True", None),
    ],
)
def test_a_ready_pod_tells_how_long_its_start_took(
    started: str | None, turned: str | None, status: str, seconds: float | None
) -> None:
    """By the two times that its kubelet wrote; what makes no sense is not told."""
    condition = {"type": "Ready", "status": status, "lastTransitionTime": turned}
    metadata = {"name": "web-1", "namespace": "shop", "uid": "u", "resourceVersion": "1"}
    body = {
        "kind": "Pod",
        "metadata": metadata,
        "status": {"startTime": started, "conditions": [condition]},
    }
    assert decode_pod(json.dumps(body).encode()).start_seconds == seconds

"""The kubelet in process: pods and logs of a sandbox, through its API and in its time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.api.registry import Admission
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.kubelet.behaviour import ANNOTATION
from tests.unit.sandbox.bed import NAMESPACE, TEAM, Bed


def body(asked: str = "", name: str = "web", **spec: object) -> JSON:
    """Return a pod as somebody creates it."""
    annotations = {ANNOTATION: asked} if asked else {}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"containers": [{"name": "web", "image": "shop/web:1"}], **spec},
    }


def create(bed: Bed, pod: JSON) -> None:
    """Create a pod and let a moment pass."""
    bed.api.create("pods", NAMESPACE, pod, TEAM)
    bed.run(0.05)


def test_a_pod_that_goes_in_mid_flight_disturbs_nobody(bed: Bed) -> None:
    """Requests on their way to a pod that has gone are dropped; another of its name is played."""
    for pod in (body(), body("mount-error")):
        bed.api.create("pods", NAMESPACE, pod, TEAM)
        bed.run(0.0015)
        bed.api.store.remove(bed.key("pods", "web"))
    create(bed, body())
    bed.run(1)
    conditions = bed.get("pods", "web")["status"]["conditions"]
    assert {each["status"] for each in conditions if each["type"] == "Ready"} == {"True"}


def test_a_request_that_makes_no_sense_is_a_loud_mistake(bed: Bed) -> None:
    """A refusal that no pod explains ends the run: nothing is swallowed."""

    def refuse(_: Admission) -> None:
        raise ApiError(500, "", "out of order")

    create(bed, body())
    bed.api.admissions.append(refuse)
    bed.kubelet.evict(NAMESPACE, "web")
    with pytest.raises(ApiError, match="out of order"):
        bed.run(1)


def refused(read: Callable[[], bytes]) -> tuple[int, str]:
    """Return the status and the message of a refusal."""
    with pytest.raises(ApiError) as raised:
        read()
    return raised.value.status, raised.value.message


def test_logs_are_refused_as_the_server_does(bed: Bed) -> None:
    """Unknown pods and containers, several containers, and what has not started."""
    log = bed.kubelet.log
    images = [{"name": name, "image": "shop/web:1"} for name in ("web", "proxy")]
    init = [{"name": "init", "image": "shop/init:1"}]
    create(bed, body("init-crash", containers=images, initContainers=init))
    assert refused(lambda: log(NAMESPACE, "nix")) == (404, 'pods "nix" not found')
    unknown = "container db is not valid for pod web"
    assert refused(lambda: log(NAMESPACE, "web", "db")) == (400, unknown)
    choice = "a container name must be specified for pod web, choose one of: [init web proxy]"
    assert refused(lambda: log(NAMESPACE, "web")) == (400, choice)
    waits = 'container "web" in pod "web" is waiting to start: PodInitializing'
    assert refused(lambda: log(NAMESPACE, "web", "web")) == (400, waits)

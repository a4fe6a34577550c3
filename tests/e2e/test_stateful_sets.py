"""StatefulSets with what only a real control plane has: `maxUnavailable`, an autoscaler at work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bed.expectations import assert_rolled_back, assert_verified, changes
from tests.bed.pods import image_of
from tests.bed.scene import Scene
from tests.cluster import external_metrics
from tests.cluster.audit import Trail
from tests.cluster.external_metrics import ExternalMetric
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.cluster.rollouts import is_settled
from tests.cluster.workloads import stateful_set

WRITTEN = "patch statefulsets/db"
PARALLEL: JSON = {
    "podManagementPolicy": "Parallel",
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
}


@pytest.mark.parametrize(
    "freed",
    [
        pytest.param([], id="gate-off"),
        pytest.param(
            ["create pods/db-2/eviction"],
            marks=pytest.mark.configuration("max-unavailable"),
            id="gate-on",
        ),
    ],
)
def test_a_parallel_stateful_set_is_freed_where_it_does_not_free_itself(
    scene: Scene, audit: Trail, freed: list[str]
) -> None:
    """What is seen to be stuck decides: with the feature gate on, `Parallel` is stuck as well."""
    scene.serve(stateful_set(**PARALLEL))
    bad = stateful_set(image="shop/db:2", behaviour="crash=0.1", **PARALLEL)
    assert_rolled_back(scene.apply(bad), "CrashLoop")
    assert {image_of(pod) for pod in scene.objects.list_all("pods")} == {"shop/db:1"}
    assert changes(audit) == [WRITTEN, WRITTEN, *freed]


CONTROLLERS = "kube-controller-manager/"
PER_POD = 10


@pytest.fixture
def metric(objects: Objects, tmp_path: Path) -> Iterator[ExternalMetric]:
    """Return the metric that the autoscaler goes by; it asks for three pods."""
    with external_metrics.served(objects, tmp_path, value=3 * PER_POD) as ready:
        yield ready


@pytest.mark.configuration("autoscaling")
@pytest.mark.contract("B52", "B71")
@pytest.mark.parametrize("is_good", [True, False])
def test_what_an_autoscaler_decides_meanwhile_is_rolled_out(
    scene: Scene, audit: Trail, metric: ExternalMetric, *, is_good: bool
) -> None:
    """Of two pods it has made three, and makes four in mid-flight: they stay, on both legs.

    The manifest names two, which the gate leaves to the autoscaler.
    """
    hpa = external_metrics.autoscaler("StatefulSet", "db", per_pod=PER_POD, most=9)
    scene.serve(stateful_set(replicas=2), hpa)
    scene.objects.wait_for("statefulsets", "db", lambda live: scaled_to(live, 3))
    bad = "" if is_good else "crash=0.5"
    body = stateful_set(image="shop/db:2", replicas=2, behaviour=bad or "ready=3")
    with scene.applying(body) as running:
        scene.objects.wait_for("pods", "db-2", lambda pod: image_of(pod) == "shop/db:2")
        metric.value = 4 * PER_POD
        scene.objects.wait_for("statefulsets", "db", lambda live: live["spec"]["replicas"] == 4)
        result = running.wait()
    if is_good:
        assert_verified(result)
    else:
        assert_rolled_back(result, "CrashLoop")
    pods = [image_of(pod) for pod in scene.objects.list_all("pods")]
    assert pods == [f"shop/db:{2 if is_good else 1}"] * 4
    written = [WRITTEN] if is_good else [WRITTEN, WRITTEN, "create pods/db-2/eviction"]
    assert changes(audit) == written
    scalings = audit.requests(CONTROLLERS).writes().of(namespace=scene.objects.namespace)
    assert {each.verb for each in scalings if each.subresource == "scale"} == {"update"}


def scaled_to(live: JSON, replicas: int) -> bool:
    """Whether a StatefulSet is to have so many pods, and has them."""
    return is_settled(live) and live["spec"]["replicas"] == replicas

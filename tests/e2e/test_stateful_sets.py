"""StatefulSets with what only a real control plane has: `maxUnavailable`, volumes."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_rolled_back, changes
from tests.bed.pods import image_of
from tests.bed.scene import Scene
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
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

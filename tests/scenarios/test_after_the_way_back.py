"""What others change behind a way back whose gate has died: `recover` names it as a live gate."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_rolled_back, warned
from tests.bed.scene import Scene, settings
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set

HELD: JSON = {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}}


@pytest.mark.contract("B1306")
@pytest.mark.parametrize(
    ("spec", "field"), [(HELD, "spec.updateStrategy"), ({"replicas": 4}, "spec.replicas")]
)
@pytest.mark.parametrize("dies", [False, True], ids=["", "recovered"])
def test_what_others_change_after_the_restoration_is_named(
    scene: Scene, spec: JSON, field: str, *, dies: bool
) -> None:
    """The strategy, or the replicas, are not as they were restored: said, with who did it."""
    scene.serve(settings("v1"), stateful_set(partition=0))
    bad = stateful_set(image="shop/db:2", behaviour="crash=0.1", partition=0)
    with scene.applying(settings("v2"), bad) as running:
        running.wait_for_line("restored +statefulset/db")
        if dies:
            running.kill()
        scene.objects.patch("statefulsets", "db", {"spec": spec})
        result = scene.gate("recover", "sts/db", "--output", "json") if dies else running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "statefulset/db is not as this run restored it", field), str(result)
    assert not warned(result, "configmap/settings is not"), result.document["warnings"]

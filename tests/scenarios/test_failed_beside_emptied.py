"""What the first line says where one workload failed, and somebody had scaled another to 0."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, web
from tests.cluster.workloads import stateful_set
from tests.scenarios.versions import CRASH, one_line, report

SLOW, LONG_SECONDS = "ready=120", 300.0


@pytest.mark.contract("B1785")
@pytest.mark.sandbox_only("a real crash loop would add nothing but waiting")
def test_what_failed_is_named_beside_what_was_scaled_to_0(scene: Scene) -> None:
    """Somebody's 0 decides the exit code; the failure of the other is why anything went back."""
    assert_verified(scene.apply(web(), stateful_set()))
    bad = stateful_set(image="shop/db:2", behaviour=CRASH)
    with scene.applying(web(2, behaviour=SLOW), bad) as running:
        running.wait_for_line(UNDER_WAY)
        scene.kubectl("scale", "deployment/web", "--replicas=0", check=True)
        result = running.wait(LONG_SECONDS)
    assert result.exit_code == 8, str(result)
    first, _, _ = one_line(report(scene, result)).partition(" where ")
    assert first.endswith(
        "(exit 8): somebody else scaled down deployment/web; it went back at 0; what has no pod"
        " could not be judged; statefulset/db failed and went back"
    ), first

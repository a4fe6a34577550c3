"""A workload that somebody scales to 0 before its write, beside configuration that goes back."""

from __future__ import annotations

import pytest

from tests.bed.expectations import assert_ended, images
from tests.bed.scene import secret, settings, web
from tests.scenarios.proxy import Proxy, nth, then, writes
from tests.scenarios.versions import mode, one_line, report

pytestmark = pytest.mark.sandbox_only("somebody scales between two requests")


@pytest.mark.contract("B1874")
def test_no_fault_is_told_of_what_was_never_written(proxy: Proxy) -> None:
    """All else is back, so there is nothing to return to: it is scaled up again, or stays."""
    scene = proxy.scene
    good, bad = (
        (settings(mode), secret(mode), web(number), web(number, name="api"))
        for number, mode in ((1, "one"), (2, "two"))
    )
    assert scene.apply(*good).exit_code == 0
    to_zero = then(lambda: scene.change_as("kubectl", {"spec": {"replicas": 0}}, "scale"))
    proxy.on(nth(1, writes("secrets/keys")), to_zero)
    result = scene.apply(*bad)
    proxy.rest()
    assert_ended(result, 8, "superseded", "ScaledToZero")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
    assert mode(scene) == "one"
    text = one_line(report(scene, result))
    assert "kubectl scale deployment/web --replicas=2" in text
    for untrue in ("after ApplyRejected", "cannot restore", "rollout-gate undo", "correct what"):
        assert untrue not in text

"""After a way back beside what others did: which flags the next apply takes, and since when."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

import pytest

from tests.bed.expectations import (
    assert_refused,
    assert_rolled_back,
    assert_verified,
    warned,
)
from tests.bed.scene import settings, web
from tests.scenarios.held_configuration import HAND, assert_back, assert_mended, mend, waiting
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy
from tests.scenarios.versions import one_line, report

pytestmark = pytest.mark.sandbox_only("a webhook that fails at a chosen moment is played")
REVISION: Final = "deployment.kubernetes.io/revision"


@pytest.mark.contract("B911", "B1816")
def test_the_next_apply_takes_over_what_somebody_mended(proxy: Proxy) -> None:
    """Without the flag that the report names it is refused: whoever mended it owns it."""
    scene = proxy.scene
    with waiting(proxy) as running:
        mend(scene)
        result = running.wait()
    assert_mended(result)
    assert f"the next apply takes --take-over {HAND}" in report(scene, result)
    proxy.rest()
    good = settings("three"), web(3)
    assert_refused(scene.apply(*good), "Conflict", HAND)
    assert_verified(scene.apply(*good, flags=("--take-over", HAND)))


@pytest.mark.contract("B911")
def test_the_next_apply_takes_over_what_somebody_undid(proxy: Proxy) -> None:
    """The gate was dead by then, and what it had applied is returned: the way back is `recover`."""
    scene = proxy.scene
    with waiting(proxy) as running:
        running.kill()
    proxy.rest()
    sets = scene.objects.list_all("replicasets")
    old = min(sets, key=lambda one: one["metadata"]["annotations"][REVISION])
    template = {**old["spec"]["template"], "metadata": {"annotations": None}}
    scene.change_as("kubectl", {"spec": {"template": template}})
    result = recover(scene, "web")
    assert_back(result)
    said = "deployment/web: others wrote it; the next apply takes --take-over kubectl"
    assert said in report(scene, result)
    good = settings("three"), web(3)
    assert_refused(scene.apply(*good), "Conflict", "kubectl")
    assert_verified(scene.apply(*good, flags=("--take-over", "kubectl")))


@pytest.mark.contract("B911", "B1840")
@pytest.mark.parametrize("dies", [False, True])
def test_the_next_apply_resumes_what_somebody_paused(proxy: Proxy, dies: bool) -> None:
    """Without the flag that the report names it is refused."""
    scene = proxy.scene
    with waiting(proxy) as running:
        if dies:
            running.kill()
        scene.kubectl("rollout", "pause", "deployment/web", check=True)
        proxy.rest()
        result = recover(scene, "web") if dies else running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert result.document["workloads"][0]["paused"]
    said = "deployment/web: ask whoever paused it; the next apply takes --resume"
    assert said in report(scene, result)
    good = settings("three"), web(3)
    assert_refused(scene.apply(*good), "Paused")
    assert_verified(scene.apply(*good, flags=("--resume",)))


@pytest.mark.contract("B1841")
def test_a_way_back_is_verified_so_long_after_its_first_write(proxy: Proxy) -> None:
    """What it waited for before that does not count, or the two times would contradict the end."""
    scene = proxy.scene
    with waiting(proxy) as running:
        proxy.rest()
        result = running.wait()
    assert_back(result)
    back = result.document["rollback"]
    assert back["written_after_seconds"] > 5.0
    after = back["duration_seconds"] - back["written_after_seconds"]
    line = r"rollback +written at \S+, verified (?:at once|after ([0-9.]+)s)"
    said = re.search(line, report(scene, result))
    assert said is not None
    assert float(said[1] or 0) == pytest.approx(after, abs=0.1)
    decided_at = next(
        line["at_seconds"] for line in result.document["timeline"] if line["event"] == "rollback"
    )
    written_at = datetime.fromisoformat(back["written_at"])
    since_start = written_at - datetime.fromisoformat(result.document["started_at"])
    wanted = decided_at + back["written_after_seconds"]
    assert since_start.total_seconds() == pytest.approx(wanted, abs=0.1)


@pytest.mark.contract("B911")
def test_the_next_apply_takes_over_what_was_left_to_somebody(proxy: Proxy) -> None:
    """They set another value while the way back was kept off, and the gate left it to them."""
    scene = proxy.scene
    with waiting(proxy) as running:
        mend(scene, "nine")
        proxy.rest()
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, f"configmap/settings was left alone: {HAND} changed data.mode")
    said = f"apply again if yours should win, with --take-over {HAND}"
    assert said in one_line(report(scene, result))

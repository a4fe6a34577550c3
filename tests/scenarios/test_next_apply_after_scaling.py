"""After others scaled a workload in mid-flight: the flags that a report names are taken."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_verified,
)
from tests.bed.scene import Scene, settings, web
from tests.scenarios.killing import recover
from tests.scenarios.proxy import Proxy, nth, then, writes
from tests.scenarios.versions import CRASH, one_line, report

pytestmark = pytest.mark.sandbox_only("somebody scales between two requests, or before `recover`")
SCALED = "deployment/web: others scaled it; the next apply takes --replicas keep, or apply"


def scale(scene: Scene) -> None:
    """Scale the Deployment as `kubectl scale` does."""
    scene.change_as("kubectl", {"spec": {"replicas": 3}}, "scale")


@pytest.mark.contract("B1873", "B72")
@pytest.mark.parametrize("choice", ["keep", "apply"])
def test_a_conflict_over_the_number_alone_is_settled_by_its_own_flag(
    proxy: Proxy, choice: str
) -> None:
    """To take the field over would not be enough: the manifest's number is not the live one."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    proxy.on(nth(1, writes("configmaps/settings")), then(lambda: scale(scene)))
    result = scene.apply(settings("two"), web(2))
    proxy.rest()
    assert_ended(result, 4, "rolled-back", "ApplyRejected")
    text = one_line(report(scene, result))
    assert f"--replicas {choice}" in text
    assert "--take-over" not in text
    assert_verified(scene.apply(settings("two"), web(2), flags=("--replicas", choice)))


@pytest.mark.contract("B1873", "B1840")
@pytest.mark.parametrize("write", [1, 2], ids=["before", "after"])
def test_the_next_apply_decides_on_a_number_of_others(proxy: Proxy, write: int) -> None:
    """They scaled before the way back, which left the number, or after it."""
    scene = proxy.scene
    assert_verified(scene.apply(settings("one"), web()))
    proxy.on(nth(write, writes("deployments/web")), then(lambda: scale(scene)))
    result = scene.apply(settings("two"), web(2, behaviour=CRASH))
    proxy.rest()
    assert_rolled_back(result, "CrashLoop")
    text = one_line(report(scene, result))
    assert SCALED in text
    assert "--take-over" not in text
    assert_refused(scene.apply(settings("three"), web(3)), "Conflict")
    assert_verified(scene.apply(settings("three"), web(3), flags=("--replicas", "keep")))


@pytest.mark.contract("B1873")
def test_a_recovery_names_the_flag_for_a_number_of_others(scene: Scene) -> None:
    """To repeat the command that began it would be refused."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), web(2)) as running:
        running.wait_for_line("following")
        running.kill()
    scale(scene)
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    assert SCALED in one_line(report(scene, result))
    assert_refused(scene.apply(settings("two"), web(2)), "Conflict")
    assert_verified(scene.apply(settings("two"), web(2), flags=("--replicas", "keep")))


@pytest.mark.contract("B1873", "B61")
def test_no_flag_is_named_for_what_kubectl_applied(scene: Scene) -> None:
    """The next apply takes it over without one."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(settings("two"), web(2, behaviour=CRASH)) as running:
        running.wait_for_line("following")
        scene.kubectl("apply", "-f", scene.manifest(settings("one")), check=True)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert "--take-over" not in one_line(report(scene, result))
    assert_verified(scene.apply(settings("three"), web(3)))

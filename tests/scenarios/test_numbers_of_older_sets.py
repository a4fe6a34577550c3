"""A failure returns to an older version: the number of replicas is that of before the attempt."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_apply, recover
from tests.scenarios.versions import CRASH, KEEP

IMPOSED = ("--replicas", "apply")
REFUSAL = "deployment/web has 5 replicas, the manifest asks for 3, and 3 were applied last"
RETURNED = "restored +deployment/web"


def left_bad(scene: Scene, *, is_verified: bool = True) -> None:
    """Let a version that failed stand over one that serves, with 3 replicas each."""
    if is_verified:
        assert_verified(scene.apply(web(replicas=3)))
    else:
        scene.serve(web(replicas=3))
    kept = scene.apply(web(2, behaviour=CRASH, replicas=3), flags=KEEP)
    assert_ended(kept, 6, "failed", "CrashLoop")


def scaled_to(scene: Scene, replicas: int) -> None:
    """Scale the Deployment as people do."""
    scene.kubectl("scale", "deployment/web", f"--replicas={replicas}", check=True)


@pytest.mark.contract("B1820", "B1800")
@pytest.mark.parametrize("is_verified", [True, False])
def test_what_somebody_had_scaled_it_to_comes_back(scene: Scene, *, is_verified: bool) -> None:
    """Whether a gate verified the older version or its ReplicaSet alone is known; it stays theirs.

    3 were imposed by the very attempt that failed.
    """
    left_bad(scene, is_verified=is_verified)
    scaled_to(scene, 5)
    assert_rolled_back(scene.apply(web(3, behaviour=CRASH, replicas=3), flags=IMPOSED), "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", replicas=5)
    assert_refused(scene.apply(web(4, replicas=3)), "Conflict", REFUSAL)


@pytest.mark.contract("B1820")
def test_the_gates_own_number_comes_back(scene: Scene) -> None:
    """A version of 5 replicas failed: the one that serves again has 3, as before."""
    left_bad(scene)
    assert_rolled_back(scene.apply(web(3, behaviour=CRASH, replicas=5)), "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", replicas=3)


@pytest.mark.contract("B1820")
def test_the_nought_that_nobody_owned_comes_back(scene: Scene) -> None:
    """What failed was scaled to 0: the attempt that imposed pods failed, too, and none is left."""
    left_bad(scene)
    scaled_to(scene, 0)
    failed = scene.apply(web(3, behaviour=CRASH, replicas=3), flags=IMPOSED)
    assert_rolled_back(failed, "CrashLoop", running="none")
    assert_runs(scene.objects, "shop/web:1", replicas=0)
    assert_refused(scene.apply(web(4, replicas=3)), "Conflict", "has 0 replicas")


@pytest.mark.contract("B1820")
def test_a_stateful_sets_number_comes_back(scene: Scene) -> None:
    """Its older version is that of a ControllerRevision."""
    assert_verified(scene.apply(stateful_set()))
    assert scene.apply(stateful_set(image="shop/db:2", behaviour=CRASH), flags=KEEP).exit_code == 6
    scene.objects.patch("statefulsets", "db", {"spec": {"replicas": 5}}, subresource="scale")
    bad = stateful_set(image="shop/db:3", behaviour=CRASH)
    assert_rolled_back(scene.apply(bad, flags=IMPOSED), "CrashLoop")
    live = scene.objects.get("statefulsets", "db")
    assert (images(live), _number(live)) == (["shop/db:1"], 5)
    again = scene.apply(stateful_set(image="shop/db:4"))
    assert_refused(again, "Conflict", "statefulset/db has 5 replicas")


@pytest.mark.contract("B1820", "B530")
@pytest.mark.sandbox_only("minutes of waiting for the lock of the dead gate")
@pytest.mark.parametrize("is_verified", [True, False])
@pytest.mark.parametrize("line", [UNDER_WAY, RETURNED])
def test_a_recovery_brings_it_back(
    scene: Scene, program: PlayedGate, line: str, *, is_verified: bool
) -> None:
    """Whether it finds the number returned already, or returns it itself; it stays theirs."""
    left_bad(scene, is_verified=is_verified)
    scaled_to(scene, 5)
    bad = web(3, behaviour=CRASH, replicas=3)
    kill_apply(scene, program, bad, line=line, flags=IMPOSED)
    assert recover(scene, "web").exit_code == 4
    assert_runs(scene.objects, "shop/web:1", replicas=5)
    assert_refused(scene.apply(web(4, replicas=3)), "Conflict", REFUSAL)


def _number(live: JSON) -> int:
    number: int = live["spec"]["replicas"]
    return number

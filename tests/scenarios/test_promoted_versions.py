"""What was verified by one partition, and is rolled out by another since: nobody verified that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_verified
from tests.bed.jobs import PHASE, job
from tests.bed.scene import Scene, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.played.gate import PlayedGate
from tests.scenarios.killing import die_at, signal_at
from tests.scenarios.test_unverified_return import judgements
from tests.scenarios.versions import CRASH, KEEP


def db(version: int, **spec: Any) -> JSON:
    """Return a StatefulSet of a version."""
    return stateful_set(image=f"shop/db:{version}", **spec)


def verify_canary(scene: Scene, *beside: JSON) -> None:
    """Verify a version, and then another one that one of three pods runs."""
    assert_verified(scene.apply(db(1), *beside))
    assert_verified(scene.apply(db(2, partition=2), *beside), "Partitioned", running="mixed")


@pytest.mark.contract("B1442")
def test_a_promotion_that_another_failure_broke_is_not_verified_by_serving_again(
    scene: Scene,
) -> None:
    """All pods run the canary since, which `history` calls not verified: so it stays."""
    verify_canary(scene, web())
    result = scene.apply(db(2), web(2, behaviour=CRASH))
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert judgements(scene, "sts/db")[2] == ("not verified", "SiblingFailed", True)
    failed = scene.apply(db(3, partition=2, behaviour=CRASH), web())
    assert_rolled_back(failed, "CrashLoop")
    assert "returns to revision 2 (shop/db:2), not verified (SiblingFailed)" in failed.stderr
    assert judgements(scene, "sts/db")[4] == ("not verified", "SiblingFailed", True)


def lose_a_smoke_test(scene: Scene, body: JSON, name: str) -> None:
    """Roll a workload out, and leave it there: the gate dies, and nobody knows what a Job found."""
    smoke = job("smoke", behaviour="complete", annotations={PHASE: "after"})
    smoke["spec"]["ttlSecondsAfterFinished"] = 0
    die_at(scene, "applied +job/smoke", body, smoke, flags=("--bake", "60s"))
    scene.objects.wait("jobs", lambda found: not found)
    recovered = scene.gate("recover", name, "--output", "json")
    assert_ended(recovered, 7, "inconclusive", "Interrupted")


@pytest.mark.contract("B1570")
@pytest.mark.sandbox_only("what is remembered of a recovery that other scenarios play there")
def test_a_promotion_that_was_cut_off_is_not_verified_by_serving_again(scene: Scene) -> None:
    """The canary was verified: its partition comes back, and the pods that it held do not."""
    verify_canary(scene)
    lose_a_smoke_test(scene, db(2), "sts/db")
    failed = scene.apply(db(3, behaviour=CRASH))
    assert_rolled_back(failed, "CrashLoop")
    there = "revision 2 (shop/db:2) with the strategy of its verification"
    assert f"a failure returns to {there}, not verified (Interrupted)" in failed.stderr
    assert failed.document["workloads"][0]["baseline"]["unverified"] == "Interrupted"
    assert judgements(scene, "sts/db")[4] == ("interrupted", "Interrupted", True)


@pytest.mark.contract("B1570")
@pytest.mark.sandbox_only("what is remembered of a recovery that other scenarios play there")
def test_a_canary_that_still_holds_a_pod_back_is_what_was_verified(scene: Scene) -> None:
    """Its promotion went half of the way, and was cut off: there is a pod to hold."""
    verify_canary(scene)
    lose_a_smoke_test(scene, db(2, partition=1), "sts/db")
    failed = scene.apply(db(3, behaviour=CRASH))
    assert_ended(failed, 4, "rolled-back", "CrashLoop", running="mixed")
    assert "a failure returns to the last verified revision 2 (shop/db:2)" in failed.stderr
    assert judgements(scene, "sts/db")[4] == ("verified", "", True)


@pytest.mark.contract("B1570")
@pytest.mark.sandbox_only("what is remembered of a recovery that other scenarios play there")
@pytest.mark.parametrize(("make", "name"), [(web, "web"), (db, "sts/db")])
def test_what_holds_no_pod_back_is_verified_again_with_all_that_it_was_verified_with(
    scene: Scene, make: Callable[..., JSON], name: str
) -> None:
    """Its pods were of that version all the while, and its strategy holds none of another one."""
    assert_verified(scene.apply(make(2)))
    lose_a_smoke_test(scene, make(2, minReadySeconds=1), name)
    failed = scene.apply(make(3, behaviour=CRASH))
    assert_rolled_back(failed, "CrashLoop")
    image = f"shop/{name.removeprefix('sts/')}:2"
    assert f"a failure returns to the last verified revision 1 ({image})" in failed.stderr
    assert judgements(scene, name)[3] == ("verified", "", True)


@pytest.mark.contract("B1624")
@pytest.mark.sandbox_only("a moment before the controller's first look")
def test_a_promotion_that_changed_no_pod_leaves_the_canary_verified(
    scene: Scene, program: PlayedGate
) -> None:
    """A signal ended it at once, and it was taken back: nothing was found against the canary."""
    verify_canary(scene)
    path = scene.manifest(db(2))
    signal_at(program, " applied ", "apply", "-f", path)
    assert judgements(scene, "sts/db")[2][0] == "interrupted"
    recovered = scene.gate("recover", "sts/db", "--output", "json")
    assert_ended(recovered, 4, "rolled-back", "Interrupted", running="mixed")
    assert judgements(scene, "sts/db")[2][0] == "verified"


@pytest.mark.contract("B1571")
@pytest.mark.sandbox_only("which of both is done first")
def test_a_promotion_beside_a_failure_is_complete_and_not_verified(scene: Scene) -> None:
    """All pods run what was verified as a canary; so it stays when a failure returns to it."""
    verify_canary(scene, web())
    kept = scene.apply(db(2), web(2, behaviour=CRASH), flags=KEEP)
    assert_ended(kept, 6, "failed", "CrashLoop")
    assert judgements(scene, "sts/db")[2] == ("complete", "Complete", True)
    failed = scene.apply(db(3, behaviour=CRASH))
    assert "returns to revision 2 (shop/db:2), not verified (no verdict)" in failed.stderr
    assert_rolled_back(failed, "CrashLoop")
    assert judgements(scene, "sts/db")[4] == ("complete", "Complete", True)

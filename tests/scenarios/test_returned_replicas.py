"""A number of replicas that somebody had set and a way back has returned: it is still theirs."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_apply, recover
from tests.scenarios.versions import CRASH

APPLY, KEEP = ("--replicas", "apply"), ("--replicas", "keep")
REFUSAL = "deployment/web has 5 replicas, the manifest asks for 3, and 3 were applied last"


def scaled(scene: Scene) -> None:
    """Verify a version with 3 replicas, and let somebody scale it to 5."""
    assert_verified(scene.apply(web(replicas=3)))
    scene.kubectl("scale", "deployment/web", "--replicas=5", check=True)
    scene.objects.wait_complete("web")


def imposed_in_vain(scene: Scene) -> Result:
    """Impose the manifest's 3 replicas with a version that fails: 5 run again."""
    result = scene.apply(web(2, behaviour=CRASH, replicas=3), flags=APPLY)
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", replicas=5)
    return result


@pytest.mark.contract("B1800", "B72")
def test_the_next_apply_asks_again(scene: Scene) -> None:
    """Whose way back it was that set it last tells nothing of whether it is wanted."""
    scaled(scene)
    imposed_in_vain(scene)
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", REFUSAL)
    assert_runs(scene.objects, "shop/web:1", replicas=5)


@pytest.mark.contract("B1800")
def test_the_one_after_a_second_failure_asks_again(scene: Scene) -> None:
    """By then the number was the gate's own, by its owner, before the attempt already."""
    scaled(scene)
    imposed_in_vain(scene)
    again = imposed_in_vain(scene)
    assert warned(again, "goes from 5 to 3 replicas: --replicas apply")
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", REFUSAL)


def scaled_by_way_of_zero(scene: Scene, number: int = 5) -> None:
    """Let somebody scale to 0, and then up: no manager owns the number (the API omits a 0)."""
    for replicas in (0, number):
        scene.kubectl("scale", "deployment/web", f"--replicas={replicas}", check=True)


@pytest.mark.contract("B1845", "B1800")
@pytest.mark.parametrize("flags", [KEEP, APPLY], ids=["keep", "apply"])
def test_the_next_apply_asks_for_a_number_that_nobody_owned(
    scene: Scene, flags: tuple[str, ...]
) -> None:
    """The way back has made it the gate's own, by its owner alone."""
    assert_verified(scene.apply(web(replicas=3)))
    scaled_by_way_of_zero(scene)
    scene.objects.wait_complete("web")
    assert_rolled_back(scene.apply(web(2, behaviour=CRASH, replicas=3), flags=flags), "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", replicas=5)
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", REFUSAL)
    assert_runs(scene.objects, "shop/web:1", replicas=5)


@pytest.mark.contract("B1845", "B72")
def test_the_next_apply_asks_for_a_number_that_was_kept(scene: Scene) -> None:
    """A version that is verified with it makes it the gate's own, too."""
    assert_verified(scene.apply(web(replicas=3)))
    scaled_by_way_of_zero(scene)
    scene.objects.wait_complete("web")
    assert_verified(scene.apply(web(2, replicas=3), flags=KEEP))
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", REFUSAL)
    assert_verified(scene.apply(web(3, replicas=5)))
    assert_verified(scene.apply(web(4, replicas=3)))


@pytest.mark.contract("B1845", "B1821")
@pytest.mark.sandbox_only("which comes first, the way back or the second scaling")
def test_the_next_apply_asks_for_a_number_of_meanwhile(scene: Scene) -> None:
    """Somebody scaled to 0 and up while the version failed."""
    assert_verified(scene.apply(web(replicas=3)))
    bad = web(2, behaviour="crash=3", replicas=3)
    with scene.applying(bad) as running:
        running.wait_for_line("following replicaset/")
        scaled_by_way_of_zero(scene)
        result = running.wait(300.0)
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", replicas=5)
    kept = "deployment/web keeps 5 replicas, not the 3 of before: somebody has scaled it since"
    assert warned(result, kept)
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", REFUSAL)


@pytest.mark.contract("B1846", "B72")
def test_a_number_that_somebody_owns_as_well_can_be_imposed_or_kept(scene: Scene) -> None:
    """The manifest asked for what somebody had scaled it to, and asks for less now."""
    scaled(scene)
    assert scene.apply(web(replicas=5)).exit_code == 0
    refused = scene.apply(web(2, replicas=2))
    assert_refused(refused, "Conflict", "others own fields of the manifest: .spec.replicas")
    assert "hint: --replicas keep leaves 5; --replicas apply makes it 2; or" in refused.stderr
    assert_verified(scene.apply(web(2, replicas=2), flags=KEEP))
    assert_runs(scene.objects, "shop/web:2", replicas=5)
    assert_rolled_back(scene.apply(web(3, behaviour=CRASH, replicas=2), flags=APPLY), "CrashLoop")
    assert_runs(scene.objects, "shop/web:2", replicas=5)
    assert_verified(scene.apply(web(3, replicas=2), flags=APPLY))
    assert_runs(scene.objects, "shop/web:3", replicas=2)


@pytest.mark.contract("B1800", "B72")
def test_it_can_be_kept_once(scene: Scene) -> None:
    """Then the gate has sent it, since it alone owned it; no manifest has asked for it."""
    scaled(scene)
    imposed_in_vain(scene)
    kept = scene.apply(web(3, replicas=3), flags=KEEP)
    assert_verified(kept)
    assert warned(kept, "keeps its 5 replicas, not the manifest's 3")
    assert_refused(scene.apply(web(4, replicas=3)), "Conflict", REFUSAL)
    assert_runs(scene.objects, "shop/web:3", replicas=5)


@pytest.mark.contract("B1800", "B74")
def test_a_manifest_that_asks_for_it_ends_it(scene: Scene) -> None:
    """It is the gate's own number from then on, and a smaller one is nobody's loss."""
    scaled(scene)
    imposed_in_vain(scene)
    assert_verified(scene.apply(web(3, replicas=5)))
    assert_verified(scene.apply(web(4, replicas=3)))


@pytest.mark.contract("B1800", "B74")
def test_a_number_that_comes_through_ends_it(scene: Scene) -> None:
    """The same number later, by a run without the lock, is that run's own."""
    scaled(scene)
    imposed_in_vain(scene)
    assert_verified(scene.apply(web(3, replicas=3), flags=APPLY))
    assert_verified(scene.apply(web(4, replicas=5), flags=["--no-lock"]))
    assert_verified(scene.apply(web(5, replicas=3)))


@pytest.mark.contract("B1826", "B1800")
def test_a_number_that_stayed_theirs_is_not_remembered(scene: Scene) -> None:
    """Its owner shows whose it is; where a run without the lock has set it since, it is that's."""
    scaled(scene)
    result = scene.apply(web(2, behaviour=CRASH, replicas=3), flags=KEEP)
    assert_rolled_back(result, "CrashLoop")
    scene.kubectl("scale", "deployment/web", "--replicas=4", check=True)
    scene.objects.wait_complete("web")
    assert_verified(scene.apply(web(3, replicas=5), flags=["--no-lock", "--force-conflicts"]))
    assert_verified(scene.apply(web(4, replicas=3)))


@pytest.mark.contract("B1826", "B1800")
def test_a_number_of_the_gates_own_is_not_remembered(scene: Scene) -> None:
    """A run without the lock had applied it, from a manifest."""
    assert_verified(scene.apply(web(replicas=3)))
    assert_verified(scene.apply(web(replicas=5), flags=["--no-lock"]))
    imposed_in_vain(scene)
    assert_verified(scene.apply(web(3, replicas=3)))


def owned_by_both(scene: Scene) -> None:
    """Let a run without the lock apply 5 replicas where 3 are remembered, and others the same."""
    assert_verified(scene.apply(web(replicas=3)))
    assert_verified(scene.apply(web(replicas=5), flags=["--no-lock"]))
    number = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 5}}
    scene.apply_as("others", {**number, "metadata": {"name": "web"}})


@pytest.mark.contract("B1800", "B1846")
def test_a_number_that_others_owned_beside_the_gate_is_theirs_once_it_was_returned(
    scene: Scene,
) -> None:
    """The way back has made it the gate's alone; before, it was not."""
    owned_by_both(scene)
    imposed_in_vain(scene)
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", REFUSAL)


@pytest.mark.contract("B1800", "B61")
def test_a_first_apply_that_fails_leaves_nothing_to_ask(scene: Scene) -> None:
    """No gate had applied a number: that of `kubectl apply` is taken over, as without it."""
    path = scene.manifest(web(replicas=5))
    scene.kubectl("apply", "-f", path, check=True)
    scene.objects.wait_complete("web")
    assert_rolled_back(scene.apply(web(2, behaviour=CRASH, replicas=3)), "CrashLoop")
    assert_runs(scene.objects, "shop/web:1", replicas=5)
    assert_verified(scene.apply(web(3, replicas=3)))


@pytest.mark.contract("B1800", "B530")
@pytest.mark.sandbox_only("minutes of waiting for the lock of the dead gate")
@pytest.mark.parametrize("line", [UNDER_WAY, "restored +deployment/web"])
def test_a_recovery_remembers_it_too(scene: Scene, program: PlayedGate, line: str) -> None:
    """Whether it finds the number returned already, or returns it itself."""
    scaled(scene)
    kill_apply(scene, program, web(2, behaviour=CRASH, replicas=3), line=line, flags=APPLY)
    assert recover(scene, "web").exit_code == 4
    assert_runs(scene.objects, "shop/web:1", replicas=5)
    assert_refused(scene.apply(web(3, replicas=3)), "Conflict", REFUSAL)

"""Ways back to what no attempt had verified: it serves as before, and verifies nothing."""

from __future__ import annotations

from functools import partial

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.played.gate import PlayedGate
from tests.scenarios.killing import LEASE, kill_apply, recover
from tests.scenarios.versions import (
    CRASH,
    KEEP,
    history_rows,
    keep_a_bad_version,
    mode,
    one_line,
    report,
)

FAILING = ("--smoke-test", "false")
DOUBTED = ("--smoke-test", "sh -c 'exit 75'")
ON_DELETE: JSON = {"updateStrategy": {"type": "OnDelete"}}


def judgements(scene: Scene, name: str) -> dict[int, tuple[str, str, bool]]:
    """Return of each revision its verdict, the reason, and whether a failure returns to it."""
    rows = history_rows(scene, name)
    return {one["revision"]: (one["verdict"], one["reason"], one["returned_to"]) for one in rows}


def replace_pods(scene: Scene) -> None:
    """Delete the pods of `db` one by one, as people do with `OnDelete`."""
    for number in (2, 1, 0):
        uid = scene.objects.get("pods", f"db-{number}")["metadata"]["uid"]
        scene.objects.delete("pods", f"db-{number}")
        scene.objects.wait_for("pods", f"db-{number}", partial(_is_ready, without_uid=uid))
    scene.objects.wait_for("statefulsets", "db", lambda one: one["status"]["readyReplicas"] == 3)


def _is_ready(pod: JSON, *, without_uid: str) -> bool:
    """Tell whether a pod is ready that is not the one with that uid."""
    conditions = pod.get("status", {}).get("conditions") or ()
    is_ready = any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)
    return is_ready and pod["metadata"]["uid"] != without_uid


@pytest.mark.contract("B1370", "B1371")
def test_a_strategy_that_failed_a_check_verifies_nothing(scene: Scene) -> None:
    """All pods had been replaced by people before: what failed is the change of the strategy."""
    assert_verified(scene.apply(stateful_set(**ON_DELETE)))
    second = stateful_set(image="shop/db:2", **ON_DELETE)
    assert_ended(scene.apply(second), 0, "applied", "NoRollout", running="baseline")
    replace_pods(scene)
    before = judgements(scene, "sts/db")
    result = scene.apply(stateful_set(image="shop/db:2"), flags=FAILING)
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    assert "returns to revision 2 (shop/db:2), not verified (NoRollout)" in result.stderr
    text = one_line(report(scene, result))
    assert "the change of strategy of statefulset/db failed; revision 2, shop/db:2 serves" in text
    assert "serves as before, not verified (NoRollout); no check was asked of it" in text
    assert "verified after" not in text
    assert " failed revision " not in text
    assert judgements(scene, "sts/db") == before
    assert before[2] == ("not verified", "NoRollout", True)
    crashed = scene.apply(stateful_set(image="shop/db:3", behaviour=CRASH, **ON_DELETE))
    assert "returns to revision 2 (shop/db:2), not verified (NoRollout)" in crashed.stderr


@pytest.mark.contract("B1371")
@pytest.mark.parametrize("change", ["replicas", "configuration"])
def test_a_change_that_failed_a_check_is_held_against_no_version(scene: Scene, change: str) -> None:
    """The version was verified before and is so still: a later failure returns to it."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.apply(settings("one"), web(2)))
    before = judgements(scene, "web")
    changed = {"replicas": (settings("one"), web(2, replicas=4))}
    bodies = changed.get(change, (settings("two"), web(2)))
    result = scene.apply(*bodies, flags=FAILING)
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    assert f"the change of {change} of deployment/web failed" in one_line(report(scene, result))
    assert judgements(scene, "web") == before
    assert before[2] == ("verified", "", True)
    assert_rolled_back(scene.apply(settings("three"), web(3, behaviour=CRASH)), "CrashLoop")
    assert judgements(scene, "web")[4] == ("verified", "", True)


@pytest.mark.contract("B1425")
@pytest.mark.sandbox_only("what a lock remembers, and what is said of it")
def test_a_change_that_a_dead_gate_took_back_is_held_against_no_version(
    scene: Scene, program: PlayedGate
) -> None:
    """Of two workloads, beside which configuration alone changed."""
    both = web(), web(name="api")
    assert_verified(scene.apply(settings("one"), *both))
    before = judgements(scene, "web")
    line = r"restored .*settings restored"
    kill_apply(scene, program, settings("two"), *both, line=line, flags=FAILING)
    result = recover(scene)
    assert_ended(result, 4, "rolled-back", "CheckFailed")
    said = "the change of configuration of deployment/web, deployment/api failed; 2 of 2"
    assert said in one_line(report(scene, result))
    assert judgements(scene, "web") == before


@pytest.mark.contract("B1372", "B1370")
def test_what_served_before_is_returned_to_though_nobody_could_decide_on_it(scene: Scene) -> None:
    """A first version was complete, and nothing was found against it: not a crash goes on for it.

    It is not verified by that: a version verified since is what the next failure returns to.
    """
    first = scene.apply(settings("one"), web(), flags=DOUBTED)
    assert_ended(first, 7, "inconclusive", "CheckError", running="new")
    for version in (2, 3):
        bad = web(version, behaviour=CRASH)
        result = scene.apply(settings(str(version)), bad)
        assert_rolled_back(result, "CrashLoop")
        assert_runs(scene.objects, "shop/web:1")
        assert mode(scene) == "one"
        assert "serves again, not verified (CheckError)" in one_line(report(scene, result))
        (now,) = (one for one in judgements(scene, "web").values() if one[2])
        assert now == ("not verified", "CheckError", True)
    assert_verified(scene.apply(settings("four"), web(4)))
    doubted = scene.apply(settings("five"), web(5), flags=DOUBTED)
    assert_ended(doubted, 7, "inconclusive", "CheckError", running="new")
    assert_rolled_back(scene.apply(settings("six"), web(6, behaviour=CRASH)), "CrashLoop")
    assert_runs(scene.objects, "shop/web:4")


@pytest.mark.contract("B1372")
@pytest.mark.parametrize("fails", ["check", "pods", "check-before-a-doubt"])
def test_what_failed_is_returned_to_by_nothing(scene: Scene, fails: str) -> None:
    """A first version that stands although it failed: the next failure has nowhere to go.

    Nor has it where another attempt with that version, and other configuration, decided nothing.
    """
    flags = KEEP if fails == "pods" else (*FAILING, *KEEP)
    behaviour = CRASH if fails == "pods" else ""
    first = scene.apply(settings("one"), web(behaviour=behaviour), flags=flags)
    assert first.exit_code == 6, str(first)
    if fails == "check-before-a-doubt":
        again = scene.apply(settings("two"), web(), flags=DOUBTED)
        assert_ended(again, 7, "inconclusive", "CheckError", running="new")
    result = scene.apply(web(2, behaviour=CRASH))
    assert_ended(result, 6, "failed", "CrashLoop")
    assert "so a failure has nowhere to return to" in result.stderr


@pytest.mark.sandbox_only("the lock has to be taken before the first write")
@pytest.mark.contract("B1420")
def test_a_refusal_beside_two_versions_says_that_both_run(scene: Scene) -> None:
    """Pods of v1, which a failure returns to, and one of the v9 that was kept; nothing written."""
    keep_a_bad_version(scene)
    with scene.applying(web(3)) as running:
        running.wait_for_line("baseline")
        scene.objects.patch("leases", LEASE, {"spec": {"holderIdentity": "somebody else"}})
        result = running.wait()
    assert_ended(result, 3, "refused", "Locked", running="mixed")
    assert "runs pods of more than one version" in one_line(report(scene, result))

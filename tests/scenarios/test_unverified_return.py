"""Ways back to what no attempt had verified: it serves as before, and verifies nothing."""

from __future__ import annotations

import re
from functools import partial

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.jobs import PHASE, job
from tests.bed.pods import behave, running_pods
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, settings, web
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.played.gate import PlayedGate
from tests.scenarios.killing import LEASE, die_at, kill_apply, recover
from tests.scenarios.pod_replacement import ON_DELETE, images_of
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    assert_a_failure_returns_to,
    history_rows,
    keep_a_bad_version,
    mode,
    one_line,
    report,
)

FAILING = ("--smoke-test", "false")
LATE = ("--bake", "2s", *FAILING)
DOUBTED = ("--smoke-test", "sh -c 'exit 75'")


def judgements(scene: Scene, name: str) -> dict[int, tuple[str, str, bool]]:
    """Return of each revision its verdict, the reason, and whether a failure returns to it."""
    rows = history_rows(scene, name)
    return {one["revision"]: (one["verdict"], one["reason"], one["returned_to"]) for one in rows}


def judged_at(scene: Scene, name: str, revision: int) -> str:
    """Return when the last word on a revision was said."""
    rows = history_rows(scene, name)
    (found,) = (one["judged_at"] for one in rows if one["revision"] == revision)
    assert found
    return str(found)


def replace_pods(scene: Scene, *numbers: int) -> None:
    """Delete pods of `db`, all without a number, one by one, as people do with `OnDelete`."""
    for number in numbers or (2, 1, 0):
        uid = scene.objects.get("pods", f"db-{number}")["metadata"]["uid"]
        scene.objects.delete("pods", f"db-{number}")
        scene.objects.wait_for("pods", f"db-{number}", partial(_is_ready, without_uid=uid))
    scene.objects.wait_for(
        "statefulsets", "db", lambda one: one["status"].get("readyReplicas") == 3
    )


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
    assert not re.search(r", verified (after|at once)", text)
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
    before, was_judged_at = judgements(scene, "web"), judged_at(scene, "web", 2)
    changed = {"replicas": (settings("one"), web(2, replicas=4))}
    bodies = changed.get(change, (settings("two"), web(2)))
    result = scene.apply(*bodies, flags=LATE)
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    assert f"the change of {change} of deployment/web failed" in one_line(report(scene, result))
    assert judgements(scene, "web") == before
    assert before[2] == ("verified", "", True)
    assert judged_at(scene, "web", 2) == was_judged_at
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


@pytest.mark.contract("B1425")
@pytest.mark.sandbox_only("what a lock remembers, and what is said of it")
def test_a_version_that_a_dead_gate_had_taken_back_is_the_one_that_failed(
    scene: Scene, program: PlayedGate
) -> None:
    """What is live when `recover` begins is the version before: it tells nothing of what failed."""
    assert_verified(scene.apply(settings("one"), web()))
    bodies = settings("two"), web(2, behaviour=CRASH)
    kill_apply(scene, program, *bodies, line=r"restored .*deployment/web restored")
    assert_ended(recover(scene), 4, "rolled-back", "CrashLoop")
    assert judgements(scene, "web")[2] == ("failed", "CrashLoop", False)


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


@pytest.mark.contract("B1497")
def test_what_somebody_else_made_of_what_was_in_doubt_has_no_verdict(scene: Scene) -> None:
    """It serves alone and complete: a failure returns to it, and no reason of another is named."""
    first = scene.apply(settings("one"), web(), flags=DOUBTED)
    assert_ended(first, 7, "inconclusive", "CheckError", running="new")
    scene.change_as("kubectl-set", {"spec": {"template": web(9)["spec"]["template"]}})
    scene.objects.wait_complete("web")
    flags = ("--take-over", "kubectl-set")
    result = scene.apply(settings("two"), web(2, behaviour=CRASH), flags=flags)
    assert_rolled_back(result, "CrashLoop")
    said = "returns to revision 2 (shop/web:9), not verified (no verdict)"
    assert said in one_line(result.stderr)
    assert "shop/web:9 serves again, not verified (no verdict)" in one_line(report(scene, result))
    assert not any(verdict == "verified" for verdict, _, _ in judgements(scene, "web").values())


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


@pytest.mark.contract("B1499", "B1498")
@pytest.mark.parametrize("who", ["web", "api"])
def test_what_crashes_when_it_comes_back_is_returned_to_by_nothing(scene: Scene, who: str) -> None:
    """By its own failure, and drawn back by another's; what was verified with it stays so."""
    assert_verified(scene.apply(settings("one"), web(), web(name="api")))
    slow = web(2, behaviour="ready=5")
    assert_verified(scene.apply(settings("two"), slow, web(2, name="api")))
    both, flags = (web(3), web(3, name="api")), ("--bake", "60s", "--rollback-timeout", "40s")
    with scene.applying(settings("three"), *both, flags=flags) as running:
        running.wait_for_line("baking")
        behave(scene, running_pods(scene, f"shop/{who}:3", 2), CRASH)
        running.wait_for_line("restored +deployment/web")
        behave(scene, running_pods(scene, "shop/web:2", 2), CRASH)
        result = running.wait()
    assert result.exit_code == 5, str(result)
    named = "another version that was verified: rollout-gate undo web "
    assert named in one_line(report(scene, result))
    assert judgements(scene, "web")[4] == ("failed", "CrashLoop", False)
    assert judgements(scene, "api")[4] == ("verified", "", True)
    failed = scene.apply(settings("four"), web(4, behaviour=CRASH))
    assert_rolled_back(failed, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "two", "what api, which stays, was verified with since"


@pytest.mark.contract("B1499")
@pytest.mark.sandbox_only("what a lock remembers of a way back that other scenarios play there")
def test_what_takes_long_to_come_back_stays_verified(scene: Scene) -> None:
    """Its new pods are not ready by the end of the budget, and nothing else is wrong with them."""
    assert_verified(scene.apply(web(1, behaviour="ready=20")))
    flags = ("--bake", "60s", "--rollback-timeout", "10s")
    with scene.applying(web(2), flags=flags) as running:
        running.wait_for_line("baking")
        behave(scene, running_pods(scene, "shop/web:2", 2), CRASH)
        result = running.wait()
    assert result.exit_code == 5, str(result)
    assert [one for one in judgements(scene, "web").values() if one[2]] == [("verified", "", True)]


@pytest.mark.contract("B1498")
@pytest.mark.parametrize("versions", [1, 2])
def test_what_does_not_serve_again_leads_to_what_was_verified_before(
    scene: Scene, versions: int
) -> None:
    """Replicas alone changed, and all pods crash for good: the `undo` that is named is one."""
    for version in range(1, versions + 1):
        assert_verified(scene.apply(settings("one"), web(version)))
    budget = ("--bake", "60s", "--rollback-timeout", "40s")
    changed = web(versions, replicas=3)
    with scene.applying(settings("one"), changed, flags=budget) as running:
        running.wait_for_line("baking")
        behave(scene, running_pods(scene, f"shop/web:{versions}", 3), CRASH)
        result = running.wait()
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    named = "another version that was verified: rollout-gate undo web "
    assert (named in one_line(report(scene, result))) is (versions > 1)
    undone = scene.gate("undo", "web", "--output", "json")
    if versions == 1:
        assert undone.exit_code == 3, str(undone)
    else:
        assert_verified(undone)
        assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1441")
@pytest.mark.sandbox_only("what is remembered of a recovery that other scenarios play there")
@pytest.mark.parametrize("behaviour", ["complete", "crash=0.5"])
def test_a_version_whose_smoke_test_is_in_doubt_is_returned_to_by_nothing(
    scene: Scene, behaviour: str
) -> None:
    """A gate died while it ran; it is gone, and nobody knows what it found."""
    assert_verified(scene.apply(settings("one"), web()))
    smoke = job("smoke", behaviour=behaviour, annotations={PHASE: "after"})
    smoke["spec"]["ttlSecondsAfterFinished"] = 0
    die_at(scene, "applied +job/smoke", settings("two"), web(2), smoke, flags=("--bake", "60s"))
    scene.objects.wait("jobs", lambda found: not found)
    result = scene.gate("recover", "web", "--output", "json")
    assert_ended(result, 7, "inconclusive", "Interrupted")
    assert judgements(scene, "web")[2] == ("interrupted", "Interrupted", False)
    assert_a_failure_returns_to(scene, 1, "one")


@pytest.mark.contract("B1443")
@pytest.mark.parametrize("went_by", ["undo", "rollback"])
def test_undo_does_not_go_forward_where_people_replace_the_pods(scene: Scene, went_by: str) -> None:
    """A second `undo`, as a pipeline repeats it, does not take the first one back."""
    assert_verified(scene.apply(stateful_set(**ON_DELETE), flags=("--bake", "2s")))
    second = scene.apply(stateful_set(image="shop/db:2", **ON_DELETE))
    assert_ended(second, 0, "applied", "NoRollout")
    if went_by == "undo":
        replace_pods(scene)
        undone = scene.gate("undo", "sts/db", "--output", "json")
        assert_ended(undone, 0, "applied", "NoRollout")
        said = "shop/db:2): an undo left it at"
    else:
        replace_pods(scene, 2, 1)
        crashed = scene.apply(stateful_set(image="shop/db:3", behaviour=CRASH))
        assert_ended(crashed, 4, "rolled-back", "CrashLoop")
        said = "is a return from it"
    again = scene.gate("undo", "sts/db")
    assert again.exit_code == 3, str(again)
    assert said in again.stderr, str(again)
    assert not any(one["undo_returns"] for one in history_rows(scene, "sts/db"))


@pytest.mark.contract("B1604")
@pytest.mark.parametrize("undone", [True, False])
def test_what_all_pods_run_beside_a_template_that_none_takes_is_returned_to(
    scene: Scene, *, undone: bool
) -> None:
    """Left by an undo from the only verified version, or as somebody else applied it."""
    scene.serve(stateful_set(image="shop/db:1", **ON_DELETE))
    second = stateful_set(image="shop/db:2", **ON_DELETE)
    scene.apply(second, flags=("--take-over", "tests"))
    if undone:
        replace_pods(scene)
        assert scene.apply(second).document["outcome"] == "verified"
        assert scene.gate("undo", "sts/db", *DOCUMENT).document["reason"] == "NoRollout"
    runs = "shop/db:2" if undone else "shop/db:1"
    shown = scene.gate("history", "sts/db").stdout.splitlines()
    (marked,) = (line for line in shown if "failure" in line and "would return" in line)
    assert runs in marked
    result = scene.apply(stateful_set(image="shop/db:3", behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert "no pod runs its live template, so a failure returns to" in result.stderr
    assert images_of(scene) == [runs] * 3


@pytest.mark.contract("B1604")
def test_a_template_that_is_yet_to_be_rolled_out_is_not_passed_over(scene: Scene) -> None:
    """Without `OnDelete` old pods are about to go, however many of them serve alone by then."""
    scene.serve(web())
    enforce(scene.objects, quota({"pods": "2"}))
    scene.change_as("kubectl-set", {"spec": {"template": web(2)["spec"]["template"]}})
    scene.objects.wait("replicasets", lambda found: len(found) == 2)
    soon = ("--fail-fast", "pod-create=2s", "--take-over", "kubectl-set")
    result = scene.apply(web(3), flags=soon)
    assert_ended(result, 6, "failed", "PodCreateDenied")
    assert "nowhere to return to" in result.stderr

"""What `history` says of a version was found of that one, and what it marks the next run does."""

from __future__ import annotations

import re
import signal

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.jobs import CRASH as JOB_CRASH
from tests.bed.jobs import PHASE, job
from tests.bed.pods import behave
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, secret, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.killing import die_at
from tests.scenarios.test_undo_advice import advised
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    KEEP,
    apply_and_keep,
    assert_a_failure_returns_to,
    history_rows,
    one_line,
    report,
    undo,
    verify_versions,
)

pytestmark = pytest.mark.sandbox_only(
    "what a lock remembers is the gate's own, whatever cluster keeps it"
)

BAD_CHECK = ("--smoke-test", "false")
NEW_PODS = "0 of 2 new pods available"
DOUBT = ("--smoke-test", "sh -c 'exit 75'")


def rows_of(scene: Scene) -> dict[int, JSON]:
    """Return what `history` tells of each revision."""
    return {row["revision"]: row for row in history_rows(scene)}


def fail_unchanged(scene: Scene, *bodies: JSON) -> Result:
    """Apply what runs already, with a check that does not pass."""
    result = scene.apply(*bodies, flags=BAD_CHECK)
    assert_ended(result, 6, "failed", "CheckFailed", running="new")
    assert not any(one["action"] != "unchanged" for one in result.document["objects"])
    return result


@pytest.mark.contract("B795", "B766", "B1010")
@pytest.mark.parametrize("versions", [(1,), (1, 2)])
def test_a_check_that_fails_of_what_did_not_change_takes_no_return_away(
    scene: Scene, versions: tuple[int, ...]
) -> None:
    """It tells no two versions apart: what was verified stays what a failure returns to."""
    verify_versions(scene, *versions)
    last = versions[-1]
    failed = fail_unchanged(scene, settings(str(last)), web(last))
    said = one_line(report(scene, failed))
    assert "deployment/web failed, and this run had not changed it: it stands as it was" in said
    assert "it stands as it was, and this failure is not remembered against its version" in said
    assert "the new version" not in said
    assert "rollout-gate undo" not in said
    rows = rows_of(scene)
    assert (rows[last]["verdict"], rows[last]["reason"]) == ("verified", "")
    assert [number for number, row in rows.items() if row["returned_to"]] == [last]
    assert_a_failure_returns_to(scene, last)


@pytest.mark.contract("B795", "B723")
def test_an_unchanged_neighbour_of_a_failure_is_not_remembered_as_failed(scene: Scene) -> None:
    """Nothing changed of either: one did not pass its checks, and the other keeps its name."""
    both = (web(), web(name="worker"))
    assert_verified(scene.apply(*both))
    path = scene.folder / "gate.yaml"
    path.write_text('checks: [{name: broken, deployment: worker, command: ["false"]}]\n')
    result = scene.apply(*both, flags=["--config", str(path)])
    assert result.exit_code == 6, str(result)
    assert rows_of(scene)[1]["verdict"] == "verified"
    assert "the new version" not in one_line(report(scene, result))


@pytest.mark.contract("B879")
@pytest.mark.parametrize("changed", [False, True])
def test_what_changes_nothing_is_said_to_return_to_nothing(scene: Scene, changed: bool) -> None:
    """The version runs already: only where configuration changes would a failure move anything."""
    assert_verified(scene.apply(settings("1"), web()))
    result = scene.gate("preflight", "-f", scene.manifest(settings("12"[changed]), web()))
    line = next(one for one in result.stderr.splitlines() if " baseline " in one)
    to = "deployment/web: a failure returns to revision 1 (shop/web:1)"
    nothing = "deployment/web: revision 1 (shop/web:1) runs, and nothing changes"
    assert line.partition("baseline    ")[2] == (
        to if changed else f"{nothing}: a failure takes nothing back"
    )


@pytest.mark.contract("B190", "B797")
def test_a_restart_that_failed_is_not_called_verified(scene: Scene) -> None:
    """The judgement is that of its ReplicaSet, not of the template that it has in common."""
    for version in (1, 2):
        assert_verified(scene.apply(web(version)))
    enforce(scene.objects, quota({"pods": "2"}))
    result = scene.gate("restart", "web", "--timeout", "25s", *DOCUMENT)
    assert result.exit_code == 4, str(result)
    rows = rows_of(scene)
    assert (rows[3]["verdict"], rows[3]["reason"]) == ("not verified", "PodCreateDenied"), rows
    assert rows[4]["verdict"] == "verified", rows


@pytest.mark.contract("B1664")
def test_what_was_verified_before_a_restart_stays_so(scene: Scene) -> None:
    """Of one that no gate verified its restart says nothing."""
    scene.serve(web(behaviour="ready=1.5"))
    for _ in range(2):
        assert_verified(scene.gate("restart", "web", *DOCUMENT))
    verdicts = {row["revision"]: row["verdict"] for row in history_rows(scene)}
    assert verdicts == {1: None, 2: "verified", 3: "verified"}


@pytest.mark.contract("B1020", "B1971")
def test_a_version_that_an_undo_left_or_a_rollback_brought_back_is_said_to_be(scene: Scene) -> None:
    """Both are verified: the one is none to return to, of the other no check was asked again."""
    verify_versions(scene, 1, 2)
    assert_verified(undo(scene))
    shown = scene.gate("history", "web").stdout.splitlines()
    assert re.search(r"^ +2 .* verified \d+s ago, left by an undo ", "\n".join(shown), re.MULTILINE)
    assert_rolled_back(scene.apply(settings("3"), web(3, behaviour=CRASH)), "CrashLoop")
    shown = scene.gate("history", "web").stdout.splitlines()
    [running] = [line for line in shown if "running" in line]
    assert re.search(r" verified \d+s ago, by a rollback ", running)
    rows = rows_of(scene)
    assert (rows[2]["left_at"] != "", rows[2]["came_back"]) == (True, False)
    path = scene.manifest(web(4, behaviour="ready=40"))
    with scene.gate.start("apply", "-f", path) as dying:
        dying.wait_for_line("0 of 2 new pods available")
        dying.kill()
    # It takes the dead gate's version back first, and is done within the same second.
    assert_verified(scene.apply(web(5)))
    assert rows_of(scene)[max(rows_of(scene))]["came_back"] is False


@pytest.mark.contract("B1955")
def test_a_verdict_from_before_the_attempt_is_said_to_be_older(scene: Scene) -> None:
    """While a gate is at work on what failed before, and once that gate was killed."""
    assert_verified(scene.apply(web()))
    bad = web(2, behaviour=CRASH)
    assert_rolled_back(scene.apply(bad), "CrashLoop")
    with scene.gate.start("apply", "-f", scene.manifest(bad)) as dying:
        dying.wait_for_line(UNDER_WAY)
        shown = one_line(scene.gate("history", "web").stdout)
        tried = [one["verdict"] for one in history_rows(scene) if one["tried_again"]]
        dying.kill()
    assert tried == ["failed"]
    assert re.search(r" failed \d+s ago: CrashLoop, tried again since ", shown), shown
    assert "rollout-gate has its lock, as " in shown
    shown = one_line(scene.gate("history", "web").stdout)
    assert re.search(r" failed \d+s ago: CrashLoop, tried again since ", shown), shown
    assert "is unfinished; to finish it (back if incomplete): rollout-gate recover web" in shown
    assert scene.gate("recover", "web").exit_code == 4
    assert not any(row["tried_again"] for row in history_rows(scene))


@pytest.mark.contract("B2006", "B1955")
@pytest.mark.parametrize(
    ("behaviour", "line", "verdict"),
    [
        ("ready=1", "baking", "interrupted"),
        (CRASH, "failed +deployment/web", "failed"),
        (CRASH, "restored +deployment/web", "failed"),
    ],
)
def test_the_attempt_that_a_signal_ended_has_not_tried_its_version_again(
    scene: Scene, behaviour: str, line: str, verdict: str
) -> None:
    """Its record is open; a `recover` that is killed meanwhile has not rolled it out either."""
    assert_verified(scene.apply(web()))
    flags = ("--bake", "60s", "--on-interrupt", "keep")
    with scene.applying(web(2, behaviour=behaviour), flags=flags) as ending:
        ending.wait_for_line(line, 120.0)
        ending.send(signal.SIGTERM)
        ending.wait()
    assert tried(scene) == [(verdict, False)]
    with scene.gate.start("recover", "web") as dying:
        dying.wait_for_line("finishing")
        dying.kill()
    assert tried(scene) == [(verdict, False)]


@pytest.mark.contract("B2006")
def test_a_recovery_that_a_signal_ended_has_not_tried_again_what_it_was_to_take_back(
    scene: Scene,
) -> None:
    """The verdict is its own, the open record that of the gate that was killed before."""
    assert_verified(scene.apply(web()))
    with scene.applying(web(2, behaviour="ready=40")) as dying:
        dying.wait_for_line("0 of 2 new pods available")
        dying.kill()
    with scene.gate.start("recover", "web") as ending:
        ending.wait_for_line("restored")
        ending.send(signal.SIGTERM)
        assert ending.wait().exit_code == 143
    assert tried(scene) == [("interrupted", False)]


@pytest.mark.contract("B2027", "B1955")
def test_an_apply_that_recovers_first_has_tried_again_what_the_dead_gate_did_not_finish(
    scene: Scene,
) -> None:
    """The verdict is of the attempt of the dead gate, whoever finished that and goes on."""
    assert_verified(scene.apply(web()))
    bad = web(2, behaviour="ready=40")
    die_at(scene, NEW_PODS, bad)
    for _ in range(2):
        with scene.applying(bad) as again:
            again.wait_for_line("recovered +deployment/web")
            again.wait_for_line(NEW_PODS)
            assert tried(scene) == [("interrupted", True)]
            again.kill()
        assert tried(scene) == [("interrupted", True)]
    with scene.applying(bad) as ending:
        ending.wait_for_line("recovered +deployment/web")
        ending.wait_for_line(NEW_PODS)
        ending.send(signal.SIGTERM)
        ending.wait()
    assert tried(scene) == [("interrupted", False)]


@pytest.mark.contract("B2006")
def test_a_recovery_that_is_killed_has_not_tried_again_what_another_one_judged(
    scene: Scene,
) -> None:
    """The open record is still that of the first gate, the lock that of the last."""
    assert_verified(scene.apply(web()))
    die_at(scene, NEW_PODS, web(2, behaviour="ready=40"))
    with scene.gate.start("recover", "web") as ending:
        ending.wait_for_line("restored")
        ending.send(signal.SIGTERM)
        ending.wait()
    with scene.gate.start("recover", "web") as dying:
        dying.wait_for_line("finishing")
        dying.kill()
    assert tried(scene) == [("interrupted", False)]


def tried(scene: Scene) -> list[tuple[str, bool]]:
    """Return what `history` says of versions not verified: the verdict, tried again."""
    rows = [row for row in history_rows(scene) if row["verdict"] not in (None, "verified")]
    return [(row["verdict"], row["tried_again"]) for row in rows]


@pytest.mark.contract("B1956")
def test_an_interrupted_undo_leaves_its_target_verified(scene: Scene) -> None:
    """Nothing was found against it: `undo` still names it so."""
    assert_verified(scene.apply(web(behaviour="ready=5")))
    assert_verified(scene.apply(web(2)))
    with scene.gate.start("undo", "web") as ending:
        ending.wait_for_line(UNDER_WAY)
        ending.kill()
    assert scene.gate("recover", "web").exit_code == 4
    shown = scene.gate("history", "web").stdout
    assert re.search(r" interrupted \d+s ago, verified \d+s ago ", shown), shown
    [row] = [one for one in history_rows(scene) if one["verdict"] == "interrupted"]
    assert row["images"] == ["shop/web:1"]
    assert row["verified_at"] in scene.gate("undo", "web", "--dry-run").stderr


@pytest.mark.contract("B700", "B796")
def test_doubt_of_what_was_verified_before_another_version_leaves_it_unverified(
    scene: Scene,
) -> None:
    """Two, then one were verified; then two, with a check that lacks evidence: one was last."""
    verify_versions(scene, 2, 1)
    doubted = scene.apply(settings("2"), web(2), flags=DOUBT)
    assert doubted.exit_code == 7, str(doubted)
    rows = rows_of(scene)
    for mark in ("returned_to", "undo_returns"):
        assert [row["images"] for row in rows.values() if row[mark]] == [["shop/web:1"]]
    result = assert_a_failure_returns_to(scene, 1)
    assert "what runs was not verified (CheckError)" in result.stderr


@pytest.mark.contract("B1275", "B700")
@pytest.mark.parametrize(("flag", "exit_code"), [("--on-failure=keep", 6), ("--observe", 0)])
def test_what_its_smoke_test_job_failed_for_is_left_unverified(
    scene: Scene, flag: str, exit_code: int
) -> None:
    """Kept though the Job after it failed: the next failure returns to what was verified."""
    verify_versions(scene, 1)
    smoke = job("smoke", behaviour=JOB_CRASH, annotations={PHASE: "after"})
    kept = scene.apply(settings("2"), web(2), smoke, flags=[flag])
    assert (kept.exit_code, kept.document["reason"]) == (exit_code, "JobFailed"), str(kept)
    row = rows_of(scene)[2]
    assert (row["verdict"], row["reason"], row["returned_to"]) == ("failed", "JobFailed", False)
    result = assert_a_failure_returns_to(scene, 1)
    assert "what runs was not verified (JobFailed)" in result.stderr


@pytest.mark.contract("B190", "B797")
def test_the_failure_is_that_of_the_replica_set_that_was_followed(scene: Scene) -> None:
    """Somebody adds a container in mid-flight: what crashes is no ReplicaSet of ours."""
    verify_versions(scene, 1, 2)
    with scene.applying(settings("3"), web(3, behaviour="crash=3")) as running:
        running.wait_for_line("following replicaset")
        add_a_container(scene)
        result = running.wait()
    assert result.exit_code == 4, str(result)
    failed = result.document["deployments"][0]["new"]
    rows = rows_of(scene)
    assert [n for n, row in rows.items() if row["verdict"] == "failed"] == [failed["revision"]]
    assert rows[failed["revision"]]["images"] == failed["images"] == ["shop/web:3", "x/side:1"]


def add_a_container(scene: Scene) -> None:
    """Add one to the live pod template, as somebody who is not the gate."""
    live = scene.objects.get("deployments", "web")
    template = live["spec"]["template"]
    template["spec"]["containers"].append({"name": "side", "image": "x/side:1"})
    scene.change_as("kubectl-edit", {"spec": {"template": template}})


EXTRA = {**settings("extra"), "metadata": {"name": "extra"}}


@pytest.mark.contract("B865", "B190")
def test_history_marks_where_the_next_failure_returns_to(scene: Scene) -> None:
    """Something of a failed attempt stands beside the verified version, which runs again."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_rolled_back(scene.apply(settings("two"), EXTRA, web(2, behaviour=CRASH)), "CrashLoop")
    shown = scene.gate("history", "web").stdout
    (marked,) = [line for line in shown.splitlines() if "<-" in line]
    assert marked.endswith("running <- a failure would return here")
    failed = scene.apply(settings("three"), web(3, behaviour=CRASH))
    assert "revision 3 (shop/web:1)" in failed.stderr
    assert_rolled_back(failed, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B865", "B701", "B721", "B766")
def test_history_says_what_a_failure_could_not_return(scene: Scene) -> None:
    """The Secret of then is not kept: the next failure, or undo, ends as it is foretold."""
    assert_verified(scene.apply(secret("b25l"), web()))
    apply_and_keep(scene, secret("dHdv"), web(2, behaviour=CRASH))
    (marked,) = [row for row in history_rows(scene) if row["returned_to"]]
    assert (marked["revision"], marked["return_lacks"]) == (1, ["secret/keys"])
    shown = scene.gate("history", "web").stdout
    assert "<- a failure would return here, without secret/keys <- undo --deployment-only" in shown
    assert "undo would return here" not in shown
    assert [row["undo_lacks"] for row in history_rows(scene) if row["undo_returns"]] == [
        ["secret/keys"]
    ]
    assert_refused(undo(scene), "SetIncomplete", "secret/keys")
    failed = scene.apply(secret("dHdv"), web(3, behaviour=CRASH))
    assert_ended(failed, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert "secret/keys could not be returned after a failure" in failed.stderr
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B897")
def test_history_names_what_an_undo_without_a_lock_leaves(scene: Scene) -> None:
    """Nothing remembers the configuration of then: the mark returns the pod template alone."""
    lockless = ("--no-lock",)
    before, after = (web(n, behaviour=CRASH if n == 2 else "") for n in (1, 2))
    for body in (before, after):
        container = body["spec"]["template"]["spec"]["containers"][0]
        container["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    assert_verified(scene.apply(settings("one"), before, flags=lockless))
    kept = scene.apply(settings("two"), after, flags=[*lockless, *KEEP])
    assert kept.exit_code == 6, str(kept)
    (marked,) = [row for row in history_rows(scene) if row["undo_returns"]]
    assert (marked["revision"], marked["undo_lacks"]) == (1, ["configmap/settings"])
    shown = scene.gate("history", "web").stdout
    assert "<- undo --deployment-only would return here, without configmap/settings" in shown
    assert_verified(undo(scene, "--deployment-only"))
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "two"}


@pytest.mark.contract("B866", "B721")
@pytest.mark.parametrize("is_paused", [True, False])
def test_history_marks_no_undo_that_a_conflict_refuses(scene: Scene, *, is_paused: bool) -> None:
    """Another manager owns the image: the mark names the flag with which the undo works."""
    assert_verified(scene.apply(settings("one"), web()))
    if is_paused:
        scene.gate("pause", "web", check=True)
    scene.change(web(7, behaviour=CRASH))
    (marked,) = [row for row in history_rows(scene) if row["undo_returns"]]
    (manager,) = marked["undo_conflicts"]
    shown = scene.gate("history", "web").stdout
    assert f"<- undo --take-over {manager} would return here" in shown
    assert "<- undo would return here" not in shown
    refused = undo(scene)
    assert_refused(refused, "Conflict", f"({manager})")
    assert f"--take-over {manager}" in refused.stderr
    assert "manifest" not in refused.stderr
    if not is_paused:
        _, words = advised(scene, scene.gate("verify", "web", *DOCUMENT))
        assert words == ["undo", "web", *words[2:]]
        assert words[words.index("--take-over") + 1] == manager
    assert_verified(undo(scene, "--take-over", manager))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B867", "B721")
def test_history_of_a_pause_says_what_runs_and_what_waits(scene: Scene) -> None:
    """What has pods runs; what waits is there, and is no revision yet."""
    assert_verified(scene.apply(web()))
    scene.gate("pause", "web", check=True)
    scene.change(web(7))
    shown = scene.gate("history", "web").stdout
    assert "running <- " in shown.splitlines()[1]
    assert "deployment/web is paused: shop/web:7 has no revision until it is resumed" in shown
    waiting, running = history_rows(scene)
    assert (waiting["revision"], waiting["waiting"], waiting["running"]) == (None, True, False)
    assert waiting["images"] == ["shop/web:7"]
    assert (running["revision"], running["waiting"], running["running"]) == (1, False, True)


@pytest.mark.contract("B868", "B763")
@pytest.mark.parametrize("flag", ["--observe", "--on-failure=keep"])
def test_what_was_complete_beside_a_failure_is_called_so(scene: Scene, flag: str) -> None:
    """The verdict of the run and what is remembered of it are one: complete, and no set."""
    assert_verified(scene.apply(web(), web(name="api")))
    path = scene.manifest(web(2, behaviour=CRASH), web(2, name="api"))
    shown = scene.gate("apply", "-f", path, flag).stdout
    assert ["complete", "deployment/api", "Complete"] in [
        line.split()[:3] for line in shown.splitlines()
    ]
    assert re.search(r"complete \ds ago  ", scene.gate("history", "api").stdout)
    (row, _) = history_rows(scene, "api")
    assert (row["verdict"], row["reason"]) == ("complete", "Complete")


@pytest.mark.contract("B868", "B723")
def test_what_is_complete_is_not_held_against_for_another_ones_failure(
    scene: Scene,
) -> None:
    """Taken back for its sibling at first, then kept, complete: it is what a failure returns to."""
    assert_verified(scene.apply(web(), web(name="api")))
    both = (web(2), web(2, name="api", behaviour=CRASH))
    assert scene.apply(*both).exit_code == 4
    assert scene.apply(*both, flags=KEEP).exit_code == 6
    (row, _) = history_rows(scene)
    assert (row["revision"], row["verdict"], row["returned_to"]) == (4, "complete", True)
    failed = scene.apply(web(3, behaviour=CRASH))
    assert "SiblingFailed" not in failed.stderr
    assert_rolled_back(failed, "CrashLoop")
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B1011")
def test_what_alone_was_verified_and_serves_is_returned_to_whatever_failed_since(
    scene: Scene,
) -> None:
    """Its pods were not ready for a while: once it serves alone again, it is returned to."""
    assert_verified(scene.apply(settings("1"), web()))
    behave(scene, scene.objects.list_all("pods"), "never-ready")
    scene.objects.wait_for("deployments", "web", lambda one: not one["status"].get("readyReplicas"))
    ended = scene.apply(settings("1"), web(), flags=("--timeout", "25s", *KEEP))
    assert ended.exit_code == 6, str(ended)
    assert rows_of(scene)[1]["verdict"] == "failed"
    behave(scene, scene.objects.list_all("pods"), "ready=0")
    scene.objects.wait_complete("web")
    assert rows_of(scene)[1]["returned_to"]
    assert_a_failure_returns_to(scene, 1)


@pytest.mark.contract("B1361", "B742")
@pytest.mark.parametrize(
    ("behaviour", "why"), [("mount-error", "NotStarted"), ("unschedulable", "Unschedulable")]
)
def test_what_did_not_start_is_not_remembered_as_failed(
    scene: Scene, behaviour: str, why: str
) -> None:
    """The report and the history of one run say the same of its version."""
    assert_verified(scene.apply(web()))
    late = web(2, behaviour=behaviour, progress_deadline_seconds=20)
    result = scene.apply(late)
    assert "deployment/web did not complete" in report(scene, result)
    (row,) = (one for one in history_rows(scene) if one["images"] == ["shop/web:2"])
    assert (row["verdict"], row["reason"]) == ("not verified", why)

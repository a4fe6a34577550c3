"""What is remembered of attempts that were killed, lost a lock, or gave back what others wrote."""

from __future__ import annotations

import json
import random
import signal
import string
from pathlib import Path

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    forecast,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import ALL_AT_ONCE, Scene, settings, web
from tests.cluster import manifests
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import (
    LEASE,
    SLOW,
    is_observed,
    kill_apply,
    kill_at,
    recover,
    signal_at,
)
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
from tests.scenarios.versions import CRASH, DOCUMENT, mode, one_line, report, undo, verify_versions

pytestmark = pytest.mark.sandbox_only("minutes of waiting")

_TOO_LARGE = 400_000


def large_settings(value: str) -> JSON:
    """Return a ConfigMap whose body neither a record nor a history can hold."""
    noise = random.Random(value).choices(string.ascii_letters, k=_TOO_LARGE)
    return manifests.config_map("settings", {"mode": value, "noise": "".join(noise)})


@pytest.mark.contract("B850", "B700", "B701", "B766")
def test_what_a_recovery_could_not_return_is_remembered(scene: Scene, program: PlayedGate) -> None:
    """An undo is refused and blames nobody; the next failure is foretold, and no whole rollback."""
    for version in (1, 2):
        assert_verified(scene.apply(large_settings(str(version)), web(version)))
    kill_apply(scene, program, large_settings("3"), web(3, behaviour=SLOW))
    assert recover(scene, "web").exit_code == 5
    assert_runs(scene.objects, "shop/web:2")
    assert mode(scene) == "3"
    refused = undo(scene)
    assert_refused(refused, "SetIncomplete", "its content at that time is not in the history")
    assert "changed since by" not in refused.stderr
    result = scene.apply(large_settings("4"), web(4, behaviour=CRASH))
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert forecast(result, "configmap/settings could not be returned after a failure", "exit 5")
    assert warned(result, "configmap/settings could not be restored")
    assert not warned(result, "the rollback would end as failed")


@pytest.mark.contract("B850", "B700")
def test_what_a_recovery_verified_is_remembered_whole(scene: Scene, program: PlayedGate) -> None:
    """A large ConfigMap that no record holds is a part of what a recovery verified."""
    assert_verified(scene.apply(large_settings("1"), web()))
    kill_apply(scene, program, large_settings("2"), web(2, behaviour="ready=3"))
    scene.objects.wait_complete("web")
    assert recover(scene, "web").exit_code == 0
    result = undo(scene)
    changed = "has changed since, and its content at that time is not"
    assert_refused(result, "SetIncomplete", changed)
    assert "somebody else" not in result.stderr


@pytest.mark.contract("B701", "B530")
def test_a_recovery_of_a_written_way_back_names_what_that_could_not_return(
    scene: Scene, program: PlayedGate
) -> None:
    """All that could be restored is by then: configuration of a kept version stays beside it."""
    assert_verified(scene.apply(settings("one"), web()))
    kept = ("--smoke-test", "false", "--bake", "1s", "--on-failure", "keep")
    assert scene.apply(settings("two"), web(2), flags=kept).exit_code == 6
    version = scene.manifest(web(3, behaviour=CRASH))
    kill_at(program, "deployment/web restored", "apply", "-f", version)
    recovered = recover(scene)
    assert_ended(recovered, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert warned(recovered, "configmap/settings could not be restored")
    assert mode(scene) == "two"
    result = scene.apply(settings("four"), web(4, behaviour=CRASH))
    assert_ended(result, 4, "rolled-back", "CrashLoop", running="baseline")
    assert mode(scene) == "one"


def share(scene: Scene) -> None:
    """Verify web twice with a ConfigMap, then api with its own content of it."""
    assert_verified(scene.apply(settings("one"), web()))
    assert_verified(scene.apply(settings("two"), web(2)))
    assert_verified(scene.apply(settings("three"), web(2, name="api")))


@pytest.mark.contract("B851", "B703", "B766")
@pytest.mark.parametrize("how", ["apply", "restart"])
def test_an_undo_takes_nothing_that_its_deployment_never_wrote(scene: Scene, how: str) -> None:
    """What a rollback gave back, or a restart found beside it, stays another run's."""
    share(scene)
    before = undo(scene)
    shares = "configmap/settings is as a run on deployment/api left it"
    assert_refused(before, "SetIncomplete", shares)
    assert "somebody else" not in before.stderr
    if how == "apply":
        failed = scene.apply(settings("nine"), web(9, behaviour=CRASH))
        assert_rolled_back(failed, "CrashLoop")
    else:
        assert_verified(scene.gate("restart", "web", *DOCUMENT))
    refused = undo(scene)
    assert_refused(refused, "SetIncomplete", "configmap/settings")
    assert mode(scene) == "three"
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.contract("B851", "B703")
def test_what_a_rollback_gave_back_of_its_own_is_undone(scene: Scene) -> None:
    """The configuration that returned was written by this Deployment's own runs."""
    verify_versions(scene, 1, 2)
    assert_rolled_back(scene.apply(settings("9"), web(9, behaviour=CRASH)), "CrashLoop")
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "1"


@pytest.mark.contract("B852", "B700", "B789")
def test_what_a_run_left_that_lost_another_lock_is_unverified(scene: Scene) -> None:
    """The lock that it kept says so: a failure returns to what was verified, as far as it can."""

    def version(number: int, **more: str) -> list[JSON]:
        names = ("api", "web")
        return [settings(str(number)), *(web(number, name=one, **more) for one in names)]

    for number in (1, 2):
        assert_verified(scene.apply(*version(number)))
    with scene.applying(*version(3, behaviour="ready=8")) as running:
        running.wait_for_line(UNDER_WAY)
        taken = {"spec": {"holderIdentity": "somebody else"}}
        scene.objects.patch("leases", LEASE, taken)
        assert_ended(running.wait(), 8, "superseded", "Locked")
    scene.objects.wait_complete("api")
    assert " interrupted " in scene.gate("history", "api").stdout
    result = scene.apply(settings("4"), web(4, name="api", behaviour=CRASH))
    assert "what runs was not verified (Interrupted)" in result.stderr
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert warned(result, "deployment/web could not be restored", "it stands unverified")
    assert images(scene.objects.get("deployments", "api")) == ["shop/api:2"]
    assert mode(scene) == "2"


@pytest.mark.contract("B853", "B548", "B726")
def test_a_lock_that_was_deleted_hides_no_record(scene: Scene, program: PlayedGate) -> None:
    """The record of its attempt stands in the lock of another Deployment, which names it."""
    assert_verified(scene.apply(web(), web(name="api")))
    bad = (web(2, name="api", behaviour=SLOW), web(2, behaviour=SLOW))
    kill_apply(scene, program, *bad)
    scene.objects.delete("leases", LEASE)
    result = recover(scene, "web")
    assert result.exit_code == 4, str(result)
    for name in ("api", "web"):
        assert images(scene.objects.get("deployments", name)) == [f"shop/{name}:1"]
    assert "verified" in scene.gate("history", "web").stdout


@pytest.mark.contract("B853", "B527")
def test_a_lock_that_was_deleted_is_not_looked_for_without_the_right(
    scene: Scene, program: PlayedGate, gate_with_rules: MakeGate
) -> None:
    """Whoever may not list the Leases is told what cannot be told, and how to go on."""
    assert_verified(scene.apply(web(), web(name="api")))
    bad = (web(2, name="api", behaviour=SLOW), web(2, behaviour=SLOW))
    kill_apply(scene, program, *bad)
    scene.objects.delete("leases", LEASE)
    one_by_one = {**LEASE_RULES, "verbs": ["get", "create", "patch"]}
    gate = gate_with_rules([*rules(*READING, "create", "patch"), one_by_one])
    result = gate("recover", "web")
    said = "whether an attempt left anything stands in another one, and this user may not list"
    assert_refused(result, "Forbidden", "deployment/web has no Lease", said, "in namespace shop")
    assert "hint: name the workloads that were applied with it" in result.stderr
    result = gate("recover")
    assert_refused(result, "Forbidden", 'cannot list resource "leases"')
    assert "hint: this needs the right to list leases.coordination.k8s.io in shop" in result.stderr
    assert "of one workload: rollout-gate recover NAME -n shop" in result.stderr
    assert "--rbac" not in result.stderr
    result = gate("recover", "api", "--output", "json")
    assert result.exit_code == 4, str(result)


@pytest.mark.contract("B712")
def test_a_first_version_that_fails_twice_is_told_of_no_rollback(scene: Scene) -> None:
    """The same again: it has nowhere to return to, and ends with 6."""
    bad = (settings("one"), web(behaviour=CRASH))
    assert_ended(scene.apply(*bad), 6, "failed", "CrashLoop")
    result = scene.apply(*bad)
    assert_ended(result, 6, "failed", "ProgressDeadlineExceeded")
    assert "so a failure has nowhere to return to" in result.stderr
    assert "the rollback would" not in result.stdout + result.stderr


@pytest.mark.contract("B797", "B703", "B764")
def test_a_restart_that_was_taken_back_is_not_called_verified(
    scene: Scene, program: PlayedGate
) -> None:
    """What ran before the restart that runs is what an undo returns to."""
    assert_verified(scene.apply(web()))
    assert_verified(scene.gate("restart", "web", *DOCUMENT))
    assert_verified(scene.gate("verify", "web", "--bake", "2s", *DOCUMENT))
    kill_at(program, UNDER_WAY, "restart", "web")
    scene.objects.wait("deployments", lambda found: all(map(is_observed, found)))
    assert recover(scene, "web").exit_code == 4
    rows = scene.gate("history", "web", *DOCUMENT)
    verdicts = {row["revision"]: row["verdict"] for row in json.loads(rows.stdout)}
    assert verdicts[3] == "interrupted"
    result = undo(scene)
    assert "goes to revision 1 " in result.stderr


@pytest.mark.contract("B854", "B766")
@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_beside_a_record_recover_is_advised(scene: Scene, program: PlayedGate, how: str) -> None:
    """What was is kept in it: neither verify nor history says that an undo lacks anything."""
    assert_verified(scene.apply(settings("one"), web()))
    bad = (settings("two"), web(2, behaviour="never-ready"))
    if how == "killed":
        kill_apply(scene, program, *bad)
    else:
        signal_at(program, UNDER_WAY, "apply", "-f", scene.manifest(*bad), number=signal.SIGINT)
    shown = scene.gate("verify", "web", "--timeout", "5s")
    assert "rollout-gate recover web" in shown.stdout
    rows = scene.gate("history", "web").stdout
    assert (
        "deployment/web is unfinished; to finish it (back if incomplete): rollout-gate recover web"
        in rows
    )
    assert "<-" not in rows
    assert "undo" not in shown.stdout + rows
    assert recover(scene, "web").exit_code == 4
    assert mode(scene) == "one"
    assert "<- a failure would return here" in scene.gate("history", "web").stdout


def change_by_hand(scene: Scene) -> None:
    """Set another image, as somebody who is not the gate."""
    scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)


@pytest.mark.contract("B901", "B537", "B27")
def test_a_failure_is_remembered_that_met_another_change(scene: Scene, program: PlayedGate) -> None:
    """Seen to fail, then changed by somebody on its way back: 8, and why it went back is said."""
    scene.serve(settings("one"), web(behaviour="ready=20"))
    path = scene.manifest(settings("two"), web(2, behaviour=CRASH, strategy=ALL_AT_ONCE))
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("restored +deployment/web", 60.0)
        change_by_hand(scene)
        result = running.wait()
    ended = assert_ended(result, 8, "superseded", "Superseded", cause="CrashLoop")
    assert ended["running"] == "other"
    said = one_line(report(scene, result))
    assert "deployment/web failed; somebody else changed deployment/web;" in said
    assert "CrashLoop: web: Error, exit code 1" in said
    assert_failed_is_remembered(scene, path)


@pytest.mark.contract("B901", "B537")
def test_a_recovery_remembers_a_failure_that_met_another_change(
    scene: Scene, program: PlayedGate
) -> None:
    """The gate died on its way back, and somebody changed it before the recovery."""
    scene.serve(settings("one"), web(behaviour="ready=20"))
    path = scene.manifest(settings("two"), web(2, behaviour=CRASH, strategy=ALL_AT_ONCE))
    kill_at(program, "restored +deployment/web", "apply", "-f", path, *DOCUMENT)
    change_by_hand(scene)
    result = recover(scene, "web")
    assert_ended(result, 8, "superseded", "Superseded", cause="CrashLoop")
    assert_failed_is_remembered(scene, path)


@pytest.mark.contract("B901", "B27")
def test_of_several_the_first_line_names_the_failure_that_met_another_change(
    scene: Scene, program: PlayedGate
) -> None:
    """The failed one has become somebody else's; the other one went back for it."""
    scene.serve(web(behaviour="ready=20"), web(name="api"))
    bad = web(2, behaviour=CRASH, strategy=ALL_AT_ONCE)
    path = scene.manifest(web(2, name="api"), bad)
    with program.start("apply", "-f", path, *DOCUMENT) as running:
        running.wait_for_line("restored +deployment/web", 60.0)
        change_by_hand(scene)
        result = running.wait()
    assert (result.exit_code, result.document["reason"]) == (8, "Superseded"), str(result)
    ended = {one["name"]: one["outcome"] for one in result.document["deployments"]}
    assert ended == {"api": "rolled-back", "web": "superseded"}
    said = one_line(report(scene, result))
    assert "deployment/web failed; somebody else changed deployment/web;" in said
    history = scene.gate("history", "api").stdout
    assert "CrashLoop" not in history


def assert_failed_is_remembered(scene: Scene, path: Path) -> None:
    """Assert that the version is a failed one to whoever looks, or would apply it again."""
    history = scene.gate("history", "web").stdout
    assert "CrashLoop" in next(line for line in history.splitlines() if "shop/web:2" in line)
    again = scene.gate("preflight", "-f", str(path), "--take-over", "kubectl-set")
    assert "this very template failed in an attempt that ended at" in again.stderr, str(again)

"""The commands beside `apply`: what they show, what they change, and how they end."""

from __future__ import annotations

import re
import signal

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_runs,
    assert_verified,
    changes,
    warned,
)
from tests.bed.scene import Scene, service, settings, template_annotation, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import condition
from tests.cluster.workloads import job
from tests.scenarios.versions import CRASH, DOCUMENT, history_rows, undo

JUDGED = ("verdict", "reason", "actor", "commit")


# What runs before the first write


@pytest.mark.contract("B35", "B246")
@pytest.mark.parametrize("words", [["apply", "--dry-run"], ["preflight"]])
def test_a_rehearsal_writes_nothing(scene: Scene, audit: Trail, words: list[str]) -> None:
    """A dry run asks everything, tells the way back, and leaves the cluster as it is."""
    scene.serve(web())
    result = scene.gate(*words, "-f", scene.manifest(settings(), web(2)))
    assert result.exit_code == 0, str(result)
    assert "revision 1 (shop/web:1)" in result.stderr
    assert re.search(rf"https://\S+, .*namespace {scene.objects.namespace}", result.stderr)
    assert_runs(scene.objects, "shop/web:1", revision=1)
    assert scene.objects.find("configmaps", "settings") is None
    assert not audit.requests().writes()


def _how(result: Result) -> tuple[str, str]:
    return result.document["outcome"], result.document["reason"]


@pytest.mark.contract("B907", "B1406")
@pytest.mark.parametrize("words", [["apply", "--dry-run"], ["preflight"]])
def test_a_rehearsal_says_what_an_apply_would_write(scene: Scene, words: list[str]) -> None:
    """`NoChange` is said only where an apply would find all as it is to be."""
    assert_verified(scene.apply(web(), settings("one")))
    migration = job()
    migration["metadata"] = {"generateName": "migrate-"}
    path = scene.manifest(settings("one"), migration, web(2), service())
    changing = scene.gate(*words, "-f", path, *DOCUMENT)
    assert (changing.exit_code, *_how(changing)) == (0, "observed", "DryRun"), str(changing)
    said = "an apply would create service/web, job/migrate-*, and change deployment/web"
    assert changing.document["message"].endswith(said)
    same = scene.gate(*words, "-f", scene.manifest(settings("one"), web()), *DOCUMENT)
    assert (same.exit_code, *_how(same)) == (0, "observed", "NoChange"), str(same)
    assert same.document["message"].endswith("an apply would change nothing")


@pytest.mark.contract("B1303")
@pytest.mark.parametrize("words", [["apply", "--dry-run"], ["preflight"]])
def test_a_rehearsal_says_what_an_apply_would_first_finish(
    scene: Scene, audit: Trail, words: list[str]
) -> None:
    """Back while the rollout is under way, forward once it is complete; it writes nothing."""
    assert_verified(scene.apply(web()))
    path = scene.manifest(web(2, behaviour="ready=8"))
    with scene.gate.start("apply", "-f", path) as running:
        running.wait_for_line("progress .*deployment/web: 0 of 2 new pods")
        running.kill()
    written = changes(audit)
    back = scene.gate(*words, "-f", path, *DOCUMENT)
    assert (back.exit_code, *_how(back)) == (0, "observed", "DryRun"), str(back)
    assert warned(
        back,
        "deployment/web is unfinished; to finish it: rollout-gate recover web",
        "an apply would first take it back, by what is there now: deployment/web to revision 1",
    ), str(back)
    assert "would first finish an earlier attempt" in back.document["message"]
    scene.wait_done("deployments", "web")
    forward = scene.gate(*words, "-f", path, *DOCUMENT)
    assert warned(forward, "an apply would first finish it forward, as it is complete"), forward
    assert forward.document["message"].endswith("by what is there now change nothing else")
    assert changes(audit) == written


@pytest.mark.contract("B35")
@pytest.mark.parametrize("words", [["apply", "--dry-run"], ["preflight"]])
def test_a_rehearsal_is_refused_like_the_real_thing(scene: Scene, words: list[str]) -> None:
    """What would refuse the apply refuses its rehearsal."""
    result = scene.gate(*words, "-f", scene.manifest(web(strategy={"type": "Blue"})))
    assert_refused(result, "Rejected", "spec.strategy")


# verify


@pytest.mark.contract("B36")
@pytest.mark.sandbox_only("what is written does not depend on the cluster")
def test_verify_writes_nothing(scene: Scene, audit: Trail) -> None:
    """No Lease either, and it says so; `--lock` asks for one, and then that is not said."""
    scene.serve(web())
    result = scene.gate("verify", "web")
    assert result.exit_code == 0, str(result)
    assert "deployment/web: nothing is written" in result.stderr
    assert not audit.requests().writes()
    assert not scene.objects.list_all("leases")
    result = scene.gate("verify", "web", "--lock")
    assert result.exit_code == 0, str(result)
    assert "deployment/web: nothing but the lock is written" in result.stderr
    assert audit.requests().writes()


@pytest.mark.contract("B36", "B100")
def test_verify_believes_a_deadline_that_has_passed(scene: Scene) -> None:
    """The rollout timed out before it was asked; waiting another deadline would tell nothing."""
    scene.serve(web())
    scene.change(web(2, behaviour="never-ready", progress_deadline_seconds=3))
    scene.objects.wait_for("deployments", "web", _timed_out)
    scene.change(web(2, behaviour="never-ready", progress_deadline_seconds=1000))
    result = scene.gate("verify", "web", *DOCUMENT)
    assert_ended(result, 6, "failed", "ProgressDeadlineExceeded", running="mixed")


def _timed_out(deployment: JSON) -> bool:
    return condition(deployment, "Progressing").get("reason") == "ProgressDeadlineExceeded"


@pytest.mark.contract("B36")
def test_verify_steps_back_from_a_newer_version(scene: Scene) -> None:
    """Somebody rolls out another version meanwhile: 8."""
    scene.serve(web())
    scene.change(web(2, behaviour="ready=3;only=1, never-ready"))
    with scene.gate.start("verify", "deploy/web", *DOCUMENT) as running:
        running.wait_for_line("progress .* 1 of 2 new pods available")
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded", running="other")


@pytest.mark.contract("B198")
def test_verify_wants_the_image_that_it_was_told(scene: Scene) -> None:
    """Another image than the one that is expected is 6, although it runs well."""
    scene.serve(web())
    assert scene.gate("verify", "web", "--expect-image", "shop/web:1").exit_code == 0
    result = scene.gate("verify", "web", "--expect-image", "shop/web:2")
    assert result.exit_code == 6, str(result)
    assert "shop/web:2" in result.stderr + result.stdout


@pytest.mark.contract("B198")
def test_verify_judges_all_that_a_selector_selects(scene: Scene) -> None:
    """-l selects Deployments; where it selects none, that is refused."""
    scene.serve(*(web(name=name, labels={"team": "shop"}) for name in ("web", "api")))
    result = scene.gate("verify", "-l", "team=shop", *DOCUMENT)
    assert result.exit_code == 0, str(result)
    assert {each["name"] for each in result.document["deployments"]} == {"web", "api"}
    nothing = scene.gate("verify", "-l", "team=nobody")
    assert nothing.exit_code in (2, 3), str(nothing)
    assert "nothing" in nothing.stderr or "no Deployment" in nothing.stderr


# status and history


@pytest.mark.contract("B180", "B188")
@pytest.mark.parametrize("name", ["web", "deployment/web", "deploy/web"])
def test_status_of_a_good_one(scene: Scene, name: str) -> None:
    """A complete Deployment is shown as a tree, and the code is 0."""
    live = scene.serve(web())
    result = scene.gate("status", name)
    assert result.exit_code == 0, str(result)
    for word in (live["metadata"]["name"], "shop/web:1", "ReplicaSet", "2"):
        assert word.lower() in result.stdout.lower(), str(result)


def restarts(pod: JSON) -> int:
    """Return how often a pod's containers were restarted."""
    statuses = pod.get("status", {}).get("containerStatuses", [])
    return sum(each["restartCount"] for each in statuses)


@pytest.mark.contract("B188")
def test_status_follows_to_the_end(scene: Scene) -> None:
    """--watch shows each change until the rollout is complete; without it, it is 7 on the way."""
    scene.serve(web())
    scene.change(web(2, behaviour="ready=2"))
    assert scene.gate("status", "web").exit_code == 7
    result = scene.gate("status", "web", "--watch")
    assert result.exit_code == 0, str(result)
    assert_runs(scene.objects, "shop/web:2", revision=2)


@pytest.mark.contract("B29", "B639")
def test_a_watch_ends_where_somebody_has_seen_enough(scene: Scene) -> None:
    """Ctrl-C leaves what was seen, and no word of a failure or of writing."""
    scene.serve(web())
    scene.change(web(2, behaviour="never-ready"))
    with scene.gate.start("status", "web", "--watch") as running:
        running.wait_for_line("progressing")
        running.send(signal.SIGINT)
        result = running.wait()
    assert result.exit_code == 130, str(result)
    assert "deployment/web in" in result.stdout
    assert not result.stderr


def run_by(actor: str, commit: str) -> dict[str, str]:
    """Return the environment of somebody's run on a CI host."""
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": "shop/web",
        "GITHUB_RUN_ID": commit[:1],
        "GITHUB_ACTOR": actor,
        "GITHUB_SHA": commit * 5,
    }


@pytest.mark.contract("B190", "B780")
def test_history_says_what_became_of_each_version_and_whose_it_is(scene: Scene) -> None:
    """A rollback of somebody's commit leaves the version that serves again to its own."""
    for version, actor, commit in ((1, "alice", "1aaaaaaa"), (2, "bob", "2bbbbbbb")):
        path = scene.manifest(web(version, behaviour=CRASH if version > 1 else ""))
        scene.gate("apply", "-f", path, env=run_by(actor, commit))
    lines = scene.gate("history", "web", env=run_by("carol", "3ccccccc")).stdout.splitlines()
    assert lines[0].split()[3:6] == ["VERDICT", "BY", "COMMIT"]
    assert re.search(r"verified \w+ ago, by a rollback +alice +1aaaaaaa +shop/web:1 ", lines[1]), (
        lines
    )
    assert re.search(r"failed \w+ ago: CrashLoop +bob +2bbbbbbb +shop/web:2 ", lines[2]), lines
    serves, failed = history_rows(scene)
    assert [serves[name] for name in JUDGED] == ["verified", "", "alice", "1aaaaaaa" * 5]
    assert [failed[name] for name in JUDGED] == ["failed", "CrashLoop", "bob", "2bbbbbbb" * 5]
    assert serves["run_url"] == "https://github.com/shop/web/actions/runs/1"


@pytest.mark.sandbox_only("one answer of the server, for six commands")
@pytest.mark.contract("B194", "B1019")
@pytest.mark.parametrize("command", ["status", "history", "undo", "pause", "restart", "verify"])
def test_a_deployment_that_does_not_exist_is_one_line(scene: Scene, command: str) -> None:
    """A name that nobody has is exit 3 and named; of what would not write nothing more is said."""
    result = scene.gate(command, "nobody")
    assert_refused(result, "NotFound", "nobody")
    writes = command in ("undo", "pause", "restart")
    assert ("nothing was written" in result.stderr) is writes


# undo, pause, resume, restart


@pytest.mark.long
@pytest.mark.contract("B192", "B194")
def test_undo_goes_to_a_revision_and_changes_nothing_else(scene: Scene) -> None:
    """Only the template goes back: replicas and deadline stay as they are applied now."""
    scene.serve(web())
    scene.serve(web(2))
    scene.serve(web(3, replicas=3, progress_deadline_seconds=77))
    missing = scene.gate("undo", "web", "--to-revision", "9")
    assert_refused(missing, "NotFound", "9")
    assert all(str(number) in missing.stderr for number in (1, 2, 3))
    result = undo(scene, "--to-revision", "1")
    assert_verified(result)
    live = assert_runs(scene.objects, "shop/web:1", replicas=3, revision=4)
    assert live["spec"]["progressDeadlineSeconds"] == 77
    assert_verified(scene.apply(web(4, replicas=3)))
    assert_runs(scene.objects, "shop/web:4", replicas=3)


@pytest.mark.contract("B714")
@pytest.mark.parametrize("flags", [(), ("--deployment-only",), ("--to-revision", "1")])
def test_an_undo_that_would_change_nothing_is_refused(scene: Scene, flags: tuple[str, ...]) -> None:
    """Somebody added a field to the template, which an apply of ours leaves: it is named, 3."""
    scene.serve(web())
    scene.change_as("reloader", template_annotation("reloaded-at", "noon"))
    scene.objects.wait_complete("web", 2)
    result = undo(scene, *flags)
    assert_refused(result, "Conflict", "reloaded-at")
    assert "--take-over reloader" in result.stderr
    live = assert_runs(scene.objects, "shop/web:1", revision=2)
    assert live["spec"]["template"]["metadata"]["annotations"] == {"reloaded-at": "noon"}
    taken = undo(scene, *flags, "--take-over", "reloader")
    assert_verified(taken)
    live = assert_runs(scene.objects, "shop/web:1", revision=3)
    assert "annotations" not in live["spec"]["template"]["metadata"]


@pytest.mark.contract("B714")
def test_an_undo_names_what_others_have_beside_the_version(scene: Scene) -> None:
    """The image returns; the annotation that somebody added stays, and that is said."""
    scene.serve(web())
    scene.serve(web(2))
    scene.change_as("reloader", template_annotation("reloaded-at", "noon"))
    scene.objects.wait_complete("web", 3)
    result = undo(scene, "--to-revision", "1")
    assert_verified(result)
    assert "reloaded-at (reloader)" in result.stderr
    assert_runs(scene.objects, "shop/web:1", revision=4)


@pytest.mark.long
@pytest.mark.contract("B191")
def test_undo_of_a_paused_deployment_says_so(scene: Scene) -> None:
    """`kubectl rollout undo` refuses a paused Deployment; this one resumes it, and says so."""
    scene.serve(web())
    scene.serve(web(2))
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    result = undo(scene)
    assert_verified(result)
    assert "paused" in result.stderr
    live = assert_runs(scene.objects, "shop/web:1", revision=3)
    assert not live["spec"].get("paused")


@pytest.mark.contract("B191")
def test_a_refused_undo_of_a_paused_deployment_resumes_nothing(scene: Scene) -> None:
    """Nor does it say so: somebody else owns the image, so nothing is written."""
    assert_verified(scene.apply(web()))
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    scene.kubectl("set", "image", "deployment/web", "web=shop/web:7", check=True)
    result = undo(scene)
    assert_refused(result, "Conflict", "others own fields")
    assert "resume" not in result.stderr
    assert scene.objects.get("deployments", "web")["spec"]["paused"] is True


@pytest.mark.contract("B195")
def test_pause_and_resume(scene: Scene) -> None:
    """`pause` holds the rollout; `resume` lets it go and follows it to its end."""
    scene.serve(web())
    scene.gate("pause", "web", check=True)
    assert scene.objects.get("deployments", "web")["spec"]["paused"] is True
    scene.change(web(2, behaviour="ready=1"))
    result = scene.gate("resume", "web", *DOCUMENT)
    assert_verified(result)
    assert_runs(scene.objects, "shop/web:2", revision=2)


@pytest.mark.long
@pytest.mark.contract("B196")
def test_a_restart_survives_the_next_apply(scene: Scene) -> None:
    """`restart` makes new pods; applying the same manifest afterwards changes nothing."""
    scene.serve(web())
    result = scene.gate("restart", "web", *DOCUMENT)
    assert_verified(result)
    live = assert_runs(scene.objects, "shop/web:1", revision=2)
    annotations = live["spec"]["template"]["metadata"]["annotations"]
    assert "kubectl.kubernetes.io/restartedAt" in annotations
    again = scene.apply(web())
    assert_verified(again, "NoChange")
    assert_runs(scene.objects, "shop/web:1", revision=2)

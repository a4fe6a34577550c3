"""The commands beside `apply`: what they show, what they change, and how they end."""

from __future__ import annotations

import re

import pytest

from gate.cli.exit_codes import MEANINGS
from gate.core.model.outcome import Outcome
from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_runs,
    assert_verified,
    changes,
    warned,
)
from tests.bed.pods import restarts
from tests.bed.scene import Scene, service, settings, template_annotation, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import job, stateful_set
from tests.scenarios.rights import LEASE_RULES, READING, MakeGate, rules
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
        "deployment/web is unfinished; to finish it (back if incomplete): rollout-gate recover web",
        "an apply would first take it back, by what is there now: deployment/web to revision 1",
    ), str(back)
    assert "would first finish an earlier attempt" in back.document["message"]
    scene.wait_done("deployments", "web")
    forward = scene.gate(*words, "-f", path, *DOCUMENT)
    assert warned(forward, "an apply would first finish it forward, as it is complete"), forward
    assert forward.document["message"].endswith("by what is there now change nothing else")
    assert changes(audit) == written


@pytest.mark.sandbox_only("it waits for what may not be read")
@pytest.mark.contract("B1303")
def test_a_rehearsal_that_may_not_read_what_was_left_claims_no_way(
    scene: Scene, gate_with_rules: MakeGate
) -> None:
    """Rights on the Deployment alone do not show how far the StatefulSet beside it has come."""
    assert_verified(scene.apply(web(), stateful_set()))
    slow = "ready=8"
    path = scene.manifest(web(2, behaviour=slow), stateful_set(image="shop/db:2", behaviour=slow))
    with scene.gate.start("apply", "-f", path) as running:
        running.wait_for_line("progress .*deployment/web: 0 of 2 new pods")
        running.kill()
    found = gate_with_rules([*rules(*READING, "patch"), LEASE_RULES])(
        "preflight", "-f", scene.manifest(web(2)), *DOCUMENT
    )
    assert (found.exit_code, *_how(found)) == (0, "observed", "DryRun"), str(found)
    assert warned(found, "an apply would first finish it, forward or back"), str(found)


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


@pytest.mark.contract("B36")
def test_verify_steps_back_from_a_newer_version(scene: Scene) -> None:
    """Somebody rolls out another version meanwhile: 8."""
    scene.serve(web())
    scene.change(web(2, behaviour="ready=3;only=1, never-ready"))
    with scene.gate.start("verify", "deploy/web", *DOCUMENT) as running:
        running.wait_for_line("progress .* 1 of 2 current pods available")
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded", running="other")


@pytest.mark.contract("B2021")
def test_the_namespace_of_the_flag_is_the_one_that_is_announced(scene: Scene) -> None:
    """An object that names another one is refused: the run did not go there."""
    elsewhere = web()
    elsewhere["metadata"]["namespace"] = "elsewhere"
    namespace = scene.objects.namespace
    refused = scene.gate("apply", "-f", scene.manifest(elsewhere), "-n", namespace)
    assert refused.exit_code == 2, str(refused)
    assert f"namespace {namespace}, user" in refused.stderr
    assert f"belongs to namespace elsewhere, not to {namespace}" in refused.stderr


@pytest.mark.contract("B198", "B1888", "B2022")
def test_verify_wants_the_image_that_it_was_told(scene: Scene) -> None:
    """Another image than the one that is expected is 6, although it runs well."""
    scene.serve(web())
    assert scene.gate("verify", "web", "--expect-image", "shop/web:1").exit_code == 0
    result = scene.gate("verify", "web", "--expect-image", "shop/web:2")
    assert result.exit_code == 6, str(result)
    assert "not shop/web:2\nfailed (exit 6, Superseded)\n" in result.stderr
    assert "rollout-gate undo" not in result.stderr + result.stdout
    runs, step = MEANINGS[Outcome.FAILED]
    assert "another one, not judged, which may be healthy" in runs
    assert "where an expected image is missed, undo nothing" in step


# status and history


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
    assert re.search(r"failed \w+ ago: CrashLoop +bob +2bbbbbbb +shop/web:2$", lines[2]), lines
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


@pytest.mark.contract("B1429")
@pytest.mark.sandbox_only("the words of a command; the same code says them anywhere")
def test_status_of_what_crashes_and_moves_no_further_leads_to_its_verdict(scene: Scene) -> None:
    """With `OnDelete` nobody replaces the others: to watch would wait for nothing."""
    on_delete: JSON = {"updateStrategy": {"type": "OnDelete"}}
    assert_verified(scene.apply(stateful_set(**on_delete)))
    bad = stateful_set(image="shop/db:2", behaviour=CRASH, **on_delete)
    assert_ended(scene.apply(bad), 0, "applied", "NoRollout", running="baseline")
    scene.objects.delete("pods", "db-2")
    scene.objects.wait("pods", lambda found: any(restarts(pod) > 1 for pod in found))
    result = scene.gate("status", "sts/db")
    assert "what to do about it: rollout-gate verify statefulset/db" in result.stdout
    assert "--watch" not in result.stdout

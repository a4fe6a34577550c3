"""What a run says of what runs now, why, and what to do next: each sentence has to be so."""

from __future__ import annotations

import re
import signal

import pytest

from tests.bed.expectations import (
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.pods import behave, restarts, running_pods
from tests.bed.scene import (
    ALL_AT_ONCE,
    Scene,
    service,
    settings,
    template_annotation,
    tidying,
    web,
)
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.killing import SLOW, kill_at, signal_at
from tests.scenarios.versions import CRASH, KEEP, one_line, report

pytestmark = pytest.mark.sandbox_only("the words of a run; the same code says them anywhere")

PAGES = ("text", "markdown", "html", "junit")


def report_forms(scene: Scene, result_file: str) -> dict[str, str]:
    """Return a result document in every form that people read, by its name."""
    return {form: scene.gate("report", result_file, "--format", form).stdout for form in PAGES}


def advised(result: Result) -> list[list[str]]:
    """Return the commands of the gate that a verdict advises, as words."""
    lines = (line.strip().removeprefix("next").strip() for line in result.stdout.splitlines())
    return [line.split()[1:] for line in lines if line.startswith("rollout-gate ")]


# What a rollback to 0 replicas is


@pytest.mark.contract("B720")
def test_a_rollback_to_nought_does_not_say_that_anything_serves(scene: Scene) -> None:
    """It is returned and scaled to 0, in every form; no pod showed that it works."""
    assert_verified(scene.apply(web(replicas=0)), "Vacuous", running="none")
    result = scene.apply(web(2, behaviour=CRASH), flags=["--report", "json=run.json"])
    assert_rolled_back(result, "CrashLoop", running="none")
    assert_runs(scene.objects, "shop/web:1", replicas=0)
    assert warned(result, "went back, but 0 replicas are wanted, and no pod runs: nothing serves")
    forms = report_forms(scene, "run.json")
    assert not [form for form, text in forms.items() if "serves again" in text]
    for form in ("text", "markdown", "html"):
        assert "scaled to 0; nothing serves" in " ".join(forms[form].split()), forms[form]
    assert "complete without a pod" in forms["text"]
    assert "a failure returns to revision 1 (shop/web:1), which runs no pod" in result.stderr


@pytest.mark.contract("B720")
def test_of_several_that_went_back_it_names_those_at_nought(scene: Scene) -> None:
    """One serves again, the other is scaled to 0."""
    bodies = [web(replicas=0), web(name="worker")]
    assert scene.apply(*bodies).exit_code == 0
    bad = [web(2), web(2, name="worker", behaviour=CRASH)]
    result = applied(scene, *bad)
    assert result.exit_code == 4, str(result)
    said = one_line(result.stdout)
    assert "deployment/worker failed; 2 of 2 Deployments went back; scaled to 0, so that" in said
    assert "nothing serves: deployment/web" in said


# Where a failure, and `undo`, return to


def applied(scene: Scene, *bodies: JSON, flags: tuple[str, ...] = ()) -> Result:
    """Apply objects as a person does."""
    return scene.gate("apply", "-f", str(scene.manifest(*bodies)), *flags)


def begin(scene: Scene, *bodies: JSON, verified: bool) -> None:
    """Let a version serve, which a gate has verified or knows nothing of."""
    if verified:
        assert_verified(scene.apply(*bodies))
    else:
        scene.serve(*bodies)


def marked(scene: Scene) -> dict[str, str]:
    """Return the marks of `history`, by image."""
    rows = scene.gate("history", "web").stdout.splitlines()[1:]
    found = (re.search(r"(shop/web:\d+)(.*)", row) for row in rows)
    return {one[1]: one[2].strip() for one in found if one is not None}


@pytest.mark.contract("B721", "B190", "B1405")
@pytest.mark.parametrize("flags", [KEEP, ("--on-failure", "pause")])
@pytest.mark.parametrize("verified", [True, False])
def test_beside_a_bad_version_the_way_back_is_known(
    scene: Scene, flags: tuple[str, ...], *, verified: bool
) -> None:
    """`history` marks it, `verify` advises it, and the advised command goes there."""
    begin(scene, web(), verified=verified)
    assert applied(scene, web(2, behaviour=CRASH), flags=flags).exit_code == 6
    assert marked(scene) == {
        "shop/web:1": "serving <- a failure or undo would return here",
        "shop/web:2": "current",
    }
    if flags != KEEP:
        scene.objects.patch("deployments", "web", {"spec": {"paused": False}})
    result = scene.gate("verify", "web")
    assert result.exit_code == 6, str(result)
    assert "nothing served before" not in result.stdout
    (undo,) = (words for words in advised(result) if words[0] == "undo")
    assert scene.gate(*undo).exit_code == 0
    assert_runs(scene.objects, "shop/web:1")
    assert marked(scene)["shop/web:1"] == "running <- a failure would return here"


@pytest.mark.contract("B721")
def test_of_a_first_version_that_fails_nothing_is_claimed(scene: Scene) -> None:
    """No older ReplicaSet, no verified set: there is no way back to advise."""
    scene.kubectl("apply", "-f", scene.manifest(web(behaviour=CRASH)), check=True)
    result = scene.gate("verify", "web")
    assert result.exit_code == 6, str(result)
    assert "no verified version to return to is known" in result.stdout
    assert marked(scene) == {"shop/web:1": "running"}


@pytest.mark.contract("B722", "B195")
@pytest.mark.parametrize("verified", [True, False])
def test_resume_of_a_bad_version_returns_to_what_serves(scene: Scene, *, verified: bool) -> None:
    """What `--on-failure pause` left goes back to the verified set, or to what still serves."""
    begin(scene, *([settings("one")] if verified else []), web(), verified=verified)
    bad = [settings("nine"), web(2, behaviour=CRASH)] if verified else [web(2, behaviour=CRASH)]
    assert applied(scene, *bad, flags=("--on-failure", "pause")).exit_code == 6
    result = scene.gate("resume", "web", "--output", "json")
    assert result.exit_code == 4, str(result)
    assert_runs(scene.objects, "shop/web:1")
    there = "the last verified" if verified else "the older"
    assert f"a failure returns to {there} revision 1 (shop/web:1)" in result.stderr
    if verified:
        assert scene.objects.get("configmaps", "settings")["data"]["mode"] == "one"


@pytest.mark.contract("B722")
@pytest.mark.parametrize("verified", [True, False])
def test_a_bad_version_that_is_applied_again_goes_back(scene: Scene, *, verified: bool) -> None:
    """It changes nothing, and still fails: the set that was verified, or what serves, returns."""
    begin(scene, web(), verified=verified)
    bad = web(2, behaviour=CRASH)
    assert applied(scene, bad, flags=KEEP).exit_code == 6
    result = scene.apply(bad)
    assert result.exit_code == 4, str(result)
    assert "nowhere to return to" not in result.stderr
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B722")
def test_old_pods_do_not_come_back_with_the_configuration_of_a_failure(scene: Scene) -> None:
    """No gate verified them, and what they ran with is gone: that is left to a person."""
    scene.serve(settings("one"), web())
    bad = (settings("nine"), web(2, behaviour=CRASH))
    assert applied(scene, *bad, flags=KEEP).exit_code == 6
    result = scene.apply(web(3, behaviour=CRASH), settings("nine"))
    assert result.exit_code == 6, str(result)
    assert "nowhere to return to" in result.stderr


# What was not judged


@pytest.mark.contract("B724", "B57")
def test_what_is_not_judged_is_not_called_verified(scene: Scene) -> None:
    """Configuration alone, and a pause: applied, with exit 0, each in its own words."""
    assert_verified(scene.apply(web()))
    first, again = applied(scene, settings()), applied(scene, settings())
    pause, twice = scene.gate("pause", "web"), scene.gate("pause", "web")
    for result, words in (
        (first, "applied; not judged, since there is no workload to follow"),
        (again, "nothing to change; not judged"),
        (pause, "deployment/web is paused"),
        (twice, "deployment/web was paused already"),
    ):
        assert result.exit_code == 0, str(result)
        assert f"APPLIED (exit 0): {words}" in one_line(result.stdout), str(result)
        assert "verified" not in result.stdout.lower(), str(result)
    assert scene.apply(settings("two")).document["outcome"] == "applied"


@pytest.mark.contract("B1031")
def test_what_has_no_judge_is_named_beside_what_was_verified(scene: Scene) -> None:
    """Forward and on the way back, in the first line; configuration is no news."""
    found = scene.apply(settings(), service(), tidying(), web())
    assert_verified(found)
    coverage = {item["kind"]: item["coverage"] for item in found.document["objects"]}
    assert (coverage["ConfigMap"], coverage["Service"]) == ("applied", "applied")
    assert (coverage["Deployment"], coverage["CronJob"]) == ("judged", "not-judged")
    good = one_line(applied(scene, settings(), tidying(), web(2)).stdout)
    assert "shop/web:2; 1 object applied, not judged: cronjob/tidy where" in good
    assert "shop/web:3 where" in one_line(applied(scene, settings(), service(), web(3)).stdout)
    bad = applied(scene, tidying(2), web(4, behaviour=CRASH))
    assert bad.exit_code == 4, str(bad)
    assert "; 1 object restored, not judged: cronjob/tidy" in one_line(bad.stdout), str(bad)


# Whose fault it was


@pytest.mark.contract("B723", "B19", "B30")
def test_an_innocent_deployment_is_not_given_the_culprits_reason(scene: Scene) -> None:
    """It went back since another one failed, which its reason and its cause say."""
    scene.serve(web(), web(name="worker"))
    result = scene.apply(web(2), web(2, name="worker", behaviour=CRASH))
    assert (result.exit_code, result.document["reason"]) == (4, "CrashLoop")
    innocent, culprit = result.document["deployments"]
    assert (innocent["name"], innocent["reason"]) == ("web", "SiblingFailed")
    (cause,) = innocent["causes"]
    assert cause["reason"] == "SiblingFailed"
    assert cause["message"].startswith("deployment/worker failed: CrashLoop: ")
    assert (culprit["name"], culprit["reason"]) == ("worker", "CrashLoop")
    assert {one["outcome"] for one in (innocent, culprit)} == {"rolled-back"}
    assert_runs(scene.objects, "shop/web:1", revision=3)
    assert images(scene.objects.wait_complete("worker", 1)) == ["shop/worker:1"]
    again = scene.apply(web(2), web(3, name="worker"))
    assert_verified(again)
    assert not warned(again, "this very template failed")


@pytest.mark.contract("B725", "B530")
def test_recover_names_no_version_that_nobody_found_to_be_bad(
    scene: Scene, program: PlayedGate
) -> None:
    """The gate ended while the version was still starting: that is what led back."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour=SLOW))
    kill_at(program, UNDER_WAY, "apply", "-f", path)
    result = program("recover", "web")
    said = one_line(result.stdout)
    assert result.exit_code == 4, str(result)
    assert "deployment/web did not complete; revision 1, shop/web:1" in said
    assert "the gate ended before the new version was complete" in said
    assert "failed" not in result.stdout
    assert "undone shop/web:2" in said


@pytest.mark.contract("B725", "B530")
def test_recover_of_a_rollback_names_the_version_that_failed(
    scene: Scene, program: PlayedGate
) -> None:
    """Ctrl-C came in the rollback: what serves again is not what failed, nor unknown."""
    scene.serve(web())
    path = scene.manifest(web(2, behaviour=CRASH))
    signal_at(program, r"s  rollback ", "apply", "-f", path, number=signal.SIGINT)
    result = program("recover", "web", "--report", f"markdown={scene.folder / 'run.md'}")
    assert result.exit_code == 4, str(result)
    said = one_line(result.stdout)
    assert (
        "deployment/web failed; revision 3 (was revision 1), shop/web:1 serves again, verified"
        in said
    )
    assert "failed revision 2, shop/web:2 (" in said
    assert "rollback written by another run, verified" in said
    assert "unknown version" not in said
    assert "- new: `shop/web:2`" in (scene.folder / "run.md").read_text()


@pytest.mark.contract("B726", "B194")
def test_recover_of_a_name_that_nobody_has_is_refused(scene: Scene, program: PlayedGate) -> None:
    """As `status` of it is; of one that exists there is nothing to finish."""
    found = {command: program(command, "nobody") for command in ("recover", "status")}
    for result in found.values():
        assert_refused(result, "NotFound", "there is no deployment/nobody in namespace shop")
    scene.serve(web())
    assert program("recover", "web").exit_code == 0


@pytest.mark.contract("B188")
def test_status_says_why_a_deployment_has_no_pods(scene: Scene) -> None:
    """One that a first failure scaled to 0 is complete, and not well."""
    scene.apply(web(behaviour=CRASH), flags=["--on-first-failure", "scale-to-zero"])
    scene.objects.wait_for("deployments", "web", lambda live: not live["status"].get("replicas"))
    status = scene.gate("status", "web")
    said = one_line(status.stdout)
    assert "complete: 0 replicas are wanted, and no pod runs" in said
    assert "a gate scaled it to 0 after this version failed" in said
    assert "ago: CrashLoop: web: Error" in said
    assert "Vacuous" not in said


def crashed_for_good(pod: JSON) -> bool:
    """Tell whether a pod was restarted so often that it is doomed."""
    return restarts(pod) >= 3


@pytest.mark.contract("B772", "B723")
@pytest.mark.parametrize("is_crashing", [True, False])
def test_what_crashes_beside_a_failure_is_not_called_innocent(
    scene: Scene, *, is_crashing: bool
) -> None:
    """The first that is doomed decides; of the other one it is said whether it crashes too.

    One of the worker's two pods crashes for good, which alone dooms nothing; then all of web's do.
    """
    scene.serve(web(), web(name="worker"))
    names = ("web", "worker")
    slow = {"behaviour": SLOW, "strategy": ALL_AT_ONCE, "progress_deadline_seconds": 300}
    bodies = [web(2, **{"name": name, **slow}) for name in names]
    with scene.applying(*bodies, flags=["--on-failure", "keep"]) as running:
        one, _ = running_pods(scene, "shop/worker:2", 2)
        if is_crashing:
            behave(scene, [one], CRASH)
            scene.objects.wait_for("pods", one["metadata"]["name"], crashed_for_good, 120.0)
        behave(scene, running_pods(scene, "shop/web:2", 2), CRASH)
        result = running.wait()
    assert (result.exit_code, result.document["reason"]) == (6, "CrashLoop"), str(result)
    reasons = {one["name"]: one["reason"] for one in result.document["deployments"]}
    assert reasons == {"web": "CrashLoop", "worker": "SiblingFailed"}
    shown = one_line(report(scene, result))
    both = "the new version of deployment/web, deployment/worker failed and were not taken back"
    assert (both in shown) == is_crashing, shown
    assert ("nothing was found against deployment/worker" in shown) != is_crashing, shown


@pytest.mark.contract("B747")
def test_a_return_beside_a_field_of_somebody_else_names_what_runs(scene: Scene) -> None:
    """The restart's annotation stays: the pods are those of another ReplicaSet than before."""
    assert_verified(scene.apply(web()))
    with scene.applying(web(2, behaviour="crash=2")) as running:
        running.wait_for_line("following replicaset/.*shop/web:2")
        restart = template_annotation("kubectl.kubernetes.io/restartedAt", "2026-11-21T12:00:00Z")
        scene.change_as("kubectl-rollout", restart)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    sets = scene.objects.list_all("replicasets")
    (runs,) = [one for one in sets if one["status"].get("replicas")]
    (deployment,) = result.document["deployments"]
    assert deployment["baseline"]["replicaset"] == runs["metadata"]["name"]
    revision = runs["metadata"]["annotations"]["deployment.kubernetes.io/revision"]
    assert str(deployment["baseline"]["revision"]) == revision


@pytest.mark.contract("B1309")
@pytest.mark.parametrize("change", ["configuration", "replicas", "version"])
def test_what_never_stopped_does_not_serve_again(scene: Scene, change: str) -> None:
    """No pod was replaced: one version runs, and it is not in two lines of the verdict."""
    assert_verified(scene.apply(settings("one"), web()))
    bodies = {"replicas": web(replicas=3), "version": web(2)}
    flags = ["--smoke-test", "false", "--report", "json=run.json"]
    result = scene.apply(settings("two"), bodies.get(change, web()), flags=flags)
    assert result.exit_code == 4, str(result)
    text = " ".join(report_forms(scene, "run.json")["text"].split())
    how = "again" if change == "version" else "as before"
    assert f"serves {how}, verified; no check was asked of it" in text, text
    assert (" failed revision " in text) is (change == "version"), text


@pytest.mark.contract("B1551")
def test_what_a_failed_smoke_test_printed_is_in_every_report(scene: Scene) -> None:
    """Its version went back, so nobody can ask again; the advice says what asking now is for."""
    scene.serve(web())
    printed = "seq -f 'case %g: the basket is empty' 30; echo 30 of 30 failed; exit 1"
    smoke = f'sh -c "{printed}"'
    result = scene.apply(web(2), flags=["--smoke-test", smoke, "--report", "json=run.json"])
    assert result.exit_code == 4, str(result)
    [check] = result.document["checks"]
    assert (len(check["output"].splitlines()), check["message"]) == (20, "exit 1: 30 of 30 failed")
    forms = report_forms(scene, "run.json")
    assert not [form for form, text in forms.items() if "case 30: the basket is empty" not in text]
    assert "evidence output of the check sh" in one_line(forms["text"])
    advice = one_line(forms["text"].partition(" next ")[2])
    assert "to see whether the check is at fault, ask it of what runs now" in advice

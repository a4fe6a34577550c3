"""What is said of a Job that is left before its end: by a signal, or since it cannot start."""

from __future__ import annotations

import signal

import pytest

from gate.cli.recover import recover as help_of
from tests.bed.jobs import PHASE, ended, entry, job
from tests.bed.scene import OURS, Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import stateful_set
from tests.scenarios.versions import one_line, report, screen

PLACE = "-n shop --context sandbox"


def interrupt(scene: Scene, *bodies: JSON, flags: tuple[str, ...] = ()) -> Result:
    """Apply objects, and send a signal once a pod of the Job `migrate` runs."""
    with scene.gate.start("apply", "-f", scene.manifest(*bodies), *flags) as running:
        scene.objects.wait_for("jobs", "migrate", lambda found: found["status"].get("ready") == 1)
        running.send(signal.SIGTERM)
        result = running.wait()
    assert result.exit_code == 128 + signal.SIGTERM, str(result)
    return result


@pytest.mark.contract("B1070")
@pytest.mark.sandbox_only("what is said of an end that other scenarios play there")
def test_a_signal_beside_a_running_job_leads_to_that_job(scene: Scene) -> None:
    """Not to the Job that has completed, nor to the Deployment, which runs what it ran before."""
    scene.serve(settings("one"), web())
    said = interrupt(scene, settings("two"), job("first"), job(behaviour="ready"), web(2)).stdout
    line = one_line(said)
    assert (
        "(exit 143): by SIGTERM; job/migrate was left running; deployment/web was never written"
        in line
    )
    assert "runs shop/migrate:1 (job/migrate)" in line
    for command in (
        f"rollout-gate verify job/migrate {PLACE}",
        f"kubectl logs -l job-name=migrate {PLACE} --all-containers --prefix --tail=50",
        f"kubectl describe job/migrate {PLACE}",
        f"rollout-gate recover web {PLACE}",
    ):
        assert f"  {command}\n" in said
    assert "verify web" not in said
    assert "once it is complete, apply again: that writes what is missing" in line


@pytest.mark.contract("B1070")
@pytest.mark.sandbox_only("what is said of an end that other scenarios play there")
def test_a_signal_beside_a_job_alone_advises_no_undo(scene: Scene) -> None:
    """There is no lock with a record, and nothing served before."""
    said = interrupt(scene, job(behaviour="ready")).stdout
    assert "job/migrate was left running" in said
    assert f"rollout-gate verify job/migrate {PLACE}" in said
    assert f"rollout-gate recover {PLACE}" in said
    assert "undo" not in said


@pytest.mark.contract("B1071")
@pytest.mark.sandbox_only("what is said of an end that other scenarios play there")
def test_a_job_that_never_started_is_no_job_that_ran(scene: Scene) -> None:
    """Its image does not exist: nothing stays of it, and it has to be deleted to be mended."""
    scene.serve(settings("one"), web())
    path = scene.manifest(settings("two"), job(behaviour="image-pull"), web(2))
    said = scene.gate("apply", "-f", path, "--fail-fast", "image-pull=2s").stdout
    line = one_line(said)
    assert (
        "(exit 4): job/migrate did not start, and may yet; deployment/web was never written;"
        " what else was written went back" in line
    )
    assert "has not run shop/migrate:1" in line
    assert "wanted shop/migrate:1 (job/migrate)" in line
    for untrue in ("ran ", " did stays", " does stays"):
        assert untrue not in said.replace("ran_", "")
    assert f"  kubectl delete job/migrate {PLACE}\n" in said


@pytest.mark.contract("B1675")
@pytest.mark.sandbox_only("what is said of an end that other scenarios play there")
@pytest.mark.parametrize("beside", [(), (settings("two"),)])
def test_of_a_job_alone_nothing_is_said_to_be_taken_back(
    scene: Scene, beside: tuple[JSON, ...]
) -> None:
    """Neither by the signal that leaves it, nor by what closes the attempt then."""
    scene.serve(settings("one"), web())
    said = one_line(interrupt(scene, *beside, job(behaviour="ready"), web(2)).stdout)
    recovered = scene.gate("recover", "web", "--output", "json")
    assert recovered.exit_code == 4, str(recovered)
    led = "or close the attempt; nothing of it can be taken back: rollout-gate recover web"
    assert (led in said) is not bool(beside), said
    assert ("or take back the part that was written" in said) is bool(beside), said
    heading = "ROLLED BACK" if beside else "NOTHING TO TAKE BACK"
    assert f"{heading} (exit 4): job/migrate" in report(scene, recovered), str(recovered)
    assert scene.gate("recover", "web").exit_code == 0


@pytest.mark.contract("B1072")
@pytest.mark.sandbox_only("what a lock remembers, and what is said of it")
def test_every_command_names_an_unfinished_attempt_alike(scene: Scene) -> None:
    """By all its workloads, the Job too, and with the same command that finishes it."""
    scene.serve(web(), web(name="api"))
    scene.serve(settings("one"))
    bodies = settings("two"), job(behaviour="ready"), web(2), web(2, name="api")
    said = [interrupt(scene, *bodies).stdout]
    named = "job/migrate, deployment/web, deployment/api"
    command = f"rollout-gate recover api {PLACE}"
    line = f"the attempt on {named} is unfinished; to finish it (back if incomplete): {command}\n"
    for asked in (
        ("locks",),
        ("history", "web"),
        ("status", "web"),
        ("status", "api"),
        ("status", "job/migrate"),
    ):
        found = scene.gate(*asked)
        assert line in found.stdout, str(found)
        said.append(found.stdout)
    for format_flags in (("--output", "json"), ("--watch",)):
        found = scene.gate("status", "web", *format_flags)
        assert line.strip() in found.stderr, str(found)
        assert line not in found.stdout
    assert all(command in text for text in said)
    verified = scene.gate("verify", "web", "--output", "json")
    assert verified.document["warnings"] == [line.strip()]
    recovered = scene.gate("recover", "job/migrate", "--output", "json")
    assert f"left of {named}: back" in recovered.stderr
    assert "unfinished" not in scene.gate("status", "web").stdout


@pytest.mark.contract("B1075")
@pytest.mark.sandbox_only("what is refused and said")
def test_what_a_job_cannot_be_asked_for_is_refused_in_a_line(scene: Scene) -> None:
    """It runs once: it has no history, no way back and no restart; a pause ends its pods."""
    scene.apply_as(OURS, job(behaviour="ready"))
    for command, exit_code, error, hint in (
        ("undo", 2, "cannot be undone", "undo one of those"),
        ("restart", 2, "cannot be restarted", "metadata.generateName"),
        ("history", 2, "has no history", f"rollout-gate status job/migrate {PLACE}"),
    ):
        refused = scene.gate(command, "job/migrate")
        assert refused.exit_code == exit_code, str(refused)
        assert f"job/migrate {error}: a Job runs once" in refused.stderr
        assert hint in refused.stderr
    paused = scene.gate("pause", "job/migrate")
    assert "job/migrate is suspended" in paused.stdout
    assert "its pods end while it is suspended" in paused.stderr


@pytest.mark.contract("B1065")
@pytest.mark.sandbox_only("what is said of an end that other scenarios play there")
def test_a_job_that_somebody_suspends_is_not_said_to_run_on(scene: Scene) -> None:
    """Its pods are gone: it is to be resumed, or deleted, and has no log to read."""
    path = scene.manifest(job(behaviour="ready"))
    with scene.gate.start("apply", "-f", path, "--timeout", "12s") as running:
        scene.objects.wait_for("jobs", "migrate", lambda found: found["status"].get("ready") == 1)
        scene.objects.patch("jobs", "migrate", {"spec": {"suspend": True}})
        result = running.wait()
    line = one_line(result.stdout)
    assert "did not complete: it is suspended" in line
    assert "wanted shop/migrate:1" in line
    assert scene.objects.list_all("pods") == []
    for untrue in ("may run on", "left running", "may still run", "kubectl logs"):
        assert untrue not in line, result.stdout
    assert f"rollout-gate resume job/migrate {PLACE}" in line
    assert f"kubectl delete job/migrate {PLACE}" in line


@pytest.mark.contract("B1076")
@pytest.mark.sandbox_only("what is said before a long wait")
def test_recover_promises_no_deadline_of_a_way_back(scene: Scene) -> None:
    """The flags of the attempt hold on, as its help says; its budget alone ends a way back."""
    scene.serve(settings("one"), web())
    path = scene.manifest(settings("two"), web(2, behaviour="never-ready"))
    with scene.gate.start("apply", "-f", path, "--on-interrupt", "keep") as running:
        running.wait_for_line("0 of 2 new pods available")
        running.send(signal.SIGTERM)
        assert running.wait().exit_code == 128 + signal.SIGTERM
    recovered = scene.gate("recover", "web", "--output", "json")
    [line] = [one for one in recovered.stderr.splitlines() if " recover  " in one]
    assert line.endswith("left of deployment/web: back")  # no progress deadline ends a way back
    told = one_line(help_of.help or "")
    assert "The flags of the attempt that was cut off hold on, such as its deadlines" in told


@pytest.mark.contract("B1077")
@pytest.mark.sandbox_only("what the sandbox does not play")
@pytest.mark.parametrize(
    ("name", "value"),
    [("backoffLimitPerIndex", 1), ("successPolicy", {"rules": [{"succeededCount": 1}]})],
)
def test_what_the_sandbox_does_not_play_of_a_job_is_refused(
    scene: Scene, name: str, value: object
) -> None:
    """Played as if it were not there, a rehearsal would be told another end than a cluster's."""
    indexed = job(behaviour="crash=1", completions=2, completionMode="Indexed")
    indexed["spec"][name] = value
    del indexed["spec"]["backoffLimit"]
    path = scene.manifest(indexed)
    for command in ("apply", "rehearse"):
        refused = scene.gate(command, "-f", path)
        said = one_line(refused.stderr)
        assert f"the sandbox does not serve this: a Job with {name}" in said, str(refused)
        assert refused.exit_code in (2, 3), str(refused)


@pytest.mark.contract("B1086", "B958", "B980")
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside"])
@pytest.mark.parametrize("deed", ["changed", "deleted"])
def test_what_comes_last_is_not_run_behind_a_workload_of_others(
    scene: Scene, deed: str, *, beside: bool
) -> None:
    """Its effects could not be taken back; the other Deployment is followed to its end, and kept.

    The Job is refused, and its run ends by what somebody else did, as without it.
    """
    scene.serve(web(), web(name="api"))
    smoke = job("smoke", annotations={PHASE: "after"})
    others = [web(2, name="api", behaviour="ready=15")] if beside else []
    with scene.applying(web(2, behaviour="never-ready"), *others, smoke) as running:
        running.wait_for_line("job/smoke waits for")
        if deed == "changed":
            scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)
        else:
            scene.objects.delete("deployments", "web")
        result = running.wait()
    reason = "Superseded" if deed == "changed" else "Deleted"
    assert ended(result) == (8, "superseded", reason), str(result)
    assert not scene.objects.list_all("jobs")
    last = entry(result, "smoke")
    assert (last["outcome"], last["reason"]) == ("refused", reason)
    assert last["message"].startswith("it was not written, since deployment/web")
    assert "job/smoke will not be written: it comes after deployment/web" in result.stderr
    if beside:
        assert entry(result, "api")["outcome"] == "verified"
        assert result.document["rollback"] is None
    text = one_line(screen(result))
    assert "job/smoke was never written" in text, text
    assert f"not written job/smoke {reason}" in text, text


@pytest.mark.contract("B1246", "B32")
@pytest.mark.parametrize(
    ("words", "end", "advice"),
    [
        (
            ("set", "image", "deployment/web", "web=shop/web:3"),
            "Superseded",
            "--take-over kubectl-set",
        ),
        (("delete", "deployment/web"), "Deleted", ""),
        (("scale", "deployment/web", "--replicas=3"), "ApplyRejected", "--replicas keep"),
    ],
    ids=["changed", "deleted", "scaled"],
)
@pytest.mark.sandbox_only("what is said of an end that other scenarios play there")
def test_what_others_do_to_a_deployment_that_waits_for_a_job(
    scene: Scene, words: tuple[str, ...], end: str, advice: str
) -> None:
    """Nothing goes back, since the Job alone was written: it completed, and is said to have."""
    scene.serve(web())
    with scene.applying(job(behaviour="complete=5"), web(2)) as running:
        running.wait_for_line("deployment/web waits for job/migrate")
        scene.kubectl(*words, check=True)
        result = running.wait()
    outcome = (6, "failed") if end == "ApplyRejected" else (8, "superseded")
    assert ended(result) == (*outcome, end), str(result)
    migrate = entry(result, "migrate")
    assert (migrate["outcome"], migrate["reason"]) == ("verified", "Complete")
    text = one_line(screen(result))
    assert "did not complete" not in text
    assert "correct what the server names" not in text
    assert advice in text
    assert ("--take-over" in text) is advice.startswith("--take-over"), text


@pytest.mark.contract("B1305")
@pytest.mark.parametrize("is_written", [True, False])
def test_one_apply_is_to_win_over_all_who_changed_a_workload(
    scene: Scene, *, is_written: bool
) -> None:
    """What was not written was not read again: its refusal says the rest."""
    scene.serve(web(), stateful_set())
    first = [] if is_written else [job(behaviour="complete=5")]
    bodies = [web(2, behaviour="ready=9"), stateful_set(image="shop/db:2", behaviour="ready=9")]
    with scene.applying(*first, *bodies) as running:
        running.wait_for_line("statefulset/db: 0 of" if is_written else "waits for job/migrate")
        for resource, name in (("deployments", "web"), ("statefulsets", "db")):
            containers = [{"name": name, "image": "shop/other:1"}]
            path = f"{scene.objects.path(resource, name)}?fieldManager=fix-{name}"
            template = {"spec": {"template": {"spec": {"containers": containers}}}}
            scene.client.json("PATCH", path, template, "application/strategic-merge-patch+json")
        result = running.wait()
    assert ended(result) == (8, "superseded", "Superseded"), str(result)
    text = one_line(screen(result))
    both = "--take-over fix-web --take-over fix-db" in text
    rest = "if that is refused, the refusal names whose fields it takes over" in text
    assert (both, rest) == (is_written, not is_written), text


@pytest.mark.contract("B1252")
@pytest.mark.sandbox_only("what is said of an end that other scenarios play there")
def test_a_signal_names_every_rollout_that_it_left(scene: Scene) -> None:
    """Not the first one alone."""
    scene.serve(web(), web(name="api"))
    slow = [web(2, name=name, behaviour="never-ready") for name in ("web", "api")]
    with scene.gate.start("apply", "-f", scene.manifest(*slow)) as running:
        running.wait_for_line("deployment/api: 0 of 2 new pods available")
        running.send(signal.SIGTERM)
        result = running.wait()
    said = "by SIGTERM; the rollout of deployment/web, deployment/api was left as it is"
    assert said in one_line(result.stdout)

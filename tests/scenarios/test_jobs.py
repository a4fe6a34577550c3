"""Jobs of a manifest: before its workloads and behind them, and what stays of one that failed."""

from __future__ import annotations

import re
import signal

import pytest

from tests.bed.expectations import assert_refused, assert_runs, assert_usage, changes, warned
from tests.bed.invariants import CANARY
from tests.bed.jobs import CRASH, PHASE, REPLACE, ended, entry, job, mode
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, settings, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import one_line, screen

CONFIGURATION, MIGRATION = "patch configmaps/settings", "patch jobs/migrate"
DEPLOYMENT, SMOKE_TEST = "patch deployments/web", "patch jobs/smoke"


def cron_job() -> JSON:
    """Return a CronJob whose image has no version."""
    template = {"spec": {"template": job()["spec"]["template"]}}
    template["spec"]["template"]["spec"]["containers"][0]["image"] = "shop/report"
    spec = {"schedule": "0 3 * * *", "jobTemplate": template}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "report"},
        "spec": spec,
    }


def written(result: Result) -> list[str]:
    """Return the objects in the order in which they were written on the way out."""
    lines = result.document["timeline"]
    return [line["message"].split()[0] for line in lines if line["event"] == "applied"]


@pytest.mark.contract("B955", "B957", "B958", "B970", "B1134")
@pytest.mark.on_oldest
def test_a_job_runs_before_what_it_prepares_and_another_behind_it(
    scene: Scene, audit: Trail
) -> None:
    """Each is awaited: the Deployment for the migration, the smoke test for the Deployment."""
    scene.serve(settings("one"), web())
    smoke = job("smoke", annotations={PHASE: "after"})
    result = scene.apply(web(2), smoke, job(), settings("two"))
    assert ended(result) == (0, "verified", "Complete")
    assert written(result) == ["configmap/settings", "job/migrate", "deployment/web", "job/smoke"]
    assert "deployment/web waits for job/migrate" in result.stderr
    assert "job/smoke waits for deployment/web" in result.stderr
    assert entry(result, "migrate")["running"] == "none"
    names = ("migrate", "web", "smoke")
    assert [entry(result, name)["phase"] for name in names] == ["before", "main", "after"]
    assert_runs(scene.objects, "shop/web:2")

    leases = [one["metadata"]["name"] for one in scene.objects.list_all("leases")]
    assert leases == ["rollout-gate.deployment.web"]

    again = scene.apply(web(2), smoke, job(), settings("two"))
    assert ended(again) == (0, "verified", "NoChange")
    assert len(scene.objects.list_all("jobs")) == 2
    in_order = [CONFIGURATION, MIGRATION, DEPLOYMENT, SMOKE_TEST]
    assert changes(audit) == [*in_order, *in_order]


@pytest.mark.contract("B955", "B956", "B959", "B961", "B1402")
@pytest.mark.parametrize(
    ("failing", "reason", "words"),
    [
        (job(behaviour=CRASH), "JobFailed", ("BackoffLimitExceeded", "exit code 3", "schema")),
        (job(behaviour="ready", activeDeadlineSeconds=2), "JobFailed", ("DeadlineExceeded",)),
        (
            job(
                behaviour=CRASH,
                podFailurePolicy={
                    "rules": [
                        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}
                    ]
                },
            ),
            "JobFailed",
            ("PodFailurePolicy", "exit code 3"),
        ),
        (job(behaviour="image-pull"), "ImagePull", ("not found",)),
        (job(behaviour="config-error"), "ContainerConfig", ("migrate",)),
    ],
    ids=["back-off", "deadline", "failure-policy", "image", "config"],
)
def test_a_failed_migration_leaves_the_workloads_and_returns_the_configuration(
    scene: Scene, audit: Trail, failing: JSON, reason: str, words: tuple[str, ...]
) -> None:
    """Exit 4; the Deployment is never written; what the Job did stays, where any of it has run."""
    scene.serve(settings("one"), web())
    uid = scene.objects.get("deployments", "web")["metadata"]["resourceVersion"]
    result = scene.apply(
        settings("two"),
        failing,
        web(2),
        flags=["--fail-fast", "container-config=2s", "--fail-fast", "image-pull=2s"],
    )
    assert ended(result) == (4, "rolled-back", reason)
    assert all(word in result.document["message"] for word in words), result.document["message"]
    assert written(result) == ["configmap/settings", "job/migrate"]
    assert scene.objects.get("deployments", "web")["metadata"]["resourceVersion"] == uid
    assert mode(scene) == "one"
    failed = entry(result, "migrate")
    assert (failed["outcome"], failed["reason"]) == ("failed", reason)
    has_run = reason == "JobFailed"
    stays = any("what the Job did stays" in line for line in result.document["warnings"])
    assert (stays, bool(failed["lasting_effect"])) == (has_run, has_run)
    assert scene.objects.get("jobs", "migrate")["metadata"]["uid"] == failed["uid"]
    logs = [one["text"] for one in failed["evidence"] if one["kind"] == "log"]
    # A deadline ends a pod that has not failed: its log is there where it could still be read.
    assert bool(logs) == ("exit code 3" in words) or "DeadlineExceeded" in words
    assert [cause["reason"] for cause in failed["causes"]] == [reason]
    (drawn,) = (one for one in result.document["history"]["pods"] if one["name"] == "migrate")
    assert drawn["samples"][-1]["new"]["failing"] or "exit code 3" not in words
    assert changes(audit) == [CONFIGURATION, MIGRATION, CONFIGURATION]


@pytest.mark.contract("B957", "B1071", "B1340")
def test_a_job_that_no_pod_runs_for_is_not_said_to_have_run(scene: Scene) -> None:
    """One is asked for no completions, another one for no pods at a time."""
    asked = scene.apply(job(completions=0))
    assert ended(asked) == (0, "verified", "Vacuous")
    assert warned(asked, "no completions were asked for, and no pod ran")
    path = scene.manifest(job("held", parallelism=0))
    result = scene.gate("apply", "-f", path, "--timeout", "12s")
    said, warning = result.stdout, "its parallelism is 0: no pod is created"
    assert result.stderr.index(warning) < result.stderr.index("applied ")
    assert "job/held did not start, and may yet" in said
    assert f"NoParallelism: {warning}" in " ".join(said.split())
    assert "raise spec.parallelism" in said
    assert "raise --timeout" not in said
    assert "kubectl delete job/held" in said
    assert not re.search(r"\bran\b|\bstays\b", said)


@pytest.mark.contract("B957")
def test_what_changes_of_a_completed_job_does_not_run_it_again(scene: Scene) -> None:
    """Its parallelism is written, and that is no second run."""
    assert ended(scene.apply(job())) == (0, "verified", "Complete")
    result = scene.apply(job(parallelism=2))
    assert ended(result) == (0, "verified", "NoChange")
    assert [one["action"] for one in result.document["objects"]] == ["changed"]


@pytest.mark.contract("B956")
def test_configuration_goes_back_only_when_the_pods_have_stopped(scene: Scene) -> None:
    """`FailureTarget` decides; a pod that takes 6 s to go keeps its configuration until then."""
    scene.serve(settings("one"), web())
    slow = job(behaviour="ready, slow-termination=6", activeDeadlineSeconds=2)
    with scene.applying(settings("two"), slow, web(2)) as running:
        running.wait_for_line("1 pod terminating")
        assert mode(scene) == "two"
        result = running.wait()
    assert ended(result) == (4, "rolled-back", "JobFailed")
    at = {line["event"]: line["at_seconds"] for line in result.document["timeline"]}
    assert at["restored"] > 6
    conditions = scene.objects.get("jobs", "migrate")["status"]["conditions"]
    assert [one["type"] for one in conditions] == ["FailureTarget", "Failed"]


@pytest.mark.contract("B958", "B961")
def test_a_failed_smoke_test_takes_the_version_back(scene: Scene, audit: Trail) -> None:
    """What it tested goes back with its configuration; the Job itself stays as it ended."""
    scene.serve(settings("one"), web())
    smoke = job("smoke", behaviour=CRASH, annotations={PHASE: "after"})
    result = scene.apply(settings("two"), web(2), smoke)
    assert ended(result) == (4, "rolled-back", "JobFailed")
    assert entry(result, "smoke")["outcome"] == "failed"
    assert entry(result, "web")["outcome"] == "rolled-back"
    assert mode(scene) == "one"
    assert_runs(scene.objects, "shop/web:1")
    assert [cause["reason"] for cause in entry(result, "smoke")["causes"]] == ["JobFailed"]
    assert changes(audit) == [CONFIGURATION, DEPLOYMENT, SMOKE_TEST, CONFIGURATION, DEPLOYMENT]


@pytest.mark.contract("B960")
def test_a_job_that_still_runs_at_the_timeout_is_left_and_named(scene: Scene) -> None:
    """Configuration goes back beneath it, and the advice says so."""
    scene.serve(settings("one"), web())
    slow = job(behaviour="ready")
    result = scene.apply(settings("two"), slow, web(2), flags=["--timeout", "6s"])
    assert ended(result) == (4, "rolled-back", "Timeout")
    assert entry(result, "migrate")["running"] == "new"
    assert "1 pod running" in result.document["message"]
    assert mode(scene) == "one"
    assert scene.objects.get("jobs", "migrate")["status"]["active"] == 1
    text = scene.gate("apply", "-f", scene.manifest(slow, web(3)), "--timeout", "6s").stdout
    assert "job/migrate did not complete, and its pods may run on" in " ".join(text.split())
    assert "job/migrate may still run, with the configuration that is there now" in " ".join(
        text.split()
    )


IGNORE = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}]}


@pytest.mark.contract("B1316")
def test_a_quota_that_denies_the_pods_of_a_job_is_the_cause(scene: Scene) -> None:
    """A longer timeout would not help, and `status` says so too."""
    enforce(scene.objects, quota({"pods": "0"}))
    result = scene.apply(job(), web(), flags=["--timeout", "8s"])
    assert ended(result) == (4, "rolled-back", "Timeout")
    (cause,) = entry(result, "migrate")["causes"]
    assert cause["reason"] == "PodCreateDenied"
    assert cause["message"].startswith("pods ")
    assert "exceeded quota" in cause["message"]
    text = screen(result)
    assert "            PodCreateDenied: pods " in text
    assert "the quota has no room for these pods: raise it, or ask for less" in text
    assert "raise --timeout" not in text
    assert "PodCreateDenied: pods " in scene.gate("status", "job/migrate").stdout


@pytest.mark.contract("B1316")
def test_pods_whose_failures_the_policy_ignores_are_named(scene: Scene) -> None:
    """The Job goes on, and nothing of its status counts them."""
    forgiving = job(behaviour="crash=0.1", podFailurePolicy=IGNORE)
    result = scene.apply(forgiving, flags=["--timeout", "8s"])
    assert ended(result) == (6, "failed", "Timeout")
    (cause,) = (one for one in entry(result, "migrate")["causes"] if one["reason"] == "PodFailed")
    assert "failed (its podFailurePolicy ignores some failures); pod/migrate-" in cause["message"]
    assert "exit code 1: " in cause["message"]
    assert "mend what its pods say" in screen(result)


@pytest.mark.contract("B962")
def test_another_template_is_refused_without_showing_it(scene: Scene, audit: Trail) -> None:
    """Exit 3 with both ways out; of the server's 422 the fields alone are shown."""
    scene.serve(settings("one"), web())
    assert ended(scene.apply(job()))[0] == 0
    result = scene.apply(settings("two"), job(behaviour="complete=2", env=CANARY), web(2))
    assert_refused(result, "Rejected", "another spec.template, which cannot change")
    assert "metadata.generateName" in result.stderr
    assert "a name with the version in it" in result.stderr
    assert "Containers" not in result.stderr
    assert mode(scene) == "one"
    assert changes(audit) == [MIGRATION]


@pytest.mark.contract("B963", "B964", "B1482")
def test_one_that_failed_before_is_not_applied_again_unless_it_may_be_replaced(
    scene: Scene, audit: Trail
) -> None:
    """The server would answer 200 and run nothing."""
    assert ended(scene.apply(job(behaviour=CRASH))) == (6, "failed", "JobFailed")
    uid = scene.objects.get("jobs", "migrate")["metadata"]["uid"]
    refused = scene.apply(job(behaviour=CRASH))
    assert_refused(refused, "Rejected", "has failed before (BackoffLimitExceeded")
    assert f'{REPLACE}: "true"' in refused.stderr

    better = job(annotations={REPLACE: "true"})
    scene.objects.patch("jobs", "migrate", {"metadata": {"finalizers": ["example.com/hold"]}})
    held = scene.apply(better)
    assert_refused(held, "Rejected", "its finalizer example.com/hold may hold up the deletion")
    scene.objects.patch("jobs", "migrate", {"metadata": {"finalizers": None}})
    dry = scene.gate("apply", "-f", scene.manifest(better), "--dry-run")
    assert "an apply would delete and create again job/migrate" in dry.stderr
    assert scene.objects.get("jobs", "migrate")["metadata"]["uid"] == uid
    assert ended(scene.apply(better, web())) == (0, "verified", "Complete")
    now = scene.objects.get("jobs", "migrate")
    assert now["metadata"]["uid"] != uid
    lock = f"{scene.objects.namespace}/rollout-gate.deployment.web"
    for whose in (now, now["spec"]["template"]):
        assert whose["metadata"]["annotations"]["rollout-gate.dev/locks"] == lock
    assert ended(scene.apply(better)) == (0, "verified", "NoChange")
    assert scene.objects.get("jobs", "migrate")["metadata"]["uid"] == now["metadata"]["uid"]
    again = ["delete jobs/migrate", MIGRATION, "patch deployments/web"]
    assert changes(audit) == [MIGRATION, *again, MIGRATION]


@pytest.mark.contract("B966")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (job(annotations={PHASE: "soon"}), ("job/migrate", f'{PHASE}: "soon"')),
        (job(annotations={REPLACE: "yes"}), ("job/migrate", f'{REPLACE}: "yes"')),
        (web(annotations={PHASE: "after"}), ("deployment/web", "for Jobs alone")),
    ],
)
def test_a_wrong_annotation_ends_with_its_place(
    scene: Scene, audit: Trail, body: JSON, words: tuple[str, ...]
) -> None:
    """Exit 2 in one line, and nothing is written."""
    result = scene.apply(settings("two"), body)
    assert_usage(result, ".yaml:", *words)
    assert changes(audit) == []


@pytest.mark.contract("B967")
def test_a_suspended_job_is_refused_as_a_paused_deployment(scene: Scene) -> None:
    """It would never end."""
    result = scene.apply(job(suspend=True))
    assert_refused(result, "Paused", "job/migrate is suspended")
    assert "take spec.suspend out of the manifest" in result.stderr


@pytest.mark.contract("B968")
def test_a_cron_job_is_linted_and_never_called_verified(scene: Scene) -> None:
    """It is applied; its schedule makes the next Job."""
    result = scene.apply(cron_job())
    assert ended(result) == (0, "applied", "Complete")
    assert "cronjob/report" in result.stderr
    assert "[mutable-tag]" in result.stderr
    assert "not judged: cronjob/report" in result.stderr


@pytest.mark.contract("B1056")
def test_no_lock_is_left_of_what_was_never_written(scene: Scene) -> None:
    """The first one has the record of the run; the other one would remember nothing, for ever."""
    scene.serve(settings("one"), web())
    result = scene.apply(settings("two"), job(behaviour=CRASH), web(2), web(name="zone"))
    assert ended(result) == (4, "rolled-back", "JobFailed")
    names = [one["metadata"]["name"] for one in scene.objects.list_all("leases")]
    assert names == ["rollout-gate.deployment.web"]


@pytest.mark.contract("B960", "B1070")
@pytest.mark.parametrize("on_interrupt", ["keep", "rollback"])
def test_a_signal_leaves_the_job_and_names_it(scene: Scene, on_interrupt: str) -> None:
    """What is advised then leads to the workload that keeps the record."""
    scene.serve(settings("one"), web())
    path = scene.manifest(settings("two"), job(behaviour="ready"), web(2))
    with scene.gate.start("apply", "-f", path, "--on-interrupt", on_interrupt) as running:
        scene.objects.wait_for("jobs", "migrate", lambda found: found["status"].get("ready") == 1)
        running.send(signal.SIGTERM)
        result = running.wait()
    assert result.exit_code == 128 + signal.SIGTERM
    line = one_line(result.stdout)
    assert "job/migrate was left running; deployment/web was never written" in line
    assert "job/migrate: the rollback" not in line
    assert "rollout-gate recover web" in line
    assert mode(scene) == ("two" if on_interrupt == "keep" else "one")
    assert scene.objects.get("jobs", "migrate")["status"]["active"] == 1
    recovered = scene.gate("recover", "web", "--output", "json")
    assert entry(recovered, "web")["outcome"] == "refused"


@pytest.mark.contract("B970")
def test_undo_runs_no_job_again(scene: Scene) -> None:
    """The set that it returns to has the Deployment and its configuration alone."""
    for version in (1, 2):
        result = scene.apply(settings(str(version)), job(f"migrate-{version}"), web(version))
        assert ended(result) == (0, "verified", "Complete")
        scene.objects.delete("jobs", f"migrate-{version}")
    undone = scene.gate("undo", "deployment/web", "--output", "json")
    assert undone.exit_code == 0, str(undone)
    assert mode(scene) == "1"
    assert_runs(scene.objects, "shop/web:1")
    assert not scene.objects.list_all("jobs")

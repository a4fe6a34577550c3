"""The result document says what happened, from attempts that the real core made."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce, Write
from gate.core.protocol.events import (
    AttemptEvent,
    Interrupted,
    WriteRejected,
    WriteUncertain,
)
from gate.core.rollout.policy import Policy
from gate.core.steps.step import begin
from gate.report.document.document import MOST_TIMELINE_LINES, document, minimal
from gate.report.document.run import Run, RunIdentity, RunLines, RunTimes
from gate.report.schema.json_schema import result_schema
from gate.report.schema.result import Result
from tests.table import each
from tests.unit.core.world import refusals
from tests.unit.report.cluster import WAITING_CRASH, config_map, manifest
from tests.unit.report.endings import (
    ENDINGS,
    apply_rejected,
    crashed,
    interrupted,
    serving,
    two_failed,
)
from tests.unit.report.stage import Stage, run_of

VALIDATOR = Draft202012Validator(result_schema())
KEYS = [
    "schema", "version", "command", "attempt", "run_url", "traceparent", "server", "context",
    "kubeconfig", "check_flags", "check_variables", "cluster_uid", "outcome", "exit_code",
    "reason", "message", "hint",
    "recoverable", "has_recovered", "takes_back", "would_have", "started_at", "duration_seconds",
    "deployments", "objects", "checks", "rollback", "timeline", "history", "warnings",
]  # fmt: skip
DEPLOYMENT_KEYS = [
    "namespace", "name", "uid", "outcome", "reason", "message", "causes", "baseline", "new",
    "changed", "running", "deletion", "undo_lacks", "undo_conflicts", "evidence", "trees",
]  # fmt: skip


def told(name: str) -> Result:
    """Return the document of an ending."""
    return of(ENDINGS[name]())


def of(stage: Stage) -> Result:
    """Return the document of a stage as a pipeline reads it: through JSON."""
    found: Result = json.loads(json.dumps(document(stage.attempt, run_of(stage))))
    return found


@pytest.mark.contract("B173")
@pytest.mark.parametrize("name", ENDINGS)
def test_every_document_keeps_to_the_schema(name: str) -> None:
    """Whatever the end, the published schema holds and no key is missing or surplus."""
    result = told(name)
    VALIDATOR.validate(result)
    assert list(result) == KEYS
    assert [list(deployment) for deployment in result["deployments"]] == [
        DEPLOYMENT_KEYS for _ in result["deployments"]
    ]


@pytest.mark.contract("B173")
@pytest.mark.parametrize(
    ("name", "outcome", "code", "reason", "running"),
    [
        ("verified", "verified", 0, "Complete", "new"),
        ("unchanged", "verified", 0, "NoChange", "new"),
        ("vacuous", "verified", 0, "Vacuous", "none"),
        ("rolled-back", "rolled-back", 4, "CrashLoop", "baseline"),
        ("image-pull", "rolled-back", 4, "ImagePull", "baseline"),
        ("first-failed", "failed", 6, "CrashLoop", "new"),
        ("superseded", "superseded", 8, "Superseded", "other"),
        ("conflict", "refused", 3, "Conflict", "baseline"),
        ("lost-contact", "lost-contact", 9, "Unreachable", "unknown"),
        ("interrupted", "interrupted", 143, "Interrupted", "mixed"),
        ("rollback-failed", "rollback-failed", 5, "CrashLoop", "baseline"),
        ("observed", "observed", 0, "CrashLoop", "mixed"),
        ("kept", "failed", 6, "CrashLoop", "mixed"),
        ("paused", "failed", 6, "CrashLoop", "mixed"),
        ("scaled-to-zero", "failed", 6, "CrashLoop", "none"),
        ("deleted", "failed", 6, "CrashLoop", "other"),
    ],
)
def test_outcome_code_reason_and_what_runs(
    name: str, outcome: str, code: int, reason: str, running: str
) -> None:
    """The document branches as the exit code does, and says whose pods run."""
    result = told(name)
    assert (result["outcome"], result["exit_code"], result["reason"]) == (outcome, code, reason)
    assert result["deployments"][0]["running"] == running


@pytest.mark.contract("B173", "B747")
def test_a_rollback_names_both_versions() -> None:
    """Baseline and new version come with revision, ReplicaSet and images."""
    (web,) = told("rolled-back")["deployments"]
    assert web["baseline"] == {
        "revision": 3, "was_revision": 1, "replicaset": "web-1", "images": ["shop/web:1"],
    }  # fmt: skip
    assert web["new"] == {
        "revision": 2, "was_revision": None, "replicaset": "web-2", "images": ["shop/web:2"],
        "image_ids": [],
    }  # fmt: skip
    assert web["changed"] is True
    assert web["uid"] == "uid-web"


@each(
    ("name", "path", "value"),
    [
        ("verified", "deployments/0/new/image_ids", ["shop/web@sha256:1111"]),
        ("superseded", "deployments/0/new/replicaset", "web-2"),
        ("first-failed", "deployments/0/baseline", None),
        ("conflict", "deployments/0/new/revision", None),
        ("conflict", "deployments/0/new/replicaset", ""),
        ("conflict", "deployments/0/new/images", ["shop/web:2"]),
        ("conflict", "deployments/0/changed", False),
        ("rollback-failed", "rollback/verified", False),
        *((name, "rollback", None) for name in ("verified", "kept", "paused", "scaled-to-zero")),
        *((name, "rollback", None) for name in ("observed", "first-failed")),
        ("rolled-back", "objects/0/judged", False),
        ("rolled-back", "objects/1/judged", True),
    ],
)
def test_nothing_is_made_up(name: str, path: str, value: object) -> None:
    """What is not known, was not written or did not go back is no more than that."""
    found: Any = told(name)
    for key in path.split("/"):
        found = found[int(key)] if key.isdecimal() else found[key]
    assert found == value


@pytest.mark.contract("B173")
def test_a_deployment_that_was_never_written_runs_what_it_ran() -> None:
    """Where an apply was rejected before it came to the Deployment, its baseline runs."""
    (web,) = of(apply_rejected())["deployments"]
    assert (web["outcome"], web["running"]) == ("verified", "baseline")
    assert (web["new"]["images"], web["new"]["replicaset"]) == (["shop/web:2"], "")


@pytest.mark.contract("B173")
def test_a_rollback_is_told_with_its_times() -> None:
    """Reason, first write, whether it was verified, and how long it took."""
    result = told("rolled-back")
    assert result["rollback"] == {
        "reason": "CrashLoop",
        "written_at": "2026-11-21T12:00:11.520Z",
        "verified": True,
        "duration_seconds": 3.02,
    }


@pytest.mark.contract("B173")
@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("verified", ["changed"]),
        ("unchanged", ["unchanged"]),
        ("rolled-back", ["restored", "restored"]),
        ("kept", ["changed", "changed"]),
        ("paused", ["changed", "changed"]),
        ("first-failed", ["created"]),
        ("scaled-to-zero", ["created"]),
        ("deleted", ["deleted"]),
        ("conflict", ["unchanged"]),
    ],
)
def test_each_object_has_its_action(name: str, actions: list[str]) -> None:
    """What was done to each object of the manifest, in the order of application."""
    assert [item["action"] for item in told(name)["objects"]] == actions


def test_a_refused_object_takes_back_what_was_written_before_it() -> None:
    """The ConfigMap is restored, the Deployment was never touched, and the reason says why."""
    result = of(apply_rejected())
    assert [item["action"] for item in result["objects"]] == ["restored", "unchanged"]
    assert result["rollback"] is not None
    assert result["rollback"]["reason"] == "ApplyRejected"


def test_a_created_object_that_a_rollback_leaves_is_kept() -> None:
    """Without --prune-created it stands, and the document says so."""
    web = serving()
    bodies = [config_map("fresh", "new"), manifest("web", "shop/web:2")]
    stage = Stage([web], bodies)
    source = crashed()
    _crash_like(stage, source)
    actions = {item["name"]: item["action"] for item in of(stage)["objects"]}
    assert actions == {"fresh": "kept", "web": "restored"}


def _crash_like(stage: Stage, source: Stage) -> None:
    """Give a stage's Deployment the failed pods of another one's, then roll it back."""
    (web,), (failed,) = stage.workloads.values(), source.workloads.values()
    web.revision = 2
    web.sets, web.pods = failed.sets, failed.pods
    web.counted(2, 3, 5)
    stage.show(9.0)
    stage.serve_again()


@pytest.mark.contract("B34")
def test_observe_says_what_would_have_been() -> None:
    """The message names the revision and the reason; the job does not fail."""
    result = told("observed")
    assert result["message"].startswith(
        "would have rolled back deployment/web to revision 1 because CrashLoop: web: Error"
    )
    assert result["deployments"][0]["outcome"] == "failed"


def test_observe_on_a_good_version_says_so() -> None:
    """A version that becomes complete would have been verified."""
    web = serving()
    stage = Stage([web], [manifest("web", "shop/web:1")], Policy(observe=True))
    stage.show(0.5)
    assert of(stage)["message"].startswith("would have been verified: NoChange")


def test_a_sibling_that_goes_back_too_is_not_blamed() -> None:
    """Its cause is the other one's failure, and it has no evidence of its own."""
    web, api = told("two-deployments")["deployments"]
    assert web["causes"][0]["pods"] == 2
    assert web["evidence"]
    assert api["causes"][0]["message"].startswith("deployment/web failed: ")
    assert api["causes"][0]["pods"] == 0
    assert api["evidence"] == []
    assert api["outcome"] == "rolled-back"
    assert told("two-deployments")["message"].startswith("deployment/web: web: Error")


def test_a_lost_answer_is_a_warning_and_counts_as_done() -> None:
    """Nobody may read "unchanged" where nobody knows."""

    def lost(write: Write) -> AttemptEvent:
        return WriteUncertain(100.0, write.effect_id, "connection reset")

    stage = Stage([serving()], [manifest("web", "shop/web:2")], answer=lost, readable=False)
    for event in refusals(stage.attempt.now + 1.0, why="no route to host"):
        stage.hear(event)
    result = of(stage)
    assert result["outcome"] == "lost-contact"
    assert [item["action"] for item in result["objects"]] == ["changed"]
    assert "the answer to the write of deployment/web was lost" in result["warnings"][0]


def test_fields_left_to_their_new_owners_are_named() -> None:
    """A rollback that meets another manager's field drops it and says so."""

    def contested(write: Write) -> AttemptEvent | None:
        spec = write.body.thaw()["spec"]
        back = spec["template"]["spec"]["containers"][0]["image"] == "shop/web:1"
        if back and "replicas" in spec:
            told = CleanText("conflict")
            paths = ("spec.replicas",)
            return WriteRejected(110.0, write.effect_id, Reason.CONFLICT, told, paths)
        return None

    stage = Stage([serving()], [manifest("web", "shop/web:2")], answer=contested)
    _crash_like(stage, crashed())
    assert (
        "the rollback left spec.replicas of deployment/web as others have changed it"
        in of(stage)["warnings"][0]
    )


def test_a_long_timeline_keeps_its_first_and_last_lines() -> None:
    """A thousand pods make thousands of lines; the document stays small and says what is cut."""
    lines = tuple(Announce(float(index), "pod", f"line {index}") for index in range(2000))
    run = Run(
        RunIdentity("1", "id", "apply"),
        RunTimes("2026-11-21T12:00:00Z", 0.0, 1.0),
        lines=RunLines(lines),
    )
    timeline = minimal(Outcome.USAGE, 2, Reason.USAGE, "no", run)["timeline"]
    assert len(timeline) == MOST_TIMELINE_LINES
    assert timeline[0]["message"] == "line 0"
    assert timeline[-1]["message"] == "line 1999"
    assert timeline[100]["message"] == "1501 lines are left out here"


def test_a_run_without_an_attempt_has_the_same_keys() -> None:
    """Usage errors, refusals and bugs are documents too."""
    run = Run(
        RunIdentity("1", "id", "apply"),
        RunTimes("2026-11-21T12:00:00Z", 5.0, 5.25),
        lines=RunLines(warnings=("a", "b", "a")),
    )
    result = minimal(Outcome.REFUSED, 3, Reason.FORBIDDEN, "may not patch", run)
    VALIDATOR.validate(json.loads(json.dumps(result)))
    assert list(result) == KEYS
    assert result["duration_seconds"] == 0.25
    assert result["warnings"] == ["a", "b"]


def test_an_attempt_that_has_not_ended_is_an_internal_error() -> None:
    """A loop that stops early is never reported as a verdict."""
    attempt, _ = begin(Plan("apply", (), (), (), Policy()), 0.0)
    run = Run(RunIdentity("1", "id", "apply"), RunTimes("2026-11-21T12:00:00Z", 0.0, 1.0))
    result = document(attempt, run)
    assert (result["outcome"], result["exit_code"]) == ("internal-error", 1)


def test_an_unreadable_start_leaves_times_empty() -> None:
    """A wrong clock string spoils a time, not the report."""
    run = Run(RunIdentity("1", "id", "apply"), RunTimes("yesterday", 0.0, 1.0))
    assert run.times.at(3.0) == ""


def test_an_interrupt_before_new_pods_is_no_baseline() -> None:
    """The new version is on its way: nobody may read that the old one stays."""
    web = serving()
    stage = Stage([web], [manifest("web", "shop/web:2")])
    stage.hear(Interrupted(stage.attempt.now + 0.1, 2))
    result = of(stage)
    assert result["exit_code"] == 130
    assert result["deployments"][0]["running"] == "mixed"
    assert interrupted().attempt.exit_code == 143


def test_a_rollback_that_holds_for_one_alone_is_not_verified() -> None:
    """Two went back, one of them serves again."""
    stage = two_failed()
    first = next(iter(stage.attempt.result.endings))
    serves = replace(stage.attempt.result.endings[first], outcome=Outcome.ROLLED_BACK)
    stage.attempt = replace(
        stage.attempt,
        result=replace(
            stage.attempt.result, endings=stage.attempt.result.endings.put(first, serves)
        ),
    )
    result = of(stage)
    assert [d["outcome"] for d in result["deployments"]] == ["rolled-back", "rollback-failed"]
    assert result["rollback"] is not None
    assert result["rollback"]["verified"] is False


def test_where_the_template_is_the_same_the_way_back_ends_at_the_baseline() -> None:
    """A change of replicas makes no ReplicaSet: after its rollback the same one is the old one."""
    web = serving()
    policy = Policy(rollback_timeout_seconds=60.0)
    stage = Stage([web], [manifest("web", "shop/web:1", 6)], policy)
    web.replica_set("shop/web:1", 1, 6, 4)
    web.pod("shop/web:1", "p4", WAITING_CRASH)
    web.pod("shop/web:1", "p5", WAITING_CRASH)
    web.replicas = 6
    web.counted(6, 4, 6)
    stage.show(5.0)
    web.replicas = 4
    web.replica_set("shop/web:1", 1, 4, 3)
    web.counted(4, 3, 4)
    stage.show(1.0)
    stage.wait_out()
    (told_of,) = of(stage)["deployments"]
    assert (told_of["outcome"], told_of["running"]) == ("rollback-failed", "baseline")

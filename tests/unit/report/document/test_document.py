"""The result document says what happened, from attempts that the real core made."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce, Write
from gate.core.protocol.events import Interrupted
from gate.core.rollout.policy import Budgets, OnInterrupt, Policy, Response
from gate.core.steps.step import begin
from gate.report.document.document import MOST_TIMELINE_LINES, document, minimal
from gate.report.document.run import Run, RunIdentity, RunLines, RunTimes
from gate.report.formats.markdown import markdown
from gate.report.formats.text import verdict_text
from gate.report.html.page import html
from gate.report.schema.json_schema import result_schema
from gate.report.schema.printed_result import with_deployments
from gate.report.style.style import Style
from tests.table import each
from tests.unit.core.leaves import manifest
from tests.unit.core.player import lost, serving
from tests.unit.core.world import refusals
from tests.unit.report.endings import ENDINGS, ReportPlayer, apply_rejected, two_failed, under_way
from tests.unit.report.results import example, result_of_player

VALIDATOR = Draft202012Validator(result_schema())


@pytest.mark.contract("B173")
@each("name", ENDINGS)
def test_every_document_keeps_to_the_schema(name: str) -> None:
    """Whatever the end, the published schema holds; no time is later than the document's own."""
    result = example(name)
    VALIDATOR.validate(with_deployments(result))
    for found in result["history"]["pods"]:
        times = [sample["at_seconds"] for sample in found["samples"]]
        assert times == sorted(set(times))
        assert not times or times[-1] <= result["duration_seconds"]
    assert len(json.dumps(result["history"])) < 20_000


def test_a_run_without_an_attempt_has_a_document() -> None:
    """Usage errors, refusals and bugs too; a loop that stops early is never a verdict."""
    identity, times = RunIdentity("1", "id", "apply"), RunTimes("yesterday", 5.0, 5.25)
    run = Run(identity, times, lines=RunLines(warnings=("a", "b", "a")))
    result = minimal(Outcome.REFUSED, 3, Reason.FORBIDDEN, "may not patch", run)
    VALIDATOR.validate(with_deployments(result))
    assert result["duration_seconds"] == 0.25
    assert result["warnings"] == ["a", "b"]
    assert run.times.at(3.0) == "", "a wrong clock string spoils a time, not the report"
    attempt, _ = begin(Plan("apply", (), (), (), Policy()), 0.0)
    result = document(attempt, run)
    assert (result["outcome"], result["exit_code"]) == ("internal-error", 1)


@pytest.mark.contract("B173")
@each(
    ("name", "outcome", "code", "reason", "running", "actions"),
    [
        ("verified", "verified", 0, "Complete", "new", ["changed"]),
        ("unchanged", "verified", 0, "NoChange", "new", ["unchanged"]),
        ("vacuous", "verified", 0, "Vacuous", "none", ["changed"]),
        ("rolled-back", "rolled-back", 4, "CrashLoop", "baseline", ["restored", "restored"]),
        ("image-pull", "rolled-back", 4, "ImagePull", "baseline", ["restored"]),
        ("first-failed", "failed", 6, "CrashLoop", "new", ["created"]),
        ("superseded", "superseded", 8, "Superseded", "other", ["changed"]),
        ("conflict", "refused", 3, "Conflict", "baseline", ["unchanged"]),
        ("lost-contact", "lost-contact", 9, "Unreachable", "unknown", ["changed"]),
        ("interrupted", "interrupted", 143, "Interrupted", "mixed", ["changed"]),
        ("rollback-failed", "rollback-failed", 5, "CrashLoop", "mixed", ["restored"] * 2),
        ("observed", "observed", 0, "CrashLoop", "mixed", ["changed", "changed"]),
        ("kept", "failed", 6, "CrashLoop", "mixed", ["changed", "changed"]),
        ("paused", "failed", 6, "CrashLoop", "mixed", ["changed", "changed"]),
        ("scaled-to-zero", "failed", 6, "CrashLoop", "none", ["created"]),
        ("deleted", "failed", 6, "CrashLoop", "other", ["deleted"]),
    ],
)
def test_outcome_code_reason_and_what_runs(
    name: str, outcome: str, code: int, reason: str, running: str, actions: list[str]
) -> None:
    """As the exit code branches; whose pods run, and what was done to each object."""
    result = example(name)
    assert (result["outcome"], result["exit_code"], result["reason"]) == (outcome, code, reason)
    assert result["workloads"][0]["running"] == running
    assert [item["action"] for item in result["objects"]] == actions


BASELINE = {
    "revision": 3,
    "was_revision": 1,
    "name": "web-1",
    "images": ["shop/web:v1"],
    "served": True,
    "unverified": "",
}
NEW = {"revision": 2, "was_revision": None, "name": "web-2", "images": ["shop/web:v2"]}
ROLLBACK = {
    "reason": "CrashLoop",
    "written_at": "2026-11-21T12:00:02.500Z",
    "verified": True,
    "duration_seconds": 1.0,
    "written_after_seconds": 0.0,
}


@pytest.mark.contract("B173", "B747", "B567")
@each(
    ("name", "path", "value"),
    [
        ("verified", "workloads/0/new/image_ids", ["shop/web@sha256:1111"]),
        ("verified", "workloads/0/trees/0/revisions/0/pods", ["4 pods ready"]),
        ("superseded", "workloads/0/new/name", "web-2"),
        ("first-failed", "workloads/0/baseline", None),
        ("first-failed", "objects/0/changes", []),
        ("conflict", "workloads/0/new/revision", None),
        ("conflict", "workloads/0/new/name", ""),
        ("conflict", "workloads/0/new/images", ["shop/web:v2"]),
        ("conflict", "workloads/0/changed", False),
        ("rollback-failed", "rollback/verified", False),
        *((name, "rollback", None) for name in ("verified", "kept", "paused", "scaled-to-zero")),
        *((name, "rollback", None) for name in ("observed", "first-failed")),
        ("observed", "workloads/0/outcome", "failed"),
        ("rolled-back", "rollback", ROLLBACK),
        ("rolled-back", "objects/0/judged", False),
        ("rolled-back", "objects/0/changes/0/path", "data.mode"),
        ("rolled-back", "objects/1/judged", True),
        ("rolled-back", "objects/1/changes/0/after", "shop/web:v2"),
        ("rolled-back", "workloads/0/uid", "web-uid-1001"),
        ("rolled-back", "workloads/0/changed", True),
        ("rolled-back", "workloads/0/baseline", BASELINE),
        ("rolled-back", "workloads/0/new", {**NEW, "image_ids": [], "restored": False}),
        ("rolled-back", "workloads/0/trees/0/moment", "verdict"),
        ("rolled-back", "workloads/0/trees/0/revisions/0/name", "web-2"),
        ("rolled-back", "workloads/0/trees/0/revisions/1/ready", 3),
        ("rolled-back", "workloads/0/trees/1/moment", "end"),
        ("rolled-back", "workloads/0/trees/1/revisions/0/ready", 0),
        ("rolled-back", "workloads/0/trees/1/revisions/1/ready", 4),
        ("two-deployments", "workloads/0/causes/0/pods", 2),
        ("two-deployments", "workloads/1/causes/0/pods", 0),
        ("two-deployments", "workloads/1/evidence", []),
        ("two-deployments", "workloads/1/outcome", "rolled-back"),
    ],
    ids=str,
)
def test_nothing_is_made_up(name: str, path: str, value: object) -> None:
    """What is not known, was not written or did not go back is no more than that."""
    found: Any = example(name)
    for key in path.split("/"):
        found = found[int(key)] if key.isdecimal() else found[key]
    assert found == value


@pytest.mark.contract("B173", "B1053")
def test_a_deployment_that_was_never_written_runs_what_it_ran() -> None:
    """The apply was rejected at it: the ConfigMap before it is restored, its baseline runs."""
    result = result_of_player(apply_rejected())
    (web,) = result["workloads"]
    assert (web["outcome"], web["running"]) == ("refused", "baseline")
    assert web["message"].startswith("it was not written: ")
    assert (web["new"]["images"], web["new"]["name"]) == (["shop/web:v2"], "")
    assert [item["action"] for item in result["objects"]] == ["restored", "unchanged"]
    assert result["rollback"] is not None
    assert result["rollback"]["reason"] == "ApplyRejected"


@pytest.mark.contract("B1059")
def test_a_write_whose_answer_was_lost_is_in_doubt() -> None:
    """Nobody may read "changed" or "unchanged" where nobody knows; each report says so."""
    player = ReportPlayer(serving(), manifest("v2"))
    player.bend(Write, lambda player, write: lost(player, write, done=False))
    player.read_nothing()
    player.run(at_most=player.attempt.now)
    for event in refusals(player.attempt.now + 1.0, why="no route to host"):
        player.hear(event)
    result = result_of_player(player)
    assert result["outcome"] == "lost-contact"
    assert [item["action"] for item in result["objects"]] == ["in-doubt"]
    assert "the answer to the write of deployment/web was lost" in result["warnings"][0]
    assert "\n  in-doubt  deployment/web\n" in verdict_text(result, Style(width=100))
    words = "in doubt, its last write has no clear answer"
    assert f"- `deployment/web`: {words}\n" in markdown(result)
    assert f"<li>deployment/web: {words}</li>" in html(result)


@pytest.mark.contract("B1059")
def test_a_way_back_whose_answer_was_lost_is_in_doubt() -> None:
    """It is neither restored nor known to be as the apply left it."""
    player = under_way(policy=Policy(response=Response(on_interrupt=OnInterrupt.ROLLBACK)))
    player.bend(Write, lambda player, write: lost(player, write, done=False))
    player.read_nothing()
    player.hear(Interrupted(player.attempt.now + 1.0, 15))
    player.run(at_most=player.attempt.now + 120.0)
    result = result_of_player(player)
    assert result["outcome"] == "interrupted"
    assert [item["action"] for item in result["objects"]] == ["in-doubt"]


@pytest.mark.contract("B1137", "B1821")
def test_fields_left_to_their_new_owners_are_named() -> None:
    """A rollback that meets others' fields drops them and says so, first of the warnings."""
    player = ReportPlayer(serving(v2="crash"), manifest("v2"))
    player.run(lambda attempt: bool(attempt.ledger.written))
    player.server.edit(player.web, "autoscaler", {"spec.replicas": 5})
    player.server.edit(player.web, "somebody", {"spec.progressDeadlineSeconds": 99})
    player.run()
    times = RunTimes("2026-11-21T12:00:00Z", 0.0, 1.0)
    lines = RunLines(warnings=("known ahead",), advice=("no probe",))
    run = Run(RunIdentity("1", "id", "apply"), times, lines=lines)
    first, second, *others = document(player.attempt, run)["warnings"]
    said = "deployment/web keeps 5 replicas, not the 4 of before: autoscaler has scaled it since"
    assert first == said
    left = "the rollback left .spec.progressDeadlineSeconds of deployment/web as others have it"
    assert second == left
    assert others == ["known ahead", "no probe"]


def test_a_sibling_that_goes_back_too_is_not_blamed() -> None:
    """The document's message is that of the one that failed, and so is the sibling's cause."""
    result = example("two-deployments")
    assert result["message"].startswith("deployment/web: web: Error")
    assert result["workloads"][1]["causes"][0]["message"].startswith("deployment/web failed: ")


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


def test_an_interrupt_before_new_pods_is_no_baseline() -> None:
    """The new version is on its way: nobody may read that the old one stays."""
    player = ReportPlayer(serving(), manifest("v2"))
    player.control = False
    player.run(at_most=player.attempt.now)
    player.hear(Interrupted(player.attempt.now + 0.1, 2))
    player.run()
    result = result_of_player(player)
    assert result["exit_code"] == 130
    assert result["workloads"][0]["running"] == "mixed"


def test_a_rollback_that_holds_for_one_alone_is_not_verified() -> None:
    """Two went back, one of them serves again."""
    player = two_failed()
    ending = player.attempt.result.endings[player.web]
    serves = player.attempt.result.endings.put(
        player.web, replace(ending, outcome=Outcome.ROLLED_BACK)
    )
    player.attempt = replace(player.attempt, result=replace(player.attempt.result, endings=serves))
    result = result_of_player(player)
    assert [d["outcome"] for d in result["workloads"]] == ["rolled-back", "rollback-failed"]
    assert result["rollback"] is not None
    assert result["rollback"]["verified"] is False


def test_where_the_template_is_the_same_the_way_back_ends_at_the_baseline() -> None:
    """A change of replicas makes no ReplicaSet: after its rollback the same one is the old one."""
    server = serving()
    server.behaviour["shop/web:v1"] = "crash"
    policy = Policy(budgets=Budgets(rollback_timeout_seconds=60.0))
    player = ReportPlayer(server, manifest("v1", replicas=6), policy=policy)
    player.run()
    (told_of,) = result_of_player(player)["workloads"]
    assert (told_of["outcome"], told_of["running"]) == ("rollback-failed", "baseline")

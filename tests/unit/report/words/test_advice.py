"""What to do next is said for every reason, and its commands can be copied."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from gate.cli.catalog import COMMANDS, PROGRAM
from gate.core.kinds.registry import all_reasons
from gate.core.model.outcome import AnyReason, Outcome, Reason
from gate.report.document.document import document, minimal
from gate.report.document.run import RunRecord
from gate.report.schema.result import (
    CauseResult,
    Result,
    RollbackResult,
)
from gate.report.style.style import Style
from gate.report.words.advice import next_steps, telling_reason, worst_deployment
from gate.report.words.attempt_advice import Step
from gate.report.words.headline import headline
from tests.unit.report.endings import ENDINGS
from tests.unit.report.results import (
    RUN,
    deployment_result,
    log_result,
    object_result,
    result_of,
    told,
)
from tests.unit.report.stage import run_of

SILENT = {
    Reason.COMPLETE,
    Reason.NO_CHANGE,
    Reason.DRY_RUN,
    Reason.PROGRESSING,
    Reason.INTERRUPTED,
    Reason.NO_BASELINE,
}
"""Reasons of good ends, and those whose outcome says what to do."""


def words(result: Result) -> str:
    """Return all steps as one text."""
    return "\n".join(f"{step.text} {step.command}" for step in next_steps(result))


@pytest.mark.parametrize("reason", [reason for reason in all_reasons() if reason not in SILENT])
def test_every_reason_has_advice(reason: AnyReason) -> None:
    """Either with a Deployment or before there is one, nobody is left alone."""
    followed = next_steps(result_of(deployment_result(Outcome.ROLLED_BACK, reason, "baseline")))
    alone = next_steps(minimal(Outcome.REFUSED, 3, reason, "said", RUN))
    vacuous = next_steps(result_of(deployment_result(Outcome.VERIFIED, reason)))
    assert followed or alone or vacuous


@pytest.mark.parametrize("name", ENDINGS)
def test_steps_are_few_and_their_commands_are_words(name: str) -> None:
    """At most four steps; what is to be copied is a valid line of a shell."""
    stage = ENDINGS[name]()
    steps = next_steps(document(stage.attempt, run_of(stage)))
    assert len(steps) <= 4
    lines = [shlex.split(step.command) for step in steps if step.command]
    assert all(lines)
    ours = {words[1] for words in lines if words[0] == PROGRAM}
    assert ours <= set(COMMANDS), "only what there is may be advised"


@pytest.mark.parametrize(
    ("outcome", "command"),
    [
        (Outcome.LOST_CONTACT, "rollout-gate status web -n shop"),
        (Outcome.INTERRUPTED, "rollout-gate verify web -n shop"),
        (Outcome.INTERRUPTED, "rollout-gate recover web -n shop"),
        (Outcome.ROLLBACK_FAILED, "rollout-gate status web -n shop"),
        (Outcome.FAILED, "rollout-gate undo web -n shop --to-revision 3"),
    ],
)
def test_the_state_of_the_cluster_comes_first(outcome: Outcome, command: str) -> None:
    """What runs has to be dealt with before the cause is."""
    assert command in words(result_of(deployment_result(outcome, Reason.CRASH_LOOP)))


@pytest.mark.contract("B880")
@pytest.mark.parametrize("served", [True, False])
def test_the_log_of_a_crash_comes_before_the_history(*, served: bool) -> None:
    """Where no undo is advised the history mends nothing: what crashes does, once it is read."""
    found = deployment_result(Outcome.FAILED, Reason.CRASH_LOOP)
    result = result_of(found)
    if served:
        found["new"]["replicaset"] = "web-3"
        found["changed"] = False
        kept = told("kept")["objects"][0]
        result["objects"] = [{**kept, "action": "unchanged"}]
    else:
        found["baseline"] = None
    commands = [step.command.split(" ")[:2] for step in next_steps(result)]
    texts = [step.text for step in next_steps(result)]
    assert "ended: neither a log" in texts[0]
    assert commands[-1] == ["rollout-gate", "history"]


@pytest.mark.contract("B752")
@pytest.mark.parametrize("is_locked", [True, False])
@pytest.mark.parametrize("name", ["interrupted", "interrupted-back"])
def test_recover_is_advised_where_a_lock_has_a_record(name: str, is_locked: bool) -> None:
    """It finds nothing of a run without a lock: what goes on from there does without one."""
    stage = ENDINGS[name]()
    result = document(stage.attempt, replace(run_of(stage), record=RunRecord(is_locked=is_locked)))
    commands = [step.command for step in next_steps(result)]
    assert any(" recover " in command for command in commands) is is_locked
    texts = " ".join(step.text for step in next_steps(result))
    assert ("apply again" in texts) is not is_locked
    can_undo = not is_locked and name == "interrupted"
    assert any(" undo " in command for command in commands) is can_undo


@pytest.mark.contract("B653")
@pytest.mark.parametrize("reason", [reason for reason in all_reasons() if reason not in SILENT])
def test_each_command_leads_to_the_cluster_of_the_run(reason: AnyReason) -> None:
    """Whoever pastes it at night may have another context chosen: undoing there is worse."""
    told = deployment_result(Outcome.FAILED, reason)
    told["evidence"] = [log_result()]
    told["causes"][0]["message"] = "exceeded quota: q"
    there = {"context": "prod eu", "kubeconfig": "/etc/k; x"}
    results = [result_of(told), minimal(Outcome.REFUSED, 3, reason, "said", RUN)]
    for result in results:
        steps = next_steps({**result, **there})  # type: ignore[typeddict-item]
        lines = [shlex.split(step.command) for step in steps]
        for line in [line for line in lines if line and line[0] in (PROGRAM, "kubectl")]:
            assert line[line.index("--context") + 1] == "prod eu"
            assert line[line.index("--kubeconfig") + 1] == "/etc/k; x"


def test_after_a_written_rollback_no_old_revision_is_named() -> None:
    """The controller has given the old version another number: --to-revision 3 would miss it."""
    result = result_of(deployment_result(Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP))
    rollback: RollbackResult = {
        "reason": "CrashLoop", "written_at": "2026-11-21T12:00:00Z", "verified": False,
        "duration_seconds": 1.0,
    }  # fmt: skip
    assert "--to-revision" not in words({**result, "rollback": rollback})
    unwritten: RollbackResult = {**rollback, "written_at": ""}
    assert "--to-revision 3" in words({**result, "rollback": unwritten})


@pytest.mark.parametrize(
    ("cause", "images", "advice"),
    [
        ("OutOfMemory", ["shop/web:4"], "memory limit"),
        ("ImagePull", ["shop/web:3", "shop/job:typo"], "docker manifest inspect shop/job:typo"),
    ],
    ids=["no plain crash", "a sidecar that served before has no wrong tag"],
)
def test_the_cause_says_more_than_the_reason(cause: str, images: list[str], advice: str) -> None:
    """The rule is CrashLoop; the advice is about what was found."""
    told = deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    told["causes"] = [{"reason": cause, "message": "said", "pods": 2}]
    told["new"]["images"] = images
    assert advice in words(result_of(told))


def test_a_clock_gives_way_to_what_was_wrong_underneath() -> None:
    """`ProgressDeadlineExceeded` says nothing; that no node takes the pods does."""
    told = deployment_result(Outcome.ROLLED_BACK, Reason.PROGRESS_DEADLINE_EXCEEDED)
    told["causes"] = [{"reason": "Unschedulable", "message": "0/3 nodes", "pods": 2}]
    assert telling_reason(told) == "Unschedulable"
    assert "kubectl describe nodes" in words(result_of(told))


def test_a_conflict_names_the_managers_ready_to_be_taken_over() -> None:
    """All of them, quoted: a manager's name is somebody else's text."""
    told = deployment_result(Outcome.REFUSED, Reason.CONFLICT, "baseline")
    message = (
        'Apply failed with 2 conflicts: conflicts with "kubectl-edit" using apps/v1: .spec.replicas'
        ' conflicts with "a; rm -rf /" using apps/v1: .spec.paused'
    )
    told["causes"][0]["message"] = message
    commands = [step.command for step in next_steps(result_of(told))]
    assert commands == [
        "--take-over kubectl-edit --take-over 'a; rm -rf /'",
        "--force-conflicts",
    ]


@pytest.mark.contract("B899")
def test_a_conflict_without_a_manager_is_a_change_meanwhile() -> None:
    """Somebody changed it between the read and the write: there is nobody to take over from."""
    told = deployment_result(Outcome.REFUSED, Reason.CONFLICT, "baseline")
    [step] = next_steps(result_of(told))
    assert "somebody else changed it meanwhile: look at what they did, then run" in step.text
    assert step.command == "rollout-gate status web -n shop"


def test_a_quota_is_told_from_a_policy() -> None:
    """Both are PodCreateDenied; one is solved by room, the other by whoever made the rule."""
    told = deployment_result(Outcome.ROLLED_BACK, Reason.POD_CREATE_DENIED, "baseline")
    assert "resourcequota" not in words(result_of(told))
    told["causes"][0]["message"] = "exceeded quota: q"
    assert "kubectl describe resourcequota -n shop" in words(result_of(told))


def test_the_deployment_that_failed_itself_is_advised_on() -> None:
    """Not the sibling that was taken back with it, though it comes first."""
    sibling = deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    failed = deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    failed["evidence"] = [log_result()]
    assert worst_deployment(result_of(sibling, failed)) is failed


@pytest.mark.contract("B774")
def test_a_quota_of_a_first_deployment_says_nothing_of_a_surge() -> None:
    """There are no old pods beside which these would need room."""
    first = deployment_result(Outcome.FAILED, Reason.POD_CREATE_DENIED)
    first["baseline"] = None
    first["causes"][0]["message"] = "exceeded quota: full"
    assert "maxSurge" not in words(result_of(first))
    assert "the quota has no room for these pods: raise it" in words(result_of(first))


@pytest.mark.contract("B774")
def test_what_hinders_a_return_is_advised_on() -> None:
    """A quota that keeps the version before from serving is named after a failed rollback."""
    failed = deployment_result(Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP, "other")
    assert "kubectl describe replicaset/web-3 -n shop" in words(result_of(failed))
    denied = {"reason": "PodCreateDenied", "message": "exceeded quota: full", "pods": 0}
    failed["causes"] = [*failed["causes"], CauseResult(**denied)]  # type: ignore[typeddict-item]
    assert "kubectl describe resourcequota -n shop" in words(result_of(failed))


@pytest.mark.contract("B770")
def test_a_deployment_that_was_made_again_is_looked_at_first() -> None:
    """Nobody is told to apply what is there again."""
    again = deployment_result(Outcome.SUPERSEDED, Reason.DELETED, "other")
    result = result_of(again)
    result["objects"] = [
        object_result(
            kind="Deployment",
            name="web",
            judged=True,
            at_end={"state": "recreated", "managers": [], "fields": [], "finalizers": []},
        )
    ]
    assert "somebody deleted it and made it again" in words(result)
    assert "rollout-gate history web -n shop" in words(result)


@pytest.mark.contract("B772")
def test_what_somebody_else_created_was_not_changed() -> None:
    """A Deployment that was not there before has no uid in the document."""
    theirs = deployment_result(Outcome.SUPERSEDED, Reason.SUPERSEDED, "other")
    theirs["uid"] = ""
    assert "somebody else created deployment/web" in headline(result_of(theirs), Style())[0]


@pytest.mark.contract("B741")
@pytest.mark.parametrize(
    ("message", "advice"),
    [
        (
            "web: Error, exit code 1, 3 restarts: no schema (2 of 2 created pods)",
            "read what container web said as it ended",
        ),
        (
            "web: Error, exit code 1, 5 restarts, 3 of them while this run watched: no schema",
            "read what container web said as it ended",
        ),
        (
            "web: Error, exit code 1, 3 restarts (2 of 2 created pods)",
            "neither a log nor a last word of it could be read",
        ),
    ],
)
def test_a_last_word_that_the_cause_has_is_not_denied(message: str, advice: str) -> None:
    """A recovery has no pods to read any more, and tells the cause that the record holds."""
    crashed = deployment_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    crashed["causes"] = [{"reason": Reason.CRASH_LOOP.value, "message": message, "pods": 2}]
    assert advice in words(result_of(crashed))


@pytest.mark.contract("B777")
@pytest.mark.parametrize(
    ("hint", "step"),
    [
        ("--replicas keep leaves 5", Step("--replicas keep leaves 5")),
        (
            "otherwise: kubectl create namespace shop",
            Step("otherwise:", "kubectl create namespace shop"),
        ),
    ],
)
def test_the_hint_of_an_error_is_what_to_do(hint: str, step: Step) -> None:
    """It knows more than the reason, and may end in a command."""
    result = minimal(Outcome.REFUSED, 3, Reason.CONFLICT, "said", RUN, hint=hint)
    assert next_steps(result) == (step,)


@pytest.mark.contract("B777")
def test_a_role_is_no_advice_of_one_line() -> None:
    """What is to be copied stands on stderr; the reason's advice says how to come by it."""
    hint = "this Role grants what is missing:\nkind: Role"
    result = minimal(Outcome.REFUSED, 3, Reason.FORBIDDEN, "said", RUN, hint=hint)
    assert any("preflight --rbac" in step.command for step in next_steps(result))

"""What to do next is said for every reason, and its commands can be copied."""

from __future__ import annotations

import copy
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from gate.cli.catalog import COMMANDS, PROGRAM
from gate.core.kinds.registry import all_reasons
from gate.core.model.body import FrozenMap
from gate.core.model.outcome import AnyReason, Outcome, Reason
from gate.report.advice.next_steps import next_steps
from gate.report.advice.step import Step
from gate.report.document.document import document, minimal
from gate.report.document.run import RunRecord
from gate.report.formats.text import verdict_text
from gate.report.schema.result import CrashResult, Result, RollbackResult
from gate.report.style.style import Style
from gate.report.words.worst import worst_workload
from tests.table import each
from tests.unit.report.endings import ENDINGS, run_of
from tests.unit.report.results import (
    COMPARED,
    RUN,
    cause_of,
    example,
    log_result,
    object_result,
    result_of,
    workload_result,
)

SILENT = {
    Reason.COMPLETE,
    Reason.NO_CHANGE,
    Reason.DRY_RUN,
    Reason.PROGRESSING,
    Reason.INTERRUPTED,
    Reason.NO_BASELINE,
}
"""Reasons of good ends, and those whose outcome says what to do."""

ONE_LINE = Style(width=10_000)


def words(result: Result) -> str:
    """Return all steps as one text."""
    return "\n".join(f"{step.text} {step.command}" for step in next_steps(result))


@each("name", ENDINGS)
def test_steps_are_few_and_their_commands_are_words(name: str) -> None:
    """At most four steps; what is to be copied is a valid line of a shell."""
    steps = next_steps(example(name))
    assert len(steps) <= 4
    lines = [shlex.split(step.command) for step in steps if step.command]
    assert all(lines)
    ours = {words[1] for words in lines if words[0] == PROGRAM}
    assert ours <= set(COMMANDS), "only what there is may be advised"


@pytest.mark.contract("B1382")
@each(
    ("verdict", "outcome", "reason", "advised"),
    [
        ("fail", Outcome.ROLLED_BACK, Reason.CHECK_FAILED, "find out which requests fail"),
        (
            "inconclusive",
            Outcome.INCONCLUSIVE,
            Reason.CHECK_INCONCLUSIVE,
            "checks web -n shop --power --bake 1m30s",
        ),
    ],
)
def test_after_a_comparison_no_single_look_is_advised(
    verdict: str, outcome: Outcome, reason: Reason, advised: str
) -> None:
    """Which could compare nothing: what it takes is said instead."""
    result = result_of(workload_result(outcome, reason))
    result["checks"] = [{**COMPARED, "verdict": verdict}]
    said = words(result)
    assert advised in said
    assert "--explain" not in said


@pytest.mark.contract("B1538")
def test_a_comparison_that_cannot_be_judged_is_to_be_mended() -> None:
    """Of counters that are none no longer time shows anything."""
    result = result_of(workload_result(Outcome.INCONCLUSIVE, Reason.CHECK_ERROR))
    result["checks"] = [{**COMPARED, "verdict": "inconclusive"}]
    said = words(result)
    assert "mend the check first" in said
    assert "--explain" in said
    assert "side by side" not in said


@pytest.mark.contract("B1451", "B1452")
@each(
    ("is_first", "shared", "enough", "advised"),
    [
        (False, 90.0, 130.0, " let both versions serve side by side"),
        (False, 90.0, 90.0, "twice as bad is found in such a time; for less, let both versions"),
        (False, 0.0, None, " let both versions serve side by side"),
        (True, 0.0, None, "no version served before, so there is nothing to compare with"),
    ],
)
def test_more_time_is_advised_where_it_is_what_lacked(
    is_first: bool, shared: float, enough: float | None, advised: str
) -> None:
    """Not beside a first version, and not as what would find twice as bad where that was found."""
    found = workload_result(Outcome.INCONCLUSIVE, Reason.CHECK_INCONCLUSIVE)
    found["baseline"] = None if is_first else found["baseline"]
    result = result_of(found)
    comparison = copy.deepcopy(COMPARED["comparison"])
    assert comparison is not None
    comparison["shared_seconds"], comparison["enough_seconds"] = shared, enough
    result["checks"] = [{**COMPARED, "verdict": "inconclusive", "comparison": comparison}]
    said = f" {words(result)}"
    assert advised in said
    assert ("--power" in said) is not is_first
    assert ("such a time" in said) is (shared == enough)


@pytest.mark.contract("B880")
@pytest.mark.parametrize("served", [True, False])
def test_the_log_of_a_crash_comes_before_the_history(*, served: bool) -> None:
    """Where no undo is advised the history mends nothing: what crashes does, once it is read."""
    found = workload_result(Outcome.FAILED, Reason.CRASH_LOOP)
    result = result_of(found)
    if served:
        found["new"]["name"] = "web-3"
        found["changed"] = False
        kept = example("kept")["objects"][0]
        result["objects"] = [{**kept, "action": "unchanged"}]
    else:
        found["baseline"] = None
    commands = [step.command.split(" ")[:2] for step in next_steps(result)]
    texts = [step.text for step in next_steps(result)]
    assert "ended: it left no log" in texts[0]
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
@each("reason", [reason for reason in all_reasons() if reason not in SILENT])
def test_each_reason_has_advice_for_the_cluster_of_the_run(reason: AnyReason) -> None:
    """Whoever pastes it at night may have another context chosen: undoing there is worse."""
    entry = workload_result(Outcome.FAILED, reason)
    entry["evidence"] = [log_result()]
    entry["causes"][0]["message"] = "exceeded quota: q"
    there = {"context": "prod eu", "kubeconfig": "/etc/k; x"}
    vacuous = result_of(workload_result(Outcome.VERIFIED, reason))
    results = [result_of(entry), minimal(Outcome.REFUSED, 3, reason, "said", RUN), vacuous]
    advice = [next_steps({**result, **there}) for result in results]  # type: ignore[typeddict-item]
    assert any(advice)
    lines = [shlex.split(step.command) for steps in advice for step in steps]
    for line in [line for line in lines if line and line[0] in (PROGRAM, "kubectl")]:
        assert line[line.index("--context") + 1] == "prod eu"
        assert line[line.index("--kubeconfig") + 1] == "/etc/k; x"


def test_the_deployment_that_failed_itself_is_advised_on() -> None:
    """Not the sibling that was taken back with it, though it comes first."""
    sibling = workload_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    failed = workload_result(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, "baseline")
    failed["evidence"] = [log_result()]
    assert worst_workload(result_of(sibling, failed)) is failed


RECREATED: Any = {"state": "recreated", "managers": [], "fields": [], "finalizers": []}
MADE_AGAIN = object_result(kind="Deployment", name="web", judged=True, at_end=RECREATED)
CONFLICTS = (
    'Apply failed with 2 conflicts: conflicts with "kubectl-edit" using apps/v1: .spec.replicas'
    ' conflicts with "a; rm -rf /" using apps/v1: .spec.paused'
)


def ended(
    outcome: Outcome,
    reason: Reason,
    *causes: tuple[str, str],
    result: Mapping[str, Any] = FrozenMap(),
    **over: Any,
) -> Result:
    """Return a Deployment's end with these causes; `result` and `over` stand in the documents."""
    one: Any = workload_result(outcome, reason, "baseline") | over
    if causes:
        one["causes"] = [cause_of(why, said, 2) for why, said in causes]
    found: Any = result_of(one) | dict(result)
    return found  # type: ignore[no-any-return]


def crashed(*, has_last_words: bool) -> Result:
    """Return the end of a Deployment whose container crashed, without evidence."""
    found = ended(Outcome.ROLLED_BACK, Reason.CRASH_LOOP)
    crash: CrashResult = {"container": "web", "init": False, "has_last_words": has_last_words}
    found["workloads"][0]["causes"] = [cause_of(Reason.CRASH_LOOP, crash=crash)]
    return found


def wrote_back(at: str) -> dict[str, RollbackResult]:
    """Return a rollback that was written then."""
    return {
        "rollback": {
            "reason": "CrashLoop", "written_at": at, "verified": False, "duration_seconds": 1.0,
            "written_after_seconds": 0.0,
        }
    }  # fmt: skip


SIDECAR = {"new": {"name": "web-4", "images": ["shop/web:3", "shop/job:typo"]}}
AND_THEN = "if it hangs: kubectl delete job/web -n shop; then apply again"
PULLED = {"new": {"name": "web-4", "images": ["y:1", "x:2", "x:20"]}}
ADVICE: dict[str, tuple[Result, list[str], list[str]]] = {
    "a written rollback has given the old version another number": (
        ended(Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP, result=wrote_back("2026-11-21T12:00Z")),
        ["rollout-gate status web -n shop"],
        ["--to-revision"],
    ),
    "a rollback that was not written has not": (
        ended(Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP, result=wrote_back(""), running="new"),
        ["--to-revision 3"],
        [],
    ),
    "a sidecar that served before has no wrong tag": (
        ended(Outcome.ROLLED_BACK, Reason.CRASH_LOOP, ("ImagePull", "said"), **SIDECAR),
        ["docker manifest inspect shop/job:typo"],
        ["inspect shop/web:3"],
    ),
    "of two changed images the one that the cause names": (
        ended(Outcome.ROLLED_BACK, Reason.IMAGE_PULL, ("ImagePull", "x:20: not found"), **PULLED),
        ["docker manifest inspect x:20"],
        ["inspect x:2\n", "inspect y:1"],
    ),
    "what is no image reference has no tag in a registry": (
        ended(
            Outcome.FAILED, Reason.IMAGE_PULL, ("ImagePull", "shop/w:2 3: invalid reference format")
        ),
        ["that is no image reference"],
        ["docker manifest inspect"],
    ),
    "nor has a name of which the kubelet gives the reason alone": (
        ended(Outcome.FAILED, Reason.IMAGE_PULL, ("ImagePull", "shop/W:2: InvalidImageName")),
        ["that is no image reference"],
        ["docker manifest inspect"],
    ),
    "what must not be pulled has no pull secret": (
        ended(
            Outcome.FAILED,
            Reason.IMAGE_PULL,
            ("ImagePull", "shop/w:2: Container image is not present with pull policy of Never"),
        ),
        ["imagePullPolicy (Never)"],
        ["pull secret"],
    ),
    "what keeps the version before from serving is looked at": (
        example("rollback-failed"),
        ["see what keeps the version before from serving: kubectl describe"],
        [],
    ),
    "what was not returned to yet is not looked at": (
        ended(Outcome.ROLLBACK_FAILED, Reason.CRASH_LOOP, result=wrote_back("")),
        ["once its cause is gone, go back again"],
        ["kubectl describe"],
    ),
    "a quota that asks for limits is not full": (
        ended(
            Outcome.ROLLED_BACK,
            Reason.POD_CREATE_DENIED,
            ("PodCreateDenied", "failed quota: compute: must specify limits.cpu for: web"),
        ),
        ["what the message names: set it there, or let a LimitRange give defaults"],
        ["resourcequota", "no room"],
    ),
    "what else speaks of a quota is none": (
        ended(
            Outcome.ROLLED_BACK,
            Reason.POD_CREATE_DENIED,
            ("PodCreateDenied", 'admission webhook "quota-policy" denied the request'),
            ("CrashLoop", "web: exceeded quota: of disk"),
        ),
        ["the message says what refuses the pods"],
        ["resourcequota", "no room"],
    ),
    "a policy is no quota": (
        ended(Outcome.ROLLED_BACK, Reason.POD_CREATE_DENIED),
        [],
        ["resourcequota"],
    ),
    "what was made again is looked at": (
        ended(
            Outcome.SUPERSEDED, Reason.DELETED, result={"objects": [MADE_AGAIN]}, running="other"
        ),
        ["somebody deleted it and made it again", "rollout-gate history web -n shop"],
        [],
    ),
    "all managers of a conflict are named, quoted": (
        ended(Outcome.REFUSED, Reason.CONFLICT, ("Conflict", CONFLICTS)),
        [
            (
                "to take their fields over for good, apply again, with this run's other flags"
                " added: rollout-gate apply -f PATH -n shop --take-over kubectl-edit"
                " --take-over 'a; rm -rf /'"
            ),
            "apply -f PATH -n shop --force-conflicts\n",
        ],
        [],
    ),
    "a conflict without a manager is a change meanwhile": (
        ended(Outcome.REFUSED, Reason.CONFLICT),
        ["somebody else changed it meanwhile: look", "rollout-gate status web -n shop"],
        ["--take-over"],
    ),
    "a last word that the cause has is not denied": (
        crashed(has_last_words=True),
        ["container web said as it ended (quoted in the cause)"],
        [],
    ),
    "a last word that the cause has not is not claimed": (
        crashed(has_last_words=False),
        ["why container web ended: it left no log or last message that could be read"],
        [],
    ),
    "a hint knows more than the reason": (
        minimal(Outcome.REFUSED, 3, Reason.CONFLICT, "said", RUN, hint="--replicas keep leaves 5"),
        ["--replicas keep leaves 5"],
        ["somebody"],
    ),
    "a Role is no advice of one line": (
        minimal(Outcome.REFUSED, 3, Reason.FORBIDDEN, "said", RUN, hint="this:\nkind: Role"),
        ["preflight --rbac"],
        ["kind: Role"],
    ),
}


@pytest.mark.contract("B741", "B770", "B777", "B899", "B1251", "B1641", "B1652")
@pytest.mark.parametrize("name", ADVICE)
def test_what_was_found_is_advised_on(name: str) -> None:
    """What runs is dealt with before the cause, and the cause says more than the reason."""
    result, there, not_there = ADVICE[name]
    said = f"{words(result)}\n"
    assert [text for text in there if text not in said] == []
    assert [text for text in not_there if text in said] == []


@pytest.mark.contract("B777")
@pytest.mark.parametrize(
    ("hint", "step"),
    [
        (
            "otherwise: kubectl create namespace shop",
            Step("otherwise:", "kubectl create namespace shop"),
        ),
        (AND_THEN, Step(AND_THEN)),
        ("look: kubectl doesn't", Step("look: kubectl doesn't")),
    ],
)
def test_the_hint_of_an_error_may_end_in_a_command(hint: str, step: Step) -> None:
    """It is what can be copied, unless more words follow."""
    result = minimal(Outcome.REFUSED, 3, Reason.CONFLICT, "said", RUN, hint=hint)
    assert next_steps(result) == (step,)


@pytest.mark.contract("B1909")
@pytest.mark.parametrize("has_checks", [True, False])
def test_what_undecided_checks_ask_of_a_recovery_is_said(*, has_checks: bool) -> None:
    """After a signal to a run that had some; beside a `verify` a warning says the way."""
    result = result_of(workload_result(Outcome.INTERRUPTED, Reason.INTERRUPTED))
    if has_checks:
        result["checks"] = [{**COMPARED, "verdict": "inconclusive"}]
    said = "back with --on-inconclusive rollback, too"
    assert (said in next_steps(result)[-1].text) is has_checks
    left = result_of(workload_result(Outcome.FAILED, Reason.CRASH_LOOP))
    left |= {"command": "verify", "recoverable": True}
    assert "(a warning says which way it goes)" in next_steps(left)[0].text


@pytest.mark.contract("B1950", "B1951")
@pytest.mark.parametrize("outcome", [Outcome.INTERRUPTED, Outcome.LOST_CONTACT])
def test_which_way_a_recovery_goes_is_said_beside_it(outcome: Outcome) -> None:
    """A first version goes nowhere; what was going back goes on so."""
    web: Any = workload_result(outcome, Reason.INTERRUPTED)
    result = result_of(web) | {"recoverable": True}
    assert "(back if incomplete, unless failures are kept):" in next_steps(result)[-1].text
    web["baseline"] = None
    assert "(nothing served before to go back to: it is followed" in next_steps(result)[-1].text
    result["rollback"] = wrote_back("")["rollback"]
    assert next_steps(result)[-1].text.endswith("finish what this run left (back):")


@pytest.mark.contract("B2010")
@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.PROGRESS_DEADLINE_EXCEEDED])
def test_what_a_timeout_ended_may_be_merely_slow(reason: Reason) -> None:
    """Its probe has not passed yet; where nothing moved, a longer timeout would not help."""
    web = workload_result(Outcome.FAILED, reason) | {"causes": [cause_of(Reason.NOT_READY)]}
    result = result_of(web) | {"command": "recover"}
    said = "if it is merely slow, raise --timeout; the containers run, but their readiness"
    assert (said in words(result)) is (reason == Reason.TIMEOUT)


@pytest.mark.contract("B2019")
@pytest.mark.parametrize(
    ("on_failure", "way"),
    [
        ("rollback", "back if incomplete"),
        ("pause", "if all was written, followed until it is complete or fails"),
        ("keep", "if all was written, followed until it is complete or fails"),
    ],
)
def test_the_way_of_a_recovery_is_that_of_the_runs_own_on_failure(
    on_failure: Any, way: str
) -> None:
    """Nobody has to remember how it was called."""
    result = result_of(workload_result(Outcome.INTERRUPTED, Reason.INTERRUPTED))
    result["on_failure"] = on_failure
    assert f"({way}):" in next_steps(result)[-1].text


@pytest.mark.contract("B911", "B1841")
def test_a_way_back_of_which_nothing_was_written_is_to_be_finished_and_not_watched() -> None:
    """A signal came while the server did not answer: what runs is not what was meant to."""
    web = workload_result(Outcome.INTERRUPTED, Reason.INTERRUPTED)
    result = result_of(web)
    watched = [step.command for step in next_steps(result)]
    assert [command.split()[1] for command in watched] == ["verify", "recover"]
    result["rollback"] = wrote_back("")["rollback"]
    [step] = next_steps(result)
    assert step.text.startswith("finish what this run left")
    assert step.command.startswith("rollout-gate recover")
    assert "rollback  not written within " in verdict_text(result, ONE_LINE)

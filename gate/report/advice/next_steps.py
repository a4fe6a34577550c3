"""What to do next: for each reason the advice and, if there is one, the command to copy.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gate.core.attempt.doubt import ANSWERED_WITH
from gate.core.model.outcome import WELL, Outcome, Reason
from gate.core.model.remedy import Remedy
from gate.report.advice.attempt import (
    WITHOUT_A_WORKLOAD,
    advise_on_perhaps_gone,
    after_interruption,
)
from gate.report.advice.checks import (
    ask_again,
)
from gate.report.advice.commands import (
    cluster_of,
    place_of,
    recovery_step,
    step_about,
)
from gate.report.advice.deletions import (
    advise_on_deleted_object,
    is_namespace_going,
    say_namespace_goes,
)
from gate.report.advice.finishing import describe_finishing
from gate.report.advice.fixed_steps import RESUME, RESUME_AT_LAST
from gate.report.advice.interruptions import after_interrupt
from gate.report.advice.kinds import advise_on_left_runs, kind_advice
from gate.report.advice.objects import object_advice
from gate.report.advice.options import has_option
from gate.report.advice.reasons import advise_on_reason, telling_reason
from gate.report.advice.step import Step, parse_hint
from gate.report.advice.takeover import claims_of
from gate.report.advice.undo import (
    PAST_THE_PROMOTION,
    text_of_return,
    undo_steps,
    was_never_left,
)
from gate.report.advice.ways_back import (
    after_refused_writes,
    describe_next_return,
    hindrances,
    is_to_go_back_again,
    look_at_version_before,
    return_beyond,
)
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fate import fate_of, fate_words, group_workloads
from gate.report.words.fault import (
    OF_CHECKS,
    find_fault,
    has_only_failed_checks,
    is_failed_promotion,
)
from gate.report.words.half_applied import is_innocent, is_left_unserved, is_new
from gate.report.words.object_names import workload_name
from gate.report.words.unfinished import describe_recovery
from gate.report.words.worst import worst_workload

_MOST_RESUMED = 3
_LEFT_UNFINISHED = (
    "an attempt left this unfinished (a warning says which way it goes); to finish it:"
)


def next_steps(result: Result) -> tuple[Step, ...]:
    """Return what a person should do now, the cluster's state first; rarely over four steps."""
    if result["exit_code"] is None:
        return ()  # a recording without an end does not say what runs now
    worst = worst_workload(result)
    if need := result["unready_need"]:
        why = f"look at the conditions and the controller of {need}: the next write needs it"
        steps = [Step(f"{why} to be ready; then apply again")]
    elif worst is None or has_only_failed_checks(result, worst):
        steps = [*_of_attempt(result)]
    elif is_namespace_going(result, worst):
        steps = [say_namespace_goes(worst)]
    else:
        steps = [*_for_state(result, worst), *_for_reason(result, worst)]
        if (worst["outcome"], worst["reason"]) == (Outcome.FAILED, Reason.PAUSED):
            steps = [*_for_paused(result, worst)]
        steps += advise_on_left_runs(result)
        steps += _for_nothing_to_return_to(result, worst)
        steps += _for_innocent(result, worst)
        if not steps and result["reason"] == Reason.APPLY_REJECTED:
            steps = [*_of_attempt(result)]
    if not steps:
        steps += after_interruption(result)
    steps = [*_for_left_unserved(result), *advise_on_perhaps_gone(result), *steps]
    return (*steps, *(Step(text, command) for text, command in object_advice(result)))


def _of_attempt(result: Result) -> Iterator[Step]:
    if result["outcome"] == Outcome.LOST_CONTACT:
        yield Step(f"{_once_it_answers(result)}, apply again: it goes on from what runs")
        return
    if (result["command"], result["outcome"]) == ("pause", Outcome.APPLIED):
        for one in result["objects"]:
            yield step_about(
                result, one, "to end the pause, and follow what goes on then:", "resume"
            )
        return
    if result["hint"] and "\n" not in result["hint"]:
        yield parse_hint(result["hint"])
        return
    if result["reason"] == Reason.CONFLICT and (claims := [*claims_of(result, result["message"])]):
        yield from claims
        return
    if named := [*advise_on_deleted_object(result)]:
        yield from named
        return
    worst = worst_workload(result)
    if result["reason"] in OF_CHECKS:
        text = "ask the checks by themselves, step by step"
        yield ask_again(result, text, "", cluster_of(result).flags())
        return
    flags = shlex.join(cluster_of(result).flags(worst["namespace"] if worst is not None else ""))
    for step in WITHOUT_A_WORKLOAD.get(result["reason"], ()):
        yield replace(step, command=f"{step.command} {flags}".rstrip()) if step.command else step


def _for_state(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Yield the steps that the state of the cluster calls for, whatever led to it."""
    match result["outcome"]:
        case Outcome.ROLLBACK_FAILED:
            yield step_about(result, worst, "look at it now:", "status")
            if result["recoverable"]:
                yield recovery_step(result, f"once its cause is gone, {describe_recovery(result)}:")
            elif is_to_go_back_again(result, worst):
                yield from undo_steps(result, worst, describe_next_return(result, worst))
        case Outcome.LOST_CONTACT:
            yield step_about(result, worst, f"{_once_it_answers(result)}, look:", "status")
            if result["recoverable"]:
                yield recovery_step(result, f"then {describe_finishing(result)}")
            else:
                yield Step("then apply again: it goes on from what runs")
        case Outcome.INTERRUPTED:
            yield from after_interrupt(result, worst)
        case Outcome.FAILED | Outcome.OBSERVED if worst["outcome"] == Outcome.FAILED:
            yield from _for_bad_version(result, worst)
        case _ if result["command"] == "verify" and result["recoverable"]:
            yield recovery_step(result, _LEFT_UNFINISHED)
        case _:
            return


def _for_left_unserved(result: Result) -> Iterator[Step]:
    """Lead to a judgement of what a way back left as it was, and that was not good then."""
    if result["outcome"] != Outcome.ROLLED_BACK:
        return
    for one in filter(is_left_unserved, result["workloads"]):
        name = workload_name(result, one)
        text = f"{name} had another version on it already when this run began: judge it:"
        yield step_about(result, one, text, "verify")


def _for_innocent(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Say how workloads were left that only share another one's failure: they need no action."""
    if result["outcome"] != Outcome.FAILED or is_innocent(worst):
        return
    left = [d for d in result["workloads"] if d["outcome"] == Outcome.FAILED and is_innocent(d)]
    for fate, alike in group_workloads(left, partial(fate_of, result)):
        names = ", ".join(workload_name(result, one) for one in alike)
        them = "it" if len(alike) == 1 else "them"
        left_so = fate_words(fate, len(alike))
        yield Step(f"{names} {left_so}: nothing was found against {them}")


def _once_it_answers(result: Result) -> str:
    match result["reason"]:
        case Reason.FORBIDDEN:
            return "once the rights are back"
        case Reason.UNAUTHORIZED:
            return "with credentials that are accepted"
        case _ if ANSWERED_WITH in result["message"]:
            return "once what the server names is mended"
        case _:
            return "once the API server answers"


def _for_bad_version(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    if result["recoverable"]:
        yield recovery_step(result, _LEFT_UNFINISHED)
    elif worst["baseline"] is not None and not was_never_left(result, worst):
        yield from undo_steps(result, worst, text_of_return(result, worst))


def _for_nothing_to_return_to(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Point to `history` if neither a recovery nor an undo is advised, since it mends nothing."""
    failed = (Outcome.FAILED, Outcome.OBSERVED)
    if result["recoverable"] or result["outcome"] not in failed:
        return
    if worst["outcome"] != Outcome.FAILED or registry.of_entry(worst).runs_once:
        return
    if worst["new"]["restored"]:
        return
    if worst["baseline"] is None:
        if not is_new(result, worst) and worst["running"] not in ("none", "other"):
            text = "no verified version to return to is known; what there is:"
            yield step_about(result, worst, text, "history")
    elif was_never_left(result, worst):
        text = "this run changed nothing that could be taken back; what there is to return to:"
        yield step_about(result, worst, text, "history")


def _for_reason(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    reason = telling_reason(worst)
    if worst["outcome"] == Outcome.ROLLBACK_FAILED and reason != Reason.GITOPS_REVERTED:
        held = [one for one in _list_stuck(result, worst) if _is_held(one)]
        if not _is_held(worst):
            yield from _for_hindered_return(result, worst)
        for one in held[:_MOST_RESUMED]:
            yield step_about(result, one, RESUME, "resume")
        return
    if worst["outcome"] in WELL:
        if reason == Reason.VACUOUS and reason not in registry.of_entry(worst).steps:
            yield _for_no_pods(result, worst)
        for one in result["workloads"]:
            yield from kind_advice(one["reason"], result, one)
    elif reason == Reason.BLOCKED_BY_POD and worst["outcome"] == Outcome.ROLLED_BACK:
        yield _leave_pod(worst)
    elif not result["takes_back"] or reason == worst["reason"]:
        yield from advise_on_reason(reason, result, worst)


def _for_no_pods(result: Result, worst: WorkloadResult) -> Step:
    """Say how to have pods if none was not meant: an undo or a restart keeps the number of 0."""
    kind = registry.of_entry(worst)
    if has_option(result, "--require-pods"):
        return Step(f"if 0 was not meant: --require-pods refuses a {kind.name} without pods")
    words = ["kubectl", "scale", kind.call(worst["name"]), "--replicas=1"]
    command = shlex.join([*words, *place_of(result, worst)])
    return Step("if it should run, with as many replicas as it needs:", command)


def _for_paused(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Advise on a pause: whoever paused it may want it to go on, if nothing speaks against it."""
    back, on = _for_state(result, worst), _for_reason(result, worst)
    fault = find_fault(worst)
    is_bad = fault is not None or worst["remedy"] == Remedy.UNDO
    if not is_bad or registry.of_entry(worst).runs_once:
        yield from on
        yield from back
        return
    yield from back
    yield from advise_on_reason(fault, result, worst) if fault is not None else ()
    yield step_about(result, worst, RESUME_AT_LAST, "resume")


def _leave_pod(worst: WorkloadResult) -> Step:
    """Say that nothing is wanted any more of a pod that was in the way of what was taken back."""
    found = (one["subject"] for one in worst["causes"] if one["reason"] == Reason.BLOCKED_BY_POD)
    pod = next(found, "") or "the pod in its way"
    text = f"leave {pod}: it runs what serves again; once nothing keeps it from being replaced"
    return Step(f"{text}, run the same again")


def _list_stuck(result: Result, worst: WorkloadResult) -> list[WorkloadResult]:
    """Return the workloads that did not go back, `worst` first if it is among them."""
    stuck = [one for one in result["workloads"] if one["outcome"] == Outcome.ROLLBACK_FAILED]
    return sorted(stuck, key=lambda one: one is not worst)


def _is_held(workload: WorkloadResult) -> bool:
    """Tell whether a pause holds a workload: what was written goes on once the pause ends."""
    return any(cause["reason"] == Reason.PAUSED for cause in workload["causes"])


def _for_hindered_return(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Advise on what keeps the version before from serving again, as far as causes name it."""
    if is_failed_promotion(worst):
        yield step_about(result, worst, PAST_THE_PROMOTION, "undo")
    elif found := hindrances(worst):
        yield from advise_on_reason(found[-1], result, worst)
    else:
        yield from after_refused_writes(result, worst)
        yield from look_at_version_before(result, worst)
        yield from return_beyond(result, worst)

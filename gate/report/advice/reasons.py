"""What to do about one reason: what its kind of workload says, else what this run shows of it.

Reads only the result document, so that a report rendered again later says the same.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator

from gate.core.model.outcome import Outcome, Reason
from gate.core.rollout.controller_faults import Denier
from gate.report.advice.attempt import (
    CHANGED_MEANWHILE,
    WITHOUT_A_WORKLOAD,
)
from gate.report.advice.checks import (
    advise_on_counts,
    ask_again,
    decides_by_counts,
    lacks_old_version,
)
from gate.report.advice.commands import (
    place_of,
    step_about,
)
from gate.report.advice.crashes import crash_advice
from gate.report.advice.deletions import (
    advise_if_deleted,
    advise_on_deleted_object,
)
from gate.report.advice.fixed_steps import fixed_steps
from gate.report.advice.images import advise_on_image
from gate.report.advice.kinds import kind_advice
from gate.report.advice.step import Step
from gate.report.advice.supersessions import (
    advise_if_superseded,
    lead_back_from_zero,
    scale_from_zero,
)
from gate.report.advice.takeover import claims_of
from gate.report.advice.undo import (
    undo_steps,
)
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.fault import (
    find_fault,
    has_one_version,
)
from gate.report.words.version_names import baseline_words

_SAYS_LITTLE = (Reason.PROGRESS_DEADLINE_EXCEEDED, Reason.TIMEOUT, Reason.CRASH_LOOP)


def telling_reason(workload: WorkloadResult) -> str:
    """Return the deciding reason, or the first cause's if the deciding rule says little itself."""
    causes = workload["causes"]
    if workload["reason"] in _SAYS_LITTLE and causes:
        return causes[0]["reason"]
    is_back = workload["outcome"] == Outcome.ROLLED_BACK
    if is_back and workload["reason"] == Reason.INTERRUPTED and causes:
        return causes[0]["reason"]
    return workload["reason"]


def advise_on_reason(reason: str, result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Yield the advice for one reason; what the workload's kind says of it comes first."""
    own = [*kind_advice(reason, result, worst)]
    if own:
        yield from own
    elif reason in _DERIVED:
        yield from _DERIVED[reason](result, worst)
    else:
        yield from fixed_steps(reason, result, worst)


def _advise_on_crash(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    yield from crash_advice(worst, place_of(result, worst))


def _advise_if_denied(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    denied = (one for one in worst["causes"] if one["reason"] == Reason.POD_CREATE_DENIED)
    deniers = {Denier.of(one["message"]) for one in denied}
    if Denier.FULL_QUOTA in deniers:
        command = shlex.join(["kubectl", "describe", "resourcequota", *place_of(result, worst)])
        is_surging = registry.of_entry(worst).has_surge and _has_old_pods(worst)
        beside = " beside the old ones (maxSurge)" if is_surging else ""
        text = f"the quota has no room for these pods{beside}: raise it, or ask for less:"
        yield Step(text, command)
    elif Denier.DEMANDING_QUOTA in deniers:
        yield Step(
            "the quota lets no pod in whose containers leave out what the message names:"
            " set it there, or let a LimitRange give defaults"
        )
    else:
        yield Step("the message says what refuses the pods, and why")


def _has_old_pods(workload: WorkloadResult) -> bool:
    """Tell whether another version had pods when the new one was judged."""
    judged = workload["trees"][0]["revisions"] if workload["trees"] else []
    return any(one["role"] == "old" and one["wanted"] for one in judged)


def _advise_on_conflict(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    claims = [*claims_of(result, " ".join(cause["message"] for cause in worst["causes"]))]
    yield from claims or [step_about(result, worst, f"{CHANGED_MEANWHILE}:", "status")]


def _advise_if_rejected(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Say how to take over the fields of other owners, or how to have again what was deleted."""
    claims = [*claims_of(result, " ".join(cause["message"] for cause in worst["causes"]))]
    steps = claims or [*advise_on_deleted_object(result)]
    yield from steps or fixed_steps(Reason.APPLY_REJECTED, result, worst)


def _advise_if_scaled_to_zero(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Lead to what served, then to what mends a fault that was seen, and to its pods at last."""
    yield from lead_back_from_zero(result)
    fault = find_fault(worst) if worst["changed"] else None
    yield from advise_on_reason(fault, result, worst) if fault is not None else ()
    yield from scale_from_zero(result)


def _advise_on_checks(result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Point to the numbers; a version that went back can no longer be asked about."""
    if worst["outcome"] == Outcome.REFUSED:
        return
    gone = worst["running"] in ("baseline", "none")
    name, place = registry.argument_of(worst), place_of(result, worst)
    if decides_by_counts(result) or lacks_old_version(result):
        yield from advise_on_counts(result, worst, name, place)
    else:
        text = "ask the checks again, step by step"
        if gone:
            text = "fix what failed; to see whether the check is at fault, ask it of what runs now"
        yield ask_again(result, text, name, place)
    if worst["outcome"] == Outcome.INCONCLUSIVE:
        marked = "the version that was verified before (history marks it)"
        before = baseline_words(worst, "what served before")
        back = marked if has_one_version(worst) else before
        yield from undo_steps(result, worst, f"if it is bad after all, return to {back}:")


def _advise_if_unreachable(_: Result, worst: WorkloadResult) -> Iterator[Step]:
    if worst["outcome"] == Outcome.REFUSED:
        yield from WITHOUT_A_WORKLOAD[Reason.UNREACHABLE]
    elif worst["reason"] != Reason.UNREACHABLE:
        blame = "too little of it was seen to blame it"
        yield Step(f"{blame}: see that the API server answers, then apply again")


_DERIVED: dict[str, Callable[[Result, WorkloadResult], Iterator[Step]]] = {
    Reason.CRASH_LOOP: _advise_on_crash,
    Reason.IMAGE_PULL: advise_on_image,
    Reason.POD_CREATE_DENIED: _advise_if_denied,
    Reason.CONFLICT: _advise_on_conflict,
    Reason.APPLY_REJECTED: _advise_if_rejected,
    Reason.DELETED: advise_if_deleted,
    Reason.UNREACHABLE: _advise_if_unreachable,
    Reason.SUPERSEDED: advise_if_superseded,
    Reason.SCALED_TO_ZERO: _advise_if_scaled_to_zero,
    Reason.CHECK_FAILED: _advise_on_checks,
    Reason.CHECK_INCONCLUSIVE: _advise_on_checks,
    Reason.CHECK_ERROR: _advise_on_checks,
}

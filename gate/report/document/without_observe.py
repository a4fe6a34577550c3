"""What `--observe` kept an attempt from doing, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gate.core.attempt.state import Attempt
from gate.core.endings.rollback_ending import has_taken_back_nothing
from gate.core.kinds.registry import is_workload
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.model.outcome import WELL, Outcome
from gate.core.plan.plan import Plan, plan_to_take_back
from gate.core.plan.rollback_plan import writes_back
from gate.core.rollout.policy import OnFailure, Response
from gate.core.states.needs import has_broken_off

_MOST_NAMES: Final = 3
_BY_VERB: Final = {
    Verb.APPLY: ("rolled back", ""),
    Verb.DELETE: ("deleted", ""),
    Verb.MERGE: ("scaled", " to 0"),
}
"""What each write of a way back does; a merge scales a first version to zero."""


def would_have(attempt: Attempt, ref: Ref | None) -> str:
    """Say how the attempt would have ended without `--observe`, and what it would have done.

    A good end is given with its reason. `ref` is the workload that ended as the whole did, None
    if none did.
    """
    match _outcome(attempt, ref):
        case Outcome.VERIFIED | Outcome.APPLIED as outcome:
            return f"would have been {outcome}: {_why(attempt)}"
        case Outcome.INCONCLUSIVE:
            return "would have been kept as inconclusive"
        case Outcome.FAILED:
            return _answer(attempt, ref)
        case Outcome.SUPERSEDED if has_broken_off(attempt, _find_failed(attempt, ref)):
            return _answer(attempt, ref)
        case outcome:
            return f"would have ended as {outcome}"


def because(attempt: Attempt, ref: Ref | None) -> str:
    """Say what led to that, "" for a good end."""
    is_good = _outcome(attempt, ref) in WELL
    return "" if is_good else f" because {_why(attempt)}"


def _outcome(attempt: Attempt, ref: Ref | None) -> Outcome:
    judged = attempt.result.judged
    whole = judged.outcome if judged is not None else Outcome.INTERNAL_ERROR
    return attempt.result.endings[ref].outcome if ref is not None else whole


def _why(attempt: Attempt) -> str:
    judged = attempt.result.judged
    return f"{judged.reason}: {judged.message}" if judged is not None else "it has no verdict"


def _answer(attempt: Attempt, ref: Ref | None) -> str:
    """Say how a failure would have been answered; the recording of a run may hold no writes."""
    failed = _find_failed(attempt, ref)
    is_part = has_broken_off(attempt, failed)
    plan = plan_to_take_back(attempt.plan) if is_part else attempt.plan
    name = plan.name_of
    about = f"{name(ref)}, " if ref is not None else ""
    if plan.policy.response.on_failure is not OnFailure.ROLLBACK:
        return f"would have failed ({about}{_name_flag(plan.policy.response, is_part=is_part)})"
    baseline = plan.target(ref).baseline if ref is not None else None
    back = _writes_back(attempt, plan, failed)
    if (
        ref
        and isinstance(baseline, Known)
        and (ref in back[Verb.APPLY] or not attempt.ledger.written)
    ):
        beside = [one for one in back[Verb.APPLY] if one != ref]
        beside.sort(key=lambda one: not is_workload(one))
        also = f", and {_names([name(one) for one in beside])}" if beside else ""
        return f"would have rolled back {name(ref)} to {baseline.value.revision_words}{also}"
    for verb, (did, end) in _BY_VERB.items():
        if back[verb]:
            return f"would have {did} {_names([name(ref) for ref in back[verb]])}{end}"
    if is_part and not has_taken_back_nothing(attempt):
        return f"would have been rolled back ({about}nothing had to go back)"
    is_version = ref is not None and not is_part
    nothing = "nothing served before" if is_version else "there was nothing to return to"
    return f"would have failed ({about}{nothing})"


def _name_flag(response: Response, *, is_part: bool) -> str:
    """Return the option that keeps what failed: an age limit does so in the name of `keep`."""
    is_limited = not response.takes_back_parts
    if is_limited and (is_part or response.on_failure is OnFailure.KEEP):
        return "--rollback-max-age-days"
    return f"--on-failure {response.on_failure}"


def _find_failed(attempt: Attempt, ref: Ref | None) -> frozenset[Ref]:
    endings = attempt.result.endings.items()
    failed = frozenset(one for one, ending in endings if ending.outcome is Outcome.FAILED)
    return failed if ref is None else failed | {ref}


def _writes_back(attempt: Attempt, plan: Plan, failed: frozenset[Ref]) -> dict[Verb, list[Ref]]:
    """Return the objects that a failure would have written, by verb, in the order of writes."""
    plan = replace(plan, policy=replace(plan.policy, observe=False))
    departed = frozenset(attempt.interference.departures)
    back = writes_back(plan, attempt.ledger.written, departed, failed)
    return {verb: [write.ref for write in back if write.verb is verb] for verb in Verb}


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"

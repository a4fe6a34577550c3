"""The verdicts on the workloads of an attempt, from the judge and the health checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from gate.core.attempt import check_conclusions
from gate.core.attempt.check_conclusions import combine_verdicts
from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.core.writes.lost_needs import find_awaited, find_dropped, find_perhaps_gone

Verdicts = Mapping[Ref, Verdict | None]
"""The verdict on each workload that is followed and still ours; None while there is none."""


def judge(attempt: Attempt) -> tuple[Attempt, Verdicts]:
    """Return the attempt and the current verdicts on all workloads that nobody has taken over.

    A workload is judged again only if something of it was observed, a clock has run out, or its
    verdict names a time; the attempt caches the rulings.
    """
    known, rollouts = attempt.workloads.rulings, attempt.workloads.rollouts
    rulings = known.at(rollouts, attempt.now)
    if rulings is not known:
        attempt = replace(attempt, workloads=replace(attempt.workloads, rulings=rulings))
    departures, against = attempt.interference.departures, check_conclusions.find_against(attempt)
    verdicts: Verdicts = rulings.verdicts
    if against or departures:
        verdicts = {
            ref: combine_verdicts(one, against[ref]) if ref in against else one
            for ref, one in verdicts.items()
            if ref not in departures
        }
    return attempt, _without_patience(attempt, verdicts) if attempt.plan.resumed else verdicts


def _without_patience(attempt: Attempt, verdicts: Verdicts) -> Verdicts:
    """Return the verdicts of a recovery: it does not wait where only pauses prevent completion."""
    held = {ref: one for ref, one in verdicts.items() if one and one.kind is VerdictKind.HELD}
    done = _find_of_kind(verdicts, VerdictKind.COMPLETE)
    if not all(ref in done or attempt.workloads.rollouts[ref].is_held() for ref in verdicts):
        return verdicts
    ended = {ref: replace(one, kind=VerdictKind.FAILED) for ref, one in held.items()}
    return {**verdicts, **ended}


T = TypeVar("T")


def keep_ours(attempt: Attempt, values: Mapping[Ref, T]) -> Mapping[Ref, T]:
    """Return the values, as verdicts, without the workloads that somebody else has taken over."""
    departures = attempt.interference.departures
    return {ref: value for ref, value in values.items() if ref not in departures}


def find_failed(verdicts: Verdicts) -> frozenset[Ref]:
    """Return the workloads whose verdict is failed."""
    return _find_of_kind(verdicts, VerdictKind.FAILED)


def find_culprits(verdicts: Verdicts) -> frozenset[Ref]:
    """Return the failed workloads that justify a rollback; a pause is left to whoever paused."""
    return frozenset(
        ref for ref in find_failed(verdicts) if not _has_reason(verdicts[ref], Reason.PAUSED)
    )


def has_failed(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether a workload has failed, or a check of a plan without workloads."""
    return bool(find_failed(verdicts)) or check_conclusions.find_against_all(attempt) is not None


def find_superseded(verdicts: Verdicts) -> frozenset[Ref]:
    """Return the workloads that somebody else has taken over."""
    return _find_of_kind(verdicts, VerdictKind.SUPERSEDED)


def find_emptied(verdicts: Verdicts) -> frozenset[Ref]:
    """Return the workloads that are ours and that want no pod any more: these may come back."""
    return _find_of_kind(verdicts, VerdictKind.EMPTIED)


def are_all_complete(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether everything followed is complete; on the way out that means every target.

    Nothing is awaited of what wants no pod any more.
    """
    if not are_others_complete(verdicts):
        return False
    if attempt.course.leg is Leg.BACK:
        return True
    gone = find_awaited(attempt) | find_perhaps_gone(attempt)
    left_out = {*attempt.interference.departures, *find_dropped(attempt), *gone}
    return {target.ref for target in attempt.plan.targets} - left_out <= set(verdicts)


def are_others_complete(verdicts: Verdicts) -> bool:
    """Tell whether everything followed is complete that wants pods."""
    done = _find_of_kind(verdicts, VerdictKind.COMPLETE) | find_emptied(verdicts)
    return len(done) == len(verdicts)


def has_blind_window(attempt: Attempt) -> bool:
    """Tell whether a bake window would show too little now: the controller manager is silent.

    Once the budget has no time for a whole window, none is held up any more.
    """
    if not attempt.bake_seconds or attempt.now >= last_window_at(attempt):
        return False
    kept = keep_ours(attempt, attempt.workloads.rollouts)
    return any(rollout.blindness.is_silent(attempt.now) for rollout in kept.values())


def last_window_at(attempt: Attempt) -> float:
    """Return when a bake window begins at the latest to end within the budget."""
    return attempt.leg_ends_at - attempt.bake_seconds


def _find_of_kind(verdicts: Verdicts, kind: VerdictKind) -> frozenset[Ref]:
    return frozenset(
        ref for ref, verdict in verdicts.items() if verdict is not None and verdict.kind is kind
    )


def _has_reason(verdict: Verdict | None, reason: Reason) -> bool:
    return verdict is not None and verdict.reason is reason

"""CONFIRMING: a quorum read confirms the verdict, or sends the attempt back.

That is to FOLLOWING, or to WRITING if the failure was found before all was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt import check_conclusions
from gate.core.attempt.limits import BLIND_READ_SECONDS, EVIDENCE_SECONDS
from gate.core.attempt.parts import Purpose
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Collect, Effect, Read
from gate.core.protocol.events import ReadBack
from gate.core.rollout.causes import Trouble
from gate.core.states.behaviour import StateBehaviour
from gate.core.states.lines import Line, describe_failures
from gate.core.states.needs import breaks_off, find_failed_needs
from gate.core.states.read_answers import Facts, is_stale
from gate.core.states.reads import read_all
from gate.core.states.rollback_start import (
    has_writes_back,
    is_failure_to_take_back,
    may_take_back,
)
from gate.core.states.verdicts import (
    Verdicts,
    are_all_complete,
    find_culprits,
    find_failed,
    has_failed,
)
from gate.core.writes.mended_by_others import list_given_up, with_mended

TELLING_CAUSES = (Reason.OUT_OF_MEMORY, Reason.CRASH_LOOP, Reason.READINESS_LOST)
"""Causes that are best explained by the log of the container's previous run."""


class Confirming(StateBehaviour):
    """Reads everything again before a verdict counts; the watches alone decide nothing."""

    def enter(self, attempt: Attempt, _trigger: Trigger, verdicts: Verdicts) -> Step:
        """Read everything with quorum; if the verdict is bad, collect evidence at the same time.

        Once all is back but what was given up, that is read as well: others may have returned it.
        """
        failed = has_failed(attempt, verdicts)
        attempt = replace(
            attempt,
            course=replace(
                attempt.course,
                purpose=Purpose.FAILURE if failed else Purpose.SUCCESS,
                confirming_since=attempt.now,
            ),
            requests=replace(attempt.requests, unread=False),
        )
        effects: list[Effect] = []
        for ref in verdicts:
            read = Read(attempt.requests.next_id, ref, whole_rollout=True)
            attempt = attempt.with_effect(read)
            effects.append(read)
        if not failed:
            given_up = list_given_up(attempt)
            attempt, reads = read_all(attempt, given_up, whole_rollout=False)
            effects += reads
        if attempt.result.evidence or attempt.awaits(Collect):
            return attempt, tuple(effects)
        for ref in sorted(find_failed(verdicts)):
            collect = _collect(attempt, ref)
            if collect is not None:
                attempt = attempt.with_effect(collect)
                effects.append(collect)
        return attempt, tuple(effects)

    def next_trigger(self, attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
        """Confirm or refute the verdict by what was read, or turn back: only reads may decide."""
        late = attempt.now >= attempt.course.confirming_since + EVIDENCE_SECONDS
        if attempt.awaits_read(verdicts) or (attempt.awaits(Collect) and not late):
            return None
        if attempt.awaits_read(list_given_up(attempt)) and not late:
            return None
        if _awaits_stop(attempt, verdicts):
            return None
        if attempt.writes.queue:
            return _answer_unwritten(attempt, verdicts)
        if attempt.requests.unread:
            return Trigger.REFUTED
        if attempt.course.purpose is Purpose.SUCCESS:
            if not are_all_complete(attempt, verdicts) or _was_blind(attempt):
                return Trigger.REFUTED
            return Trigger.CONFIRMED
        if not has_failed(attempt, verdicts):
            return Trigger.REFUTED
        culprits = find_culprits(verdicts)
        is_found = culprits or check_conclusions.find_against_all(attempt) is not None
        if is_found and attempt.course.leg is Leg.FORWARD and has_writes_back(attempt, culprits):
            return Trigger.RETREAT
        return Trigger.CONFIRMED

    def fold_read(self, attempt: Attempt, effect: Read, answer: ReadBack) -> tuple[Attempt, Facts]:
        """Take in what was given up if it is back; that it cannot be read decides nothing."""
        if effect.ref not in list_given_up(attempt):
            return super().fold_read(attempt, effect, answer)
        live = answer.fact.value if isinstance(answer.fact, Known) else None
        if live is None or is_stale(attempt, live):
            return attempt, ()
        return with_mended(attempt, live), ()

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield when evidence, and what was given up, is no longer waited for."""
        yield attempt.course.confirming_since + EVIDENCE_SECONDS
        yield attempt.leg_ends_at

    def describe_exit(
        self, attempt: Attempt, trigger: Trigger, verdicts: Verdicts
    ) -> Iterator[Line]:
        """Say that the reads did not confirm the verdict, or what they confirmed against it."""
        is_read = trigger is Trigger.REFUTED and not attempt.requests.unread
        if is_read and are_all_complete(attempt, verdicts) and _was_blind(attempt):
            seconds = attempt.now - attempt.course.confirming_since
            yield "refuted", f"the server took {seconds:.0f} s to answer; watching once more"
        elif is_read:
            yield "refuted", "a second read did not confirm the verdict; following on"
        if trigger is Trigger.UNWRITTEN and not attempt.requests.unread:
            yield "refuted", "a second read did not confirm the failure; writing what is left"
        if trigger is Trigger.CONFIRMED:
            yield from describe_failures(attempt, verdicts)


def _awaits_stop(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether pods of what has failed for good are still being stopped, within the budget.

    Configuration does not go back beneath them. A signal is not made to wait.
    """
    if attempt.now >= attempt.leg_ends_at or attempt.interference.signal_number is not None:
        return False
    rollouts = attempt.workloads.rollouts
    return any(rollouts[ref].snapshot.is_stopping for ref in find_failed(verdicts))


def _was_blind(attempt: Attempt) -> bool:
    """Tell whether a bake window has to be watched once more: the server had stopped answering.

    Requests that hang fail late. Once the budget has no time for another window, the answer counts.
    """
    seconds = attempt.now - attempt.course.confirming_since
    if attempt.course.leg is Leg.BACK or seconds <= BLIND_READ_SECONDS or not attempt.bake_seconds:
        return False
    return attempt.now + attempt.bake_seconds < attempt.leg_ends_at


def _answer_unwritten(attempt: Attempt, verdicts: Verdicts) -> Trigger:
    """Confirm a failure before all is written; if it is refuted, the writes go on.

    What needs a workload that has failed is never written, whatever the policy does about it.
    """
    if attempt.requests.unread:
        return Trigger.UNWRITTEN
    if is_failure_to_take_back(attempt, verdicts):
        return Trigger.RETREAT
    if breaks_off(attempt, verdicts):
        return Trigger.RETREAT if may_take_back(attempt) else Trigger.CONFIRMED
    if find_failed_needs(attempt, verdicts):
        culprits = find_culprits(verdicts)
        goes_back = bool(culprits) and has_writes_back(attempt, culprits)
        return Trigger.RETREAT if goes_back else Trigger.CONFIRMED
    return Trigger.UNWRITTEN


def _collect(attempt: Attempt, ref: Ref) -> Collect | None:
    """Return what asks for the log that explains a failure, None if no pod does."""
    last = attempt.workloads.rollouts[ref].snapshot.last_words
    if last is not None:
        return Collect(attempt.requests.next_id, ref, last.pod, last.container, previous=False)
    trouble = _most_telling(attempt, ref)
    if trouble is None:
        return None
    previous = trouble.cause in TELLING_CAUSES
    return Collect(attempt.requests.next_id, ref, trouble.pod, trouble.container, previous)


def _most_telling(attempt: Attempt, ref: Ref) -> Trouble | None:
    """Return the trouble whose pod explains most: of the first cause, then the first by name."""
    rollout = attempt.workloads.rollouts[ref]
    rank = {cause.reason: number for number, cause in enumerate(rollout.causes(attempt.now))}
    troubles = (trouble for trouble in rollout.troubles.values() if trouble.cause in rank)
    return min(troubles, key=lambda t: (rank[t.cause], t.pod), default=None)

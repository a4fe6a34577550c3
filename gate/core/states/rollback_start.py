"""RETREAT, the start of a rollback: the reasons are kept and the restoring writes queued."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from gate.core.attempt import check_conclusions
from gate.core.attempt.ending import Ending
from gate.core.attempt.parts import Rejection, Undecided
from gate.core.attempt.state import Attempt
from gate.core.endings.rollback_ending import refusal_cause
from gate.core.endings.unwritten import reason_of_break
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.model.signal_names import signal_name
from gate.core.plan.plan import PlannedWrite, plan_to_take_back
from gate.core.plan.rollback_plan import (
    decided_plan,
    irreversible,
    with_unwritten_members,
    writes_back,
)
from gate.core.plan.workload_body import pause_body
from gate.core.recovery.reasons import failures_found, why_resumed
from gate.core.rollout.causes import order_causes
from gate.core.rollout.early_evidence import early_causes
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.verdict import VerdictKind
from gate.core.states.departures import leave_emptied
from gate.core.states.lines import (
    Line,
    describe_failures,
    describe_refusals,
    describe_rejection,
)
from gate.core.states.needs import breaks_off
from gate.core.states.verdicts import Verdicts, find_culprits
from gate.core.writes.order import answers_lost, without_requests

MOST_NAMES = 3
"""How many of the objects that are not written a line names."""


def has_writes_back(attempt: Attempt, failures: Collection[Ref]) -> bool:
    """Tell whether a rollback because of `failures` would write anything."""
    departed = frozenset(attempt.interference.departures)
    return bool(writes_back(attempt.plan, attempt.ledger.written, departed, frozenset(failures)))


def is_failure_to_take_back(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether what the way out wrote has failed so that it goes back, the rest unwritten.

    A failure that is only paused or left as it is does not count: a part of an apply would stay.
    Nor does one of a workload that this attempt did not change: what is to be written may mend
    it.
    """
    if attempt.plan.policy.response.on_failure is not OnFailure.ROLLBACK:
        return False
    written = attempt.ledger.written
    changed = {ref for ref in find_culprits(verdicts) if ref in written and written[ref].changed}
    return bool(changed) and has_writes_back(attempt, changed)


def may_take_back(attempt: Attempt) -> bool:
    """Tell whether a part of an apply may be taken back: also if nothing of it has to be written.

    What was to be written behind it is as it was, which the way back verifies.
    """
    policy = plan_to_take_back(attempt.plan).policy
    is_forbidden = policy.observe or not attempt.plan.may_retreat
    return policy.response.on_failure is OnFailure.ROLLBACK and not is_forbidden


def start_rollback(attempt: Attempt, verdicts: Verdicts) -> Attempt:
    """Record the reasons, queue the restoring writes, and drop the rollouts of the way out."""
    recorded, attempt = _recorded_failures(attempt), without_requests(attempt)
    if breaks_off(attempt, verdicts):
        attempt = replace(attempt, plan=plan_to_take_back(attempt.plan))
    plan = decided_plan(attempt.plan, attempt.ledger.written)
    written = with_unwritten_members(plan, attempt.ledger.written, attempt.ledger.restored)
    attempt = replace(attempt, plan=plan, ledger=replace(attempt.ledger, written=written))
    concerned = (
        frozenset(recorded) or find_culprits(verdicts) or frozenset(attempt.workloads.rollouts)
    )
    departed = frozenset(attempt.interference.departures)
    queue = writes_back(attempt.plan, attempt.ledger.written, departed, concerned)
    attempt = leave_emptied(attempt, verdicts, {write.ref for write in queue})
    followed = {
        ref: rollout.snapshot.take_back(_find_taken_back(attempt, rollout))
        for ref, rollout in attempt.workloads.rollouts.items()
    }
    return replace(
        attempt,
        result=replace(
            attempt.result,
            failures=recorded or _failures(verdicts),
            why_back=_why_back(attempt),
            rejection=attempt.writes.rejection or attempt.result.rejection,
        ),
        writes=replace(
            attempt.writes,
            rejection=None,
            queue=queue,
            refusals=FrozenMap(
                {**_with_irreversible(attempt, departed), **_missing_members(attempt, queue)}
            ),
            retry=None,
            uncertain=False,
            set_aside=_still_uncertain(attempt, queue),
        ),
        interference=replace(attempt.interference, suspended_seconds=0.0),
        course=replace(attempt.course, forward_ended_at=attempt.leg_ends_at, leg_at=attempt.now),
        workloads=replace(
            attempt.workloads,
            followed_before=attempt.workloads.rollouts,
            snapshots=FrozenMap({**attempt.workloads.snapshots, **followed}),
            rollouts=FrozenMap(),
        ),
        health=replace(attempt.health, concluded=check_conclusions.conclusions(attempt)),
    )


def _still_uncertain(
    attempt: Attempt, queue: tuple[PlannedWrite, ...]
) -> FrozenMap[Ref, Undecided]:
    """Return what is kept of writes whose answers were lost, and that the way back does not redo.

    After a signal there is no time to find out, but the report names them.
    """
    again = {write.ref for write in queue}
    lost = (ref for ref in answers_lost(attempt) if ref not in again)
    return FrozenMap((ref, Undecided(uncertain=True)) for ref in lost)


def _find_taken_back(attempt: Attempt, rollout: Rollout) -> str:
    """Return the key of the version that is taken back: what this attempt rolled out until now.

    Where an attempt that died has restored the version before already, its record says which. What
    no write of ours brought to the pods is theirs who did: "".
    """
    resumed = attempt.plan.resumed
    followed = resumed.record.followed if resumed is not None and resumed.back else ()
    recorded = (one.taken_back for one in followed if one.ref == rollout.ref)
    key = rollout.snapshot.current_key if _has_rolled_out(attempt, rollout) else ""
    return next(recorded, "") or key


def _has_rolled_out(attempt: Attempt, rollout: Rollout) -> bool:
    """Tell whether a write of this attempt made the controller replace pods.

    It changes the template, or lets the controller go on to pods that it left. By `OnDelete` pods
    are replaced by others.
    """
    live, written = rollout.snapshot.live, attempt.ledger.written.get(rollout.ref)
    is_theirs = rollout.ref in attempt.interference.departures
    if live is None or live.leaves_old_pods or written is None or is_theirs:
        return False
    before = written.before.workload if written.before is not None else None
    after = written.after.workload
    if before is None or after is None:
        return written.changed
    return before.template != after.template or bool(before.strategy_put_back(after))


# -- why -------------------------------------------------------------------------------------------


def _recorded_failures(attempt: Attempt) -> FrozenMap[Ref, Ending]:
    """Return the verdicts that led a dead gate back; empty if its record has none."""
    resumed = attempt.plan.resumed
    return failures_found(resumed) if resumed is not None and resumed.back else FrozenMap()


def _failures(verdicts: Verdicts) -> FrozenMap[Ref, Ending]:
    return FrozenMap(
        (ref, Ending.of_failure(verdict))
        for ref, verdict in verdicts.items()
        if verdict is not None and verdict.kind is VerdictKind.FAILED
    )


def _why_back(attempt: Attempt) -> Ending | None:
    """Return what led back other than failed verdicts of workloads, None for nothing else.

    It is a refused write, a signal, a check of a manifest without a workload, or the death of
    the gate that began the attempt.
    """
    if attempt.plan.resumed is not None and attempt.plan.resumed.back:
        return why_resumed(attempt.plan.resumed)
    rejection = attempt.writes.rejection
    if rejection is not None:
        cause = refusal_cause(attempt.plan, rejection)
        reason = reason_of_break(attempt, rejection)
        return Ending(Outcome.FAILED, reason, cause.message, (cause,))
    if attempt.interference.signal_number is None:
        against = check_conclusions.find_against_all(attempt)
        if against is None:
            return None
        return Ending.of_failure(against)
    rollouts = attempt.workloads.rollouts.values()
    causes = order_causes(one for each in rollouts for one in early_causes(each, attempt.now))
    text = CleanText(f"ended by {signal_name(attempt.interference.signal_number)}")
    return Ending(Outcome.FAILED, Reason.INTERRUPTED, text, causes)


# -- what cannot be restored -----------------------------------------------------------------------


def _with_irreversible(attempt: Attempt, departed: frozenset[Ref]) -> FrozenMap[Ref, Rejection]:
    """Add what cannot be taken back to the refusals: it is not even sent."""
    stays = irreversible(attempt.plan, attempt.ledger.written, departed)
    return FrozenMap(
        {
            **attempt.writes.refusals,
            **{ref: Rejection(ref, Reason.IRREVERSIBLE, why) for ref, why in stays.items()},
        }
    )


def _missing_members(attempt: Attempt, queue: tuple[PlannedWrite, ...]) -> dict[Ref, Rejection]:
    """Return the members of the set that cannot be restored; none if nothing is applied at all."""
    is_restored = any(ref in attempt.plan.target_set.members for ref in attempt.ledger.restored)
    if not is_restored and not any(write.verb is Verb.APPLY for write in queue):
        return {}
    missing = attempt.plan.target_set.missing_members
    return {ref: Rejection(ref, Reason.SET_INCOMPLETE, why) for ref, why in missing.items()}


# -- what it announces -----------------------------------------------------------------------------


def describe_rollback(before: Attempt, after: Attempt, verdicts: Verdicts) -> Iterator[Line]:
    """Yield the timeline's lines: why the attempt goes back, and what it will write."""
    yield from describe_failures(before, verdicts)
    yield from describe_rejection(before)
    yield from _describe_unwritten(before)
    queue = after.writes.queue
    said = (_describe_write(after, write) for write in queue if write.verb is not Verb.TAKE_OVER)
    yield "rollback", "; ".join(said) or "nothing that was written has a state to go back to"
    yield from describe_refusals(before, after)


def _describe_unwritten(attempt: Attempt) -> Iterator[Line]:
    """Yield which objects a failure keeps from being written, the first of them by name.

    Of one whose answer was lost nobody knows that.
    """
    if attempt.writes.rejection is not None or attempt.interference.signal_number is not None:
        return
    lost, queued = answers_lost(attempt), (write.ref for write in attempt.writes.queue)
    refs = tuple(dict.fromkeys(ref for ref in queued if ref not in lost))
    if not refs:
        return
    planned = {write.ref for write in attempt.plan.writes}
    names = [attempt.plan.name_of(ref) for ref in refs[:MOST_NAMES]]
    more = f" and {len(refs) - len(names)} more" if len(refs) > len(names) else ""
    verb = "is" if len(refs) == 1 else "are"
    said = f"{len(refs)} of {len(planned)} objects {verb} not written: {', '.join(names)}{more}"
    yield "unwritten", said


def _describe_write(attempt: Attempt, write: PlannedWrite) -> str:
    match write.verb:
        case Verb.DELETE:
            return f"deleting {attempt.plan.name_of(write.ref)}"
        case Verb.MERGE if write.body == pause_body(write.ref):
            return f"pausing {attempt.plan.name_of(write.ref)}"
        case Verb.MERGE:
            return f"scaling {attempt.plan.name_of(write.ref)} to zero"
        case _:
            return _describe_return(attempt, write.ref)


def _describe_return(attempt: Attempt, ref: Ref) -> str:
    for target in attempt.plan.targets:
        if target.ref == ref and isinstance(target.baseline, Known):
            return f"returning {attempt.plan.name_of(ref)} to {target.baseline.value}"
    return f"restoring {attempt.plan.name_of(ref)}"

"""Removes a pod that its controller stops at, or leaves as it is, so that it is replaced.

A controller stops at a pod on both legs: a fix over a broken version needs its removal as much as a
rollback does. Those of the failed version that a restored strategy leaves go on the way back alone.
A kind says which pod is next and whether it may go (`WorkloadKind.find_blocking_pod`); here is
when. It is noted in the record and read again before it is removed, with its uid as precondition,
one pod at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt.pod_replacement import Replacement, Stage
from gate.core.attempt.record import record_now
from gate.core.attempt.state import Attempt, Step
from gate.core.model.objects import Pod, Ref, Workload
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.plan.workload_body import has_same_strategy
from gate.core.protocol.effects import Announce, RemovePod, SaveRecord
from gate.core.protocol.events import PodRemoval, Removal
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import BlockedPods
from gate.core.rollout.progress import stalled_at
from gate.core.rollout.workload_kind import BlockingPod
from gate.core.states.reads import read_all
from gate.core.states.verdicts import Verdicts, find_failed

SETTLE_SECONDS = 5.0
"""How long a controller gets, after the last progress, to replace a pod by itself."""
REPEAT_SECONDS = 30.0
"""How soon a removal that a PodDisruptionBudget forbade, or that had no answer, is tried again."""

LEAD_SECONDS = 5.0
"""How long before a standstill would end the leg a pod is given up: a removal takes some time."""

_DECIDED = (Stage.DECIDED, Stage.REREAD)
"""The stages of a removal that is not sent yet."""
_STAGES = {
    Removal.ACCEPTED: Stage.ACCEPTED,
    Removal.GUARDED: Stage.GUARDED,
    Removal.REFUSED: Stage.REFUSED,
    Removal.UNANSWERED: Stage.UNANSWERED,
}


def holds_failure(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether all that has failed is a standstill that a removal may end."""
    failed = find_failed(verdicts)
    return bool(failed) and all(
        (verdict := verdicts[ref]) is not None
        and verdict.reason is Reason.PROGRESS_DEADLINE_EXCEEDED
        and attempt.now < attempt.workloads.rollouts[ref].ends_at
        and (_is_under_way(attempt, ref) or _is_about_to_go(attempt, ref))
        for ref in failed
    )


def ask_to_remove(attempt: Attempt) -> Step:
    """Return the next request for the removal of a pod, the attempt unchanged if none is due."""
    if not _may_remove(attempt) or attempt.awaits(RemovePod):
        return attempt, ()
    decided = next((one for one in _replacements(attempt) if one.stage in _DECIDED), None)
    if decided is not None:
        waits = attempt.awaits(SaveRecord) or attempt.awaits_read((decided.workload,))
        return (attempt, ()) if waits else _go_on(attempt, decided)
    for ref in attempt.workloads.rollouts:
        blocking = _find_due(attempt, ref)
        if blocking is not None:
            return _decide(attempt, ref, blocking)
    return attempt, ()


def wake_times(attempt: Attempt) -> Iterator[float]:
    """Yield when a removal may be due (monotonic seconds)."""
    if not _may_remove(attempt):
        return
    for ref, rollout in attempt.workloads.rollouts.items():
        blocking = _find_blocking_pod(attempt, ref)
        if blocking is None:
            continue
        yield from (
            rollout.blindness.time_of(clock, attempt.now)
            for clock in (_settled_at(rollout), _condemned_at(attempt, rollout, blocking))
        )
        known = attempt.workloads.replacements.get(blocking.pod.uid)
        if known is not None:
            yield known.at + REPEAT_SECONDS


def fold_removal(attempt: Attempt, effect: RemovePod, answer: PodRemoval) -> Attempt:
    """Return the attempt after the answer to a removal; a refused one restarts no clock."""
    known = attempt.workloads.replacements[effect.uid]
    stage = _STAGES[answer.removal]
    after = replace(known, stage=stage, at=attempt.now, message=answer.message)
    attempt = _with(attempt, after)
    if stage is Stage.REFUSED:
        attempt = _leave_to_people(attempt, effect.workload)
    if stage in (Stage.ACCEPTED, Stage.UNANSWERED):
        return attempt
    return _give_clock_back(attempt, known)


def _give_clock_back(attempt: Attempt, known: Replacement) -> Attempt:
    """Return the attempt with the progress of before a removal that does not come about."""
    rollout = attempt.workloads.rollouts.get(known.workload)
    if known.progress is None or rollout is None or rollout.progress.last_at > known.at:
        return attempt
    return _with_rollout(attempt, replace(rollout, progress=known.progress))


def _leave_to_people(attempt: Attempt, ref: Ref) -> Attempt:
    """Return the attempt with a workload of which it replaces no pod any more: it was refused."""
    rollout = attempt.workloads.rollouts.get(ref)
    if rollout is None:
        return attempt
    response = replace(rollout.policy.response, blocked_pods=BlockedPods.NEVER)
    return _with_rollout(
        attempt, replace(rollout, policy=replace(rollout.policy, response=response))
    )


def _decide(attempt: Attempt, ref: Ref, blocking: BlockingPod) -> Step:
    """Note the removal, read everything again, and give the controller a deadline from now on."""
    rollout, pod = attempt.workloads.rollouts[ref], blocking.pod
    one = Replacement(ref, pod.name, pod.uid, Stage.DECIDED, attempt.now, progress=rollout.progress)
    attempt = _with(_with_rollout(attempt, rollout.restart_clock(attempt.now)), one)
    attempt, reads = read_all(attempt, (ref,))
    save = SaveRecord(attempt.requests.next_id, record_now(attempt))
    said = f": {blocking.trouble.message}" if blocking.trouble is not None else ""
    why = "is taken back" if blocking.is_taken_back else "is in the way"
    line = (
        f"{attempt.plan.name_of(ref)}: {pod.name} of revision {pod.revision_label} {why},"
        f" and will be replaced{said}"
    )
    return attempt.with_effect(save), (attempt.say("blocked", line), *reads, save)


def mark_reread(attempt: Attempt, ref: Ref) -> Attempt:
    """Return the attempt after all of a workload was read: a removal was decided on what is so."""
    for one in _replacements(attempt):
        if one.workload == ref and one.stage is Stage.DECIDED:
            attempt = _with(attempt, replace(one, stage=Stage.REREAD))
    return attempt


def _go_on(attempt: Attempt, decided: Replacement) -> Step:
    """Send a removal that was read again; where nobody could read, read once more."""
    if decided.stage is Stage.REREAD:
        return _send(attempt, decided)
    if attempt.now < attempt.requests.not_before:
        return attempt, ()
    return read_all(attempt, (decided.workload,))


def _send(attempt: Attempt, decided: Replacement) -> Step:
    """Ask for the removal if the pod still blocks; another verdict may have come with the read."""
    ref = decided.workload
    blocking = _find_blocking_pod(attempt, ref)
    if blocking is None or blocking.obstacle or blocking.pod.uid != decided.uid:
        gone = attempt.workloads.replacements.drop(decided.uid)
        attempt = replace(attempt, workloads=replace(attempt.workloads, replacements=gone))
        attempt = _give_clock_back(attempt, decided)
        save = SaveRecord(attempt.requests.next_id, record_now(attempt))
        return attempt.with_effect(save), (save,)
    how = attempt.plan.policy.response.blocked_pods
    effect = RemovePod(attempt.requests.next_id, ref, decided.pod, decided.uid, how)
    sent = _with(attempt, replace(decided, stage=Stage.SENT, at=attempt.now))
    return sent.with_effect(effect), (effect,)


def _find_due(attempt: Attempt, ref: Ref) -> BlockingPod | None:
    """Return the pod of a workload that is to be removed now."""
    if not _may_remove(attempt):
        return None
    blocking = _find_blocking_pod(attempt, ref)
    if blocking is None or blocking.obstacle or not _may_try(attempt, blocking):
        return None
    rollout = attempt.workloads.rollouts[ref]
    clock = rollout.blindness.clock(attempt.now)
    due_at = max(_settled_at(rollout), _condemned_at(attempt, rollout, blocking))
    return blocking if clock >= due_at else None


def _is_about_to_go(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a pod is due, or is once the controller has had its time.

    That may be later than a short progress deadline.
    """
    if not _may_remove(attempt):
        return False
    blocking = _find_blocking_pod(attempt, ref)
    if blocking is None or blocking.obstacle or not _may_try(attempt, blocking):
        return False
    rollout = attempt.workloads.rollouts[ref]
    return _condemned_at(attempt, rollout, blocking) <= rollout.blindness.clock(attempt.now)


def _may_remove(attempt: Attempt) -> bool:
    """Tell whether this attempt may remove pods: it writes, and nothing ends it."""
    policy = attempt.plan.policy
    return (
        attempt.plan.may_retreat
        and not policy.observe
        and policy.response.blocked_pods is not BlockedPods.NEVER
        and attempt.interference.signal_number is None
        and attempt.interference.lock_lost is None
    )


def _may_try(attempt: Attempt, blocking: BlockingPod) -> bool:
    """Tell whether a removal may be asked for again: not while it takes effect, nor if refused."""
    known = attempt.workloads.replacements.get(blocking.pod.uid)
    if known is None or known.stage is Stage.RECORDED:
        return True
    repeats = known.stage in (Stage.GUARDED, Stage.UNANSWERED)
    return repeats and attempt.now >= known.at + REPEAT_SECONDS


def _is_under_way(attempt: Attempt, ref: Ref) -> bool:
    under_way = (*_DECIDED, Stage.SENT)
    return any(one.workload == ref and one.stage in under_way for one in _replacements(attempt))


def _find_blocking_pod(attempt: Attempt, ref: Ref) -> BlockingPod | None:
    """Return the pod that blocks a workload which is still ours, by facts that are not missing."""
    rollout = attempt.workloads.rollouts[ref]
    live = rollout.snapshot.live
    if live is None or ref in attempt.interference.departures:
        return None
    limits = rollout.policy.fail_fast
    blocking = rollout.kind.find_blocking_pod(rollout.snapshot, live, limits)
    if blocking is None or rollout.blindness.facts_missing:
        return None
    if rollout.applied.find_departure(live) is not None:
        return None
    if live.generation < rollout.applied.generation:
        return None
    if blocking.is_taken_back and _is_held_by_others(attempt, live):
        return replace(blocking, obstacle="somebody else has changed its update strategy")
    return blocking


def _is_held_by_others(attempt: Attempt, live: Workload) -> bool:
    """Tell whether the strategy holds more pods than what the way back, or an undo, had restored.

    Somebody has changed it since, to have them left as they are.
    """
    written = attempt.ledger.written.get(live.ref)
    if attempt.course.leg is Leg.BACK:
        ours = _find_restored(attempt, live.ref)
    else:
        ours = None if written is None else written.after.workload
    return ours is not None and bool(live.strategy_put_back(ours))


def _find_restored(attempt: Attempt, ref: Ref) -> Workload | None:
    """Return a workload as the way back left it.

    Of one that a gate which died had restored only its present state is known, in which somebody
    may have changed the strategy since: that is as it was before the attempt, unless the set that
    it returns to has another one.
    """
    restored, resumed = attempt.ledger.restored.get(ref), attempt.plan.resumed
    if restored is None or resumed is None or restored is not resumed.restored.get(ref):
        return None if restored is None else restored.workload
    before, member = attempt.plan.before(ref), attempt.plan.target_set.members.get(ref)
    if before is None or (member is not None and not has_same_strategy(member, before)):
        return restored.workload
    return before.workload


def _settled_at(rollout: Rollout) -> float:
    """Return when the controller has had its time, by the clock that stops while blind."""
    return rollout.progress.last_clock + SETTLE_SECONDS


def _condemned_at(attempt: Attempt, rollout: Rollout, blocking: BlockingPod) -> float:
    """Return when a pod is given up: by its trouble, or a standstill.

    A controller replaces a pod of another version itself once that is ready: one that recovers
    its log needs nothing. One of a version that is taken back goes at once.
    """
    is_known = blocking.pod.uid in attempt.workloads.replacements
    if blocking.is_taken_back or is_known or _is_of_taken_back(rollout, blocking.pod):
        return -math.inf
    live = rollout.snapshot.live
    if live is None:
        return math.inf
    stalled = stalled_at(
        rollout.progress,
        live,
        rollout.deadline_seconds,
        rollout.kind.busy_until(rollout.snapshot, live),
    )
    still_at = stalled - min(LEAD_SECONDS, rollout.deadline_seconds / 2)
    return min(still_at, blocking.trouble.ripe_at if blocking.trouble is not None else math.inf)


def _is_of_taken_back(rollout: Rollout, pod: Pod) -> bool:
    """Tell whether a way back, or an undo, takes back the version of a pod, which it brought here.

    Nobody waits for that pod to get ready: its controller would replace it right after that.
    """
    snapshot = rollout.snapshot
    return snapshot.has_moved(pod, snapshot.taken_back)


def _replacements(attempt: Attempt) -> Iterator[Replacement]:
    return iter(attempt.workloads.replacements.values())


def _with(attempt: Attempt, one: Replacement) -> Attempt:
    known = attempt.workloads.replacements.put(one.uid, one)
    return replace(attempt, workloads=replace(attempt.workloads, replacements=known))


def _with_rollout(attempt: Attempt, rollout: Rollout) -> Attempt:
    rollouts = attempt.workloads.rollouts.put(rollout.ref, rollout)
    return replace(attempt, workloads=replace(attempt.workloads, rollouts=rollouts))


def describe_waits(before: Attempt, after: Attempt) -> Iterator[Announce]:
    """Yield a line for each pod that is newly in the way, and that is not given up yet."""
    known = before.workloads.rollouts
    for ref, rollout in after.workloads.rollouts.changed_since(known):
        blocking = _find_awaited_pod(after, ref)
        was = _find_awaited_pod(before, ref) if ref in known else None
        if blocking is None or (was is not None and was.pod.uid == blocking.pod.uid):
            continue
        seconds = rollout.deadline_seconds - min(LEAD_SECONDS, rollout.deadline_seconds / 2)
        pod = f"{blocking.pod.name} of revision {blocking.pod.revision_label or 'unknown'}"
        how = after.plan.policy.response.blocked_pods
        done = "evicts" if how is BlockedPods.EVICT else "deletes"
        until = f"once it cannot recover, or nothing has moved for {seconds:.0f} s"
        name = after.plan.name_of(ref)
        line = after.say("blocked", f"{name}: {pod} is in the way; the gate {done} it {until}")
        yield replace(line, waits_for=blocking.pod)


def _find_awaited_pod(attempt: Attempt, ref: Ref) -> BlockingPod | None:
    """Return the pod in the way that may still get out of it by itself."""
    if not _may_remove(attempt):
        return None
    rollout, blocking = attempt.workloads.rollouts[ref], _find_blocking_pod(attempt, ref)
    if blocking is None or blocking.obstacle or blocking.is_taken_back:
        return None
    is_given_up = blocking.pod.uid in attempt.workloads.replacements
    return None if is_given_up or _is_of_taken_back(rollout, blocking.pod) else blocking


def describe_replacements(before: Attempt, after: Attempt) -> Iterator[tuple[str, str]]:
    """Yield a line of the timeline for each answer to a removal."""
    for uid, one in after.workloads.replacements.items():
        known = before.workloads.replacements.get(uid)
        if known is None or known.stage is one.stage:
            continue
        name = f"{after.plan.name_of(one.workload)}: {one.pod}"
        how = after.plan.policy.response.blocked_pods
        if one.stage is Stage.ACCEPTED and one.message:
            yield "unblocked", f"{name} is gone, for the controller to replace it"
        elif one.stage is Stage.ACCEPTED:
            done = "evicted" if how is BlockedPods.EVICT else "deleted"
            yield "unblocked", f"{name} was {done}, for the controller to replace it"
        elif one.stage in (Stage.GUARDED, Stage.REFUSED):
            yield "blocked", f"{name} was not replaced: {one.message}"
        elif one.stage is Stage.UNANSWERED:
            yield "blocked", f"{name}: its removal has no answer: {one.message}"

"""FOLLOWING: a verdict on every workload is awaited."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gate.core.attempt import check_runs
from gate.core.attempt.awaited_objects import find_unready
from gate.core.attempt.new_rollout import (
    applied_found,
    count_wanted,
    find_template_fields,
    start_following,
)
from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.checks.spec import During
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.rollout.policy import OnFailure
from gate.core.rollout.verdict import VerdictKind
from gate.core.states import unblocking
from gate.core.states.reads import read_all, schedule_full_read
from gate.core.states.verdicts import (
    Verdicts,
    are_all_complete,
    find_failed,
    has_blind_window,
    has_failed,
    last_window_at,
)
from gate.core.states.watching import WatchingState
from gate.core.writes.way_out import became_theirs


class Following(WatchingState):
    """Waits until all workloads are complete, or one has failed."""

    phase = During.ROLLOUT

    def enter(self, attempt: Attempt, _trigger: Trigger, _verdicts: Verdicts) -> Step:
        """Start the checks of the rollout; on the way back follow what needed no write, too."""
        theirs: tuple[Ref, ...] = ()
        if attempt.course.leg is Leg.BACK:
            targets = (target.ref for target in attempt.plan.targets)
            theirs = tuple(ref for ref in targets if became_theirs(attempt, ref))
            attempt = _with_unchanged(attempt)
        course = replace(attempt.course, baked_since=math.inf, confirming_since=math.inf)
        attempt = schedule_full_read(replace(attempt, course=course))
        # Watches do not say who changed what was never written.
        attempt, reads = read_all(attempt, theirs, whole_rollout=False)
        return check_runs.start_checks(attempt, self.phase), reads

    def next_trigger(self, attempt: Attempt, verdicts: Verdicts) -> Trigger | None:
        """Go on with the first failure, or once everything is complete, to what is not ready."""
        if attempt.now < attempt.requests.not_before:
            return None
        if has_failed(attempt, verdicts) and not unblocking.holds_failure(attempt, verdicts):
            return None if _awaits_others(attempt, verdicts) else Trigger.FAILED
        if not are_all_complete(attempt, verdicts) or has_blind_window(attempt):
            return None
        return Trigger.BLOCKED if find_unready(attempt) else Trigger.COMPLETE

    def ask(self, attempt: Attempt) -> Step:
        """Ask for the removal of the pod that blocks, otherwise what is due anyhow."""
        moved, asked = unblocking.ask_to_remove(attempt)
        return (moved, asked) if moved is not attempt else super().ask(attempt)

    def wake_times(self, attempt: Attempt) -> Iterator[float]:
        """Yield also when a removal may be due, or a silence holds up no bake window any more."""
        yield from super().wake_times(attempt)
        yield last_window_at(attempt)
        yield from unblocking.wake_times(attempt)


def _awaits_others(attempt: Attempt, verdicts: Verdicts) -> bool:
    """Tell whether a way back goes on for others beside workloads at a dead end."""
    if attempt.course.leg is Leg.FORWARD:
        return False
    failed = find_failed(verdicts)
    are_stuck = all(
        (verdict := verdicts[ref]) is not None and verdict.reason is Reason.BLOCKED_BY_POD
        for ref in failed
    )
    others = (verdict for ref, verdict in verdicts.items() if ref not in failed)
    return are_stuck and any(
        verdict is None or verdict.kind is not VerdictKind.COMPLETE for verdict in others
    )


def _with_unchanged(attempt: Attempt) -> Attempt:
    """Follow on the way back each workload that served before and needs no write to serve again.

    Its configuration may have been restored, so the same predicate has to verify it. A workload
    that somebody else changed before our write is theirs and not ours to verify; one that did not
    serve before is not followed either.
    """
    if attempt.plan.policy.response.on_failure is not OnFailure.ROLLBACK:
        return attempt
    for target in attempt.plan.targets:
        ref, written = target.ref, attempt.ledger.written.get(target.ref)
        snapshot = attempt.workloads.snapshots.get(ref)
        if ref in attempt.interference.departures or not isinstance(target.baseline, Known):
            continue
        if became_theirs(attempt, ref):
            continue
        if snapshot is None or snapshot.live is None or (written is not None and written.changed):
            continue
        set_ = attempt.plan.target_set
        if ref not in attempt.ledger.restored and (ref in set_.bodies or ref in set_.obstacles):
            continue
        before = attempt.plan.before(ref)
        owned = find_template_fields(before) if before is not None else None
        applied = applied_found(attempt.now, snapshot.live, changed=False, owned=owned)
        # As after a write: nodes that go leave the version before without one, and not unjudged.
        wanted = count_wanted(snapshot.live)
        if not wanted and before is not None and before.workload is not None:
            wanted = count_wanted(before.workload)
        applied = replace(applied, replicas=wanted)
        attempt = start_following(attempt, applied, snapshot)
    return attempt

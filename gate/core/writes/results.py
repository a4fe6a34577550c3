"""Records a write that was done: what it left, and which workload to follow."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.last_look import LeftObject
from gate.core.attempt.new_rollout import applied_of, count_wanted, start_following
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import kind_of
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject, content
from gate.core.plan.workload_body import with_template
from gate.core.protocol.effects import Write
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.observations import Observed
from gate.core.rollout.snapshot import Snapshot
from gate.core.ssa import managed_fields
from gate.core.ssa.last_applied import without_last_applied
from gate.core.versions.judged_version import template_digest
from gate.core.writes.recreation import find_before

NOT_ANSWERED = Unknown("the answer was lost")
"""Did a write create its object? Not known if only a read shows that it was done."""


def surely_written(attempt: Attempt) -> Attempt:
    """Record that something was written, or may have been."""
    first = attempt.now if attempt.writes.first_write_at is None else attempt.writes.first_write_at
    return replace(attempt, writes=replace(attempt.writes, first_write_at=first))


def note_write(
    attempt: Attempt,
    head: PlannedWrite,
    live: LiveObject,
    *,
    read: LiveObject | None = None,
    is_created: Fact[bool] = NOT_ANSWERED,
    met: LiveObject | None = None,
) -> Attempt:
    """Record an object as this attempt left it, and follow it if it is a workload.

    The object of before is what the preflight saw: after a lost answer, the latest read may show
    our own write. Only if the preflight saw none and the server says that our write created none
    either, it is the latest `read`: somebody else created it before our write. `met` is what the
    write surely met, None if an earlier try of it may have been done.
    """
    ref, before = head.ref, find_before(attempt, head.ref)
    if before is None and isinstance(is_created, Known) and not is_created.value:
        before = read
    earlier = attempt.ledger.written.get(ref)
    if earlier is not None:
        written = replace(earlier, after=live)
    else:
        written = WrittenObject(
            before, live, head.force, head.scaler, head.field_manager, is_created, met
        )
    left = LeftObject(live, None, head.field_manager, head.scaler.keeps_live)
    attempt = replace(
        attempt,
        ledger=replace(
            attempt.ledger,
            written=attempt.ledger.written.put(ref, written),
            left=attempt.ledger.left.put(ref, left),
            deleted=tuple(one for one in attempt.ledger.deleted if one != ref),
        ),
    )
    return _follow_from_answer(attempt, before, live, head.field_manager)


def note_return(
    attempt: Attempt, sent: Write | PlannedWrite, before: LiveObject | None, live: LiveObject
) -> Attempt:
    """Record what was restored, paused or scaled, and follow what was restored."""
    ref, applies = sent.ref, sent.verb is Verb.APPLY
    written = attempt.ledger.written.get(ref)
    left = LeftObject(
        live,
        sent=find_sent(_find_baseline(attempt, ref), sent.body, live) if applies else None,
        field_manager=sent.field_manager,
        autoscaled=written is not None and written.scaler.keeps_live,
    )
    attempt = replace(
        attempt, ledger=replace(attempt.ledger, left=attempt.ledger.left.put(ref, left))
    )
    if not applies:
        return replace(
            attempt, ledger=replace(attempt.ledger, patched=(*attempt.ledger.patched, ref))
        )
    attempt = replace(
        attempt, ledger=replace(attempt.ledger, restored=attempt.ledger.restored.put(ref, live))
    )
    return _follow_from_answer(attempt, before, live, sent.field_manager)


def find_sent(baseline: Fact[Baseline], sent: Body, live: LiveObject) -> Body | None:
    """Return what a restored object is held against, None if it is the version before anyway.

    Of a workload that is its pod template: the rest of it is no version. One with the template that
    served is what was to return, in whatever form it was sent.
    """
    if live.workload is None:
        return sent
    if isinstance(baseline, Known):
        served = template_digest(baseline.value.template)
        if template_digest(live.workload.template) == served:
            return None
    return with_template(live.body, sent)


def _find_baseline(attempt: Attempt, ref: Ref) -> Fact[Baseline]:
    targets = (one.baseline for one in attempt.plan.targets if one.ref == ref)
    return next(targets, Absent())


def _follow_from_answer(
    attempt: Attempt, before: LiveObject | None, live: LiveObject, field_manager: str
) -> Attempt:
    """Follow a workload from the answer to its apply on."""
    snapshot = _snapshot(attempt, live.ref)
    if snapshot is None or live.workload is None:
        return attempt
    applied = applied_of(attempt.now, before, live, field_manager)
    if not applied.replicas:
        is_back = attempt.course.leg is Leg.BACK
        count = _count_before_scaling if is_back else count_made
        applied = replace(applied, replicas=count(attempt, live.ref) or 0)
    known = snapshot.fold(Observed(attempt.now, live.workload))
    return start_following(attempt, applied, known)


def _count_before_scaling(attempt: Attempt, ref: Ref) -> int | None:
    """Return how many replicas there were until somebody scaled them to 0, None if nobody did.

    A way back to a number of before, or from a manifest's own 0, leaves a 0 by itself.
    """
    written = attempt.ledger.written.get(ref)
    before = written.before if written is not None else None
    if before is None or before.workload is None or not count_wanted(before.workload):
        return None
    return count_made(attempt, ref)


def _snapshot(attempt: Attempt, ref: Ref) -> Snapshot | None:
    if ref in attempt.workloads.snapshots:
        return attempt.workloads.snapshots[ref]
    return attempt.workloads.rollouts[ref].snapshot if ref in attempt.workloads.rollouts else None


def count_made(attempt: Attempt, ref: Ref) -> int | None:
    """Return how many pods our apply left a workload to have, whoever changed that since.

    The dry run tells; without one, what was there before a write that says no number. None if
    nobody knows.
    """
    trial, written = attempt.plan.trial(ref), attempt.ledger.written.get(ref)
    before = written.before if written is not None else None
    made = trial if trial is not None else written.after if written is not None else None
    if made is None or made.workload is None:
        return None
    kind = kind_of(ref)
    says = kind.default_replicas is not None and (trial is not None or _says_count(attempt, ref))
    if says or before is None or before.workload is None:
        return count_wanted(made.workload)
    return kind.count_kept(before.workload, made.workload)


def _says_count(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether what was sent says itself how many replicas a workload is to have."""
    sent = [(one.body, one.scaler.keeps_live) for one in attempt.plan.writes if one.ref == ref]
    resumed = attempt.plan.resumed
    recorded = resumed.record.objects if resumed is not None else ()
    sent += [
        (one.expected, one.scaler.keeps_live)
        for one in recorded
        if one.ref == ref and isinstance(one.expected, Body)
    ]
    specs = (body.thaw().get("spec") or {} for body, keeps in sent if not keeps)
    return any("replicas" in spec for spec in specs)


def was_scaled(attempt: Attempt, live: LiveObject) -> bool:
    """Tell whether somebody has scaled what goes back since it was written: that number stays.

    False if another manager owns the number now, as after `kubectl scale` to more than 0: then the
    server reports a conflict, and the field is left out and reported.
    """
    made = count_made(attempt, live.ref)
    if attempt.course.leg is not Leg.BACK or live.workload is None or made is None:
        return False
    if count_wanted(live.workload) == made or kind_of(live.ref).default_replicas is None:
        return False
    owners = managed_fields.owners_of(live.thaw_managed_fields(), ("spec", "replicas"))
    return all(manager == FIELD_MANAGER for manager, _ in owners)


def has_written_back(attempt: Attempt) -> bool:
    """Tell whether a write of the way back is known to be done, by this attempt itself."""
    resumed, ledger = attempt.plan.resumed, attempt.ledger
    earlier = resumed.restored if resumed is not None else {}
    return any(ref not in earlier for ref in ledger.restored) or bool(
        ledger.deleted or ledger.patched
    )


def has_restored(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the way back changed anything of an object but kubectl's annotation."""
    written, back = attempt.ledger.written.get(ref), attempt.ledger.restored[ref]
    if written is None:
        return True
    after, now = (without_last_applied(content(each.body)) for each in (written.after, back))
    return after != now

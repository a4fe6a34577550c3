"""What the history remembers of an attempt that ends, for each workload that it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gate.core.attempt.ending_workload import revisions_of, workload_of
from gate.core.attempt.journal import cause_of_end, record_of
from gate.core.attempt.last_look import REPLICAS, FindingKind
from gate.core.attempt.left_version import find_left_version
from gate.core.attempt.state import Attempt, Ending
from gate.core.attempt.version_failures import (
    find_failed_test,
    find_failure,
    has_landed_late,
    is_known_failure,
    weigh_standstill,
)
from gate.core.kinds.registry import has_way_back, is_workload
from gate.core.model.body import NOTHING, Body, FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.environment_values import without_values
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref, Revision, Template
from gate.core.model.origin import Origin
from gate.core.model.outcome import UNPROVEN, WITHOUT_A_FAILURE, Outcome, Reason
from gate.core.plan.journal_record import Record
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import OnFailure, OnFirstFailure
from gate.core.ssa.applied_fields import applied_body, applied_digest
from gate.core.ssa.managed_fields import owners_of
from gate.core.versions.history import Closed, Closing
from gate.core.versions.judged_version import JudgedVersion, template_digest

_LEFT_OPEN: Final = (Outcome.INTERRUPTED, Outcome.LOST_CONTACT)
"""The orderly ends that leave something to finish."""
_UNDECIDED: Final = (Outcome.APPLIED, Outcome.SUPERSEDED, Outcome.REFUSED)
"""The ends of a workload that say nothing about the version that was written."""
_DECIDED: Final = (Outcome.VERIFIED, Outcome.ROLLED_BACK, *_UNDECIDED)
"""The ends of an attempt that leave nothing unverified of what it wrote."""


def closed_of(attempt: Attempt) -> Closed:
    """Return what is to be remembered of an attempt that ends."""
    written = (
        ref
        for ref in filter(has_way_back, attempt.result.endings)
        if ref in attempt.ledger.written
        or ref in attempt.ledger.restored
        or is_known_failure(attempt, ref)
        or has_landed_late(attempt, ref)
    )
    objects, record = _objects_at_the_end(attempt), record_of(attempt.plan)
    remembered = FrozenMap(_bodies(objects)), FrozenMap(_confidential(objects))
    return Closed(
        left_open=is_left_open(attempt),
        deployments=tuple(
            _closing(attempt, record, ref, attempt.result.endings[ref], remembered)
            for ref in written
        ),
    )


def is_left_open(attempt: Attempt) -> bool:
    """Tell whether an attempt ended with something left to finish.

    A write that was done too late to be taken back is in its record, for whoever comes next.
    """
    has_written = attempt.may_have_written or attempt.plan.resumed is not None
    found = {one.kind for one in attempt.ledger.findings.values()}
    ends = (
        (*_LEFT_OPEN, Outcome.ROLLBACK_FAILED) if FindingKind.WRITTEN_LATE in found else _LEFT_OPEN
    )
    ending = attempt.result.ending
    return ending is not None and ending.outcome in ends and has_written


_Remembered = tuple[FrozenMap[str, Body], FrozenMap[str, ConfidentialBody]]
"""What `_bodies` and `_confidential` yield of all objects; every verified version gets it."""


def _closing(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending, remembered: _Remembered
) -> Closing:
    unverified = _find_unverified(attempt, record, ref, ending)
    verified = _find_verified(attempt, record, ref, ending)
    bodies, confidential = remembered if verified is not None else (FrozenMap(), FrozenMap())
    judged = tuple(one for one in (unverified, verified) if one is not None)
    return Closing(
        ref,
        versions=judged or tuple(_iter_unjudged(attempt, record, ref, ending)),
        bodies=bodies,
        paused=ref in attempt.ledger.patched
        and attempt.plan.policy.response.on_failure is OnFailure.PAUSE,
        scaled_down=_is_scaled_down(attempt, ref),
        replicas=_replicas(record, ref) if ref not in attempt.ledger.restored else None,
        confidential=confidential,
        workload=workload_of(attempt, record, ref),
        beside=attempt.plan.target_set.applied.beside,
        left=find_left_version(attempt, record, ref, ending),
    )


def _is_scaled_down(attempt: Attempt, ref: Ref) -> bool | None:
    """Return `Closing.scaled_down`: whether this attempt scaled a failed first version to 0."""
    policy, written = attempt.plan.policy, attempt.ledger.written.get(ref)
    if ref in attempt.ledger.patched:
        scales = policy.response.on_first_failure is OnFirstFailure.SCALE_TO_ZERO
        return scales and policy.response.on_failure is not OnFailure.PAUSE
    before = written.before if written is not None else None
    was_empty = before is not None and _replicas_of(before) == 0
    return None if was_empty and _is_empty(attempt, ref) else False


def _replicas_of(live: LiveObject) -> int | None:
    return live.workload.replicas if live.workload is not None else None


def _iter_unjudged(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> Iterator[JudgedVersion]:
    """Yield what was written if the end says nothing of it, so that it is known as ours."""
    tried = attempt.ledger.written.get(ref)
    if tried is None or not _has_changed_anything(attempt):
        return
    written = _collect_written(attempt)
    judged = _make_judged_version(attempt, record, tried.after, written, why=cause_of_end(ending))
    if judged is not None and judged.is_unjudged:
        yield judged


def _find_unverified(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> JudgedVersion | None:
    """Return the version that was rolled out if it was not verified, None if it was.

    None, too, for one that somebody else replaced before it had failed: nothing is known of it.
    What is complete is not verified by an attempt whose smoke test failed.
    """
    tried = attempt.ledger.written.get(ref)
    if tried is not None and not _has_changed_anything(attempt):
        return _failed_unchanged(attempt, record, tried.after, ending)
    if tried is not None and not tried.changed:
        return _beside_unchanged(attempt, record, tried.after)
    is_undecided = ending.outcome in _UNDECIDED and not _is_cut_off(attempt, ref)
    is_undecided = is_undecided and not is_known_failure(attempt, ref)
    failed_test = find_failed_test(attempt) if ending.outcome is Outcome.VERIFIED else None
    if is_undecided or (ending.outcome is Outcome.VERIFIED and failed_test is None):
        return None
    live = tried.after if tried is not None else _find_expected(record, ref)
    if live is None or live.workload is None:
        return None
    own = weigh_standstill(attempt, ref, ending)
    why = failed_test or find_failure(attempt, ref) or _without_lock(attempt, own)
    written = _collect_written(attempt)
    return _make_judged_version(
        attempt, record, live, {**written, ref: live}, why=cause_of_end(why)
    )


def _failed_unchanged(
    attempt: Attempt, record: Record, live: LiveObject, ending: Ending
) -> JudgedVersion | None:
    """Return the version that an attempt which changed nothing left as it was, if its pods failed.

    Neither doubt, nor the failure of another workload, nor that of a check revokes a
    verification: the version ran before and after, so that what a check measures now is the state
    of the world and tells no two versions apart.
    """
    if ending.reason is Reason.CHECK_FAILED:
        return None
    why = cause_of_end(weigh_standstill(attempt, live.ref, ending))
    judged = _make_judged_version(attempt, record, live, _collect_written(attempt), why=why)
    return judged if judged is not None and judged.failed else None


def _is_cut_off(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a lock was lost before a verdict: what was written is left unverified."""
    is_lost = attempt.interference.lock_lost is not None
    return is_lost and ref not in attempt.interference.departures


def _without_lock(attempt: Attempt, ending: Ending) -> Ending:
    """Return why a version was not verified; a lost lock counts as an interruption."""
    if attempt.interference.lock_lost is None or ending.outcome is not Outcome.SUPERSEDED:
        return ending
    return replace(ending, reason=Reason.INTERRUPTED)


def _beside_unchanged(attempt: Attempt, record: Record, live: LiveObject) -> JudgedVersion | None:
    """Return what is left unverified beside a workload that did not change, None for nothing."""
    ending = attempt.result.ending
    if ending is None or not _has_changed_anything(attempt):
        return None
    if _outcomes(attempt) <= set(_DECIDED) and not _is_cut_off(attempt, live.ref):
        return None
    if ending.outcome is Outcome.OBSERVED:
        ending = next(one for one in attempt.result.endings.values() if one.outcome not in _DECIDED)
    written = _collect_written(attempt)
    why = cause_of_end(_without_lock(attempt, ending))
    judged = _make_judged_version(attempt, record, live, written, why=why)
    return replace(judged, template="") if judged is not None else None


def _find_verified(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> JudgedVersion | None:
    """Return the version that was verified, the new one or the one that serves again, or None.

    A version beside a failure, or one of a set that could not be restored whole, is no set to
    return to, nor is one that is `UNPROVEN`, or as a check left it that was not asked again.
    """
    is_whole = not attempt.writes.refusals and _outcomes(attempt) <= WITHOUT_A_FAILURE
    is_doubted = (
        ending.outcome is Outcome.VERIFIED and ref in attempt.plan.target_set.applied.doubts
    )
    if not is_whole or is_doubted or _is_empty(attempt, ref) or ending.reason in UNPROVEN:
        return None
    live = None
    if ending.outcome is Outcome.VERIFIED and ref in attempt.ledger.written:
        live = attempt.ledger.restored.get(ref) or attempt.ledger.written[ref].after
    elif ending.outcome is Outcome.ROLLED_BACK:
        live = attempt.ledger.restored.get(ref)
    if live is None or not applied_digest(live) or not _stands(attempt, ref):
        return None
    judged = _make_judged_version(attempt, record, live, _objects_at_the_end(attempt))
    return judged if judged is None else replace(judged, members=_members(attempt, judged))


def _outcomes(attempt: Attempt) -> set[Outcome]:
    """Return the outcome of the whole attempt; with `--observe` those of its workloads."""
    whole = (
        attempt.result.ending.outcome
        if attempt.result.ending is not None
        else Outcome.INTERNAL_ERROR
    )
    if whole is not Outcome.OBSERVED:
        return {whole}
    return {one.outcome for one in attempt.result.endings.values()}


def _is_empty(attempt: Attempt, ref: Ref) -> bool:
    rollout = attempt.workloads.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    return live is not None and live.replicas == 0


def _make_judged_version(
    attempt: Attempt,
    record: Record,
    live: LiveObject,
    objects: Mapping[Ref, LiveObject],
    why: Cause | None = None,
) -> JudgedVersion | None:
    """Return a version of a workload, verified if `why` is None.

    None if `live` is no workload, or if it would be verified but its revision is not known.
    """
    if live.workload is None:
        return None
    template = _followed_template(attempt, live.ref, live.workload.template)
    made = _replica_set(attempt, live.ref, template)
    if made is None and why is None:
        return None
    return JudgedVersion(
        template_digest(template),
        tuple(CleanText(image) for image in template.images()),
        FrozenMap((ref, digest) for ref, one in objects.items() if (digest := applied_digest(one))),
        made.name if made is not None else "",
        made.revision if made is not None else None,
        why,
        origin=_origin(attempt, record, live),
    )


def _followed_template(attempt: Attempt, ref: Ref, written: Template) -> Template:
    """Return the pod template that was judged when `written` was written.

    What others added during the rollout made another revision, which was followed from then on.
    """
    for legs in (attempt.workloads.followed_before, attempt.workloads.rollouts):
        rollout = legs.get(ref)
        if rollout is None or rollout.applied.template.body != written.body:
            continue
        live, followed = rollout.snapshot.live, rollout.snapshot.current()
        if live is not None and followed is not None and rollout.still_ours(live):
            return followed.template
    return written


def _origin(attempt: Attempt, record: Record, live: LiveObject) -> Origin | None:
    """Return where a version came from, None if it is not from this attempt's manifest."""
    serves_again = attempt.ledger.restored.get(live.ref) is live
    return record.origin if record.command == "apply" and not serves_again else None


def _replica_set(attempt: Attempt, ref: Ref, template: Template) -> Revision | None:
    owned = revisions_of(attempt, ref)
    return next((rs for rs in owned if rs.template.body == template.body), None)


def _collect_written(attempt: Attempt) -> dict[Ref, LiveObject]:
    """Return each object as this attempt, or the dead one that it finishes, wrote it."""
    resumed = attempt.plan.resumed
    written = {ref: one.after for ref, one in attempt.ledger.written.items() if has_way_back(ref)}
    return {**resumed.unkept, **written} if resumed is not None else written


def _has_changed_anything(attempt: Attempt) -> bool:
    resumed = attempt.plan.resumed
    unkept = resumed.unkept if resumed is not None else {}
    kept = resumed.record.objects if resumed is not None else ()
    return any(one.changed for one in attempt.ledger.written.values()) or any(
        one.changes for one in kept if one.ref in unkept
    )


def _objects_at_the_end(attempt: Attempt) -> dict[Ref, LiveObject]:
    """Return each object as this attempt leaves it, except those that others have taken over."""
    left = _collect_written(attempt)
    left.update(attempt.ledger.restored)
    others = {*attempt.interference.departures, *attempt.ledger.left_alone, *attempt.ledger.deleted}
    return {ref: live for ref, live in left.items() if ref not in others and _stands(attempt, ref)}


def _members(attempt: Attempt, judged: JudgedVersion) -> FrozenMap[Ref, str]:
    """Return the members of a version, with those whose verified state is not known.

    An object that somebody else had changed or deleted by the end stood beside what was verified,
    in a state that this attempt did not write. It is remembered as `NOTHING`, so that no older
    version of it is mistaken for this one's.
    """
    changed = {
        ref: NOTHING
        for ref in (*attempt.ledger.written, *attempt.ledger.restored)
        if not is_workload(ref) and not _stands(attempt, ref) and ref not in attempt.ledger.deleted
    }
    return FrozenMap({**judged.members, **changed})


def _stands(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether an object was at the end as this attempt left it, as far as it was read.

    The number of replicas is no part of a version.
    """
    found = attempt.ledger.findings.get(ref)
    if found is None or found.kind in (FindingKind.AS_WRITTEN, FindingKind.UNREAD):
        return True
    return found.kind is FindingKind.CHANGED and found.paths == REPLICAS


def _bodies(objects: Mapping[Ref, LiveObject]) -> Iterator[tuple[str, Body]]:
    """Yield the bodies that a Lease may hold, by digest: no Secrets, no environment values."""
    for ref, live in objects.items():
        body = applied_body(live)
        if body is not None and ref.kind != "Secret":
            yield applied_digest(live), without_values(body)


def _confidential(objects: Mapping[Ref, LiveObject]) -> Iterator[tuple[str, ConfidentialBody]]:
    """Yield, by digest, the whole bodies that `_bodies` leaves out or yields in part."""
    for ref, live in objects.items():
        body = applied_body(live)
        if body is not None and (ref.kind == "Secret" or without_values(body) != body):
            yield applied_digest(live), ConfidentialBody(ref.kind, live.uid, body)


def _replicas(record: Record, ref: Ref) -> int | None:
    """Return the replicas that were applied because the manifest asks for them, None for none."""
    kept = next((one for one in record.objects if one.ref == ref), None)
    if record.command != "apply" or kept is None or kept.autoscaled:
        return None
    if isinstance(kept.expected, Body):
        named = kept.expected.thaw().get("spec", {}).get("replicas")
        return named if isinstance(named, int) else None
    if kept.expected is None or kept.expected.workload is None:
        return None
    owners = owners_of(kept.expected.managed.thaw()["managedFields"], ("spec", "replicas"))
    is_ours = any(manager == FIELD_MANAGER for manager, _ in owners)
    return kept.expected.workload.replicas if is_ours else None


def _find_expected(record: Record, ref: Ref) -> LiveObject | None:
    """Return the dry run's result for an object, as the record has it; None if it has none."""
    expected = next((kept.expected for kept in record.objects if kept.ref == ref), None)
    return expected if isinstance(expected, LiveObject) else None

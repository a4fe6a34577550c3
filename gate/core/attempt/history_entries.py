"""What the history remembers of an attempt that ends, for each workload that it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from gate.core.attempt.check_conclusions import iter_against
from gate.core.attempt.closing_replicas import find_replicas, is_empty
from gate.core.attempt.ending import Ending
from gate.core.attempt.ending_workload import revisions_of, workload_of
from gate.core.attempt.left_objects import (
    collect_left,
    collect_written,
    has_changed_anything,
    iter_bodies,
    iter_confidential,
    members_of,
    stands_as_left,
)
from gate.core.attempt.left_open import is_left_open
from gate.core.attempt.left_version import find_left_version
from gate.core.attempt.record import record_of
from gate.core.attempt.state import Attempt
from gate.core.attempt.version_before import is_same_throughout, stays_as_remembered
from gate.core.attempt.version_failures import (
    find_doubt_of_jobs,
    find_failed_return,
    find_failure,
    has_rollback_failed,
    is_known_failure,
    weigh_standstill,
)
from gate.core.kinds.registry import has_way_back
from gate.core.model.body import Body, FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref, Revision, Template
from gate.core.model.origin import Origin
from gate.core.model.outcome import UNPROVEN, WITHOUT_A_FAILURE, Outcome, Reason
from gate.core.plan.record import Record
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import OnFailure
from gate.core.ssa.applied_fields import applied_digest
from gate.core.versions.history import Closed, Closing
from gate.core.versions.judged_version import JudgedVersion, template_digest

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
        or has_rollback_failed(attempt, ref)
    )
    objects, record = collect_left(attempt), record_of(attempt.plan)
    remembered = FrozenMap(iter_bodies(objects)), FrozenMap(iter_confidential(objects))
    return Closed(
        left_open=is_left_open(attempt),
        workloads=tuple(
            _closing(attempt, record, ref, attempt.result.endings[ref], remembered)
            for ref in written
        ),
        attempt_id=record.attempt_id,
    )


_Remembered = tuple[FrozenMap[str, Body], FrozenMap[str, ConfidentialBody]]
"""The bodies of all objects, for the Lease and for a Secret; every verified version gets them."""


def _closing(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending, remembered: _Remembered
) -> Closing:
    applied = attempt.plan.target_set.applied
    unverified = _find_unverified(attempt, record, ref, ending)
    shown = _find_verified(attempt, record, ref, ending)
    is_doubted = ending.outcome is Outcome.VERIFIED and ref in applied.doubts
    verified = None if is_doubted else shown
    bodies, confidential = remembered if verified is not None else (FrozenMap(), FrozenMap())
    failed_again = _find_failed_again(attempt, record, ref, ending)
    in_doubt = _iter_in_doubt(attempt, ref, unverified)
    judged = tuple(one for one in (*in_doubt, failed_again, verified) if one is not None)
    return Closing(
        ref,
        versions=judged or tuple(_iter_unjudged(attempt, record, ref, ending)),
        bodies=bodies,
        paused=ref in attempt.ledger.patched
        and attempt.plan.policy.response.on_failure is OnFailure.PAUSE,
        replicas=find_replicas(attempt, record, ref),
        confidential=confidential,
        workload=workload_of(attempt, record, ref, shown if is_doubted else None),
        beside=applied.beside,
        left=find_left_version(attempt, record, ref, ending),
    )


def _iter_in_doubt(
    attempt: Attempt, ref: Ref, unverified: JudgedVersion | None
) -> Iterator[JudgedVersion]:
    """Yield what was left unverified, if a check left it once for each that did; its own last."""
    if unverified is None:
        return
    if unverified.is_left_by_check:
        others = (replace(unverified, why=cause) for cause in iter_against(attempt, ref))
        yield from (one for one in others if one.check != unverified.check)
    yield unverified


def _iter_unjudged(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> Iterator[JudgedVersion]:
    """Yield what was written if the end says nothing of it, so that it is known as ours."""
    tried = attempt.ledger.written.get(ref)
    if tried is None or not has_changed_anything(attempt):
        return
    written = collect_written(attempt)
    judged = _make_judged_version(attempt, record, tried.after, written, why=ending.cause)
    if judged is not None and judged.is_unjudged:
        yield judged


def _find_unverified(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> JudgedVersion | None:
    """Return the version that was rolled out if it was not verified, None if it was.

    None, too, for one that somebody else replaced before it had failed: nothing is known of it
    (one that somebody scaled to 0 stays, and is ours), and where a change failed that went back,
    and no version (`is_same_throughout`).
    What is complete is not verified by an attempt whose smoke test failed, or is in doubt.
    """
    tried = attempt.ledger.written.get(ref)
    if tried is not None and not has_changed_anything(attempt):
        return _failed_unchanged(attempt, record, tried.after, ending)
    if tried is not None and not tried.changed:
        return _beside_unchanged(attempt, record, tried.after)
    is_undecided = ending.outcome in _UNDECIDED and not _is_cut_off(attempt, ref)
    is_undecided = is_undecided and not is_known_failure(attempt, ref)
    is_undecided = is_undecided and ending.reason is not Reason.SCALED_TO_ZERO
    doubt = find_doubt_of_jobs(attempt) if ending.outcome is Outcome.VERIFIED else None
    if is_undecided or (ending.outcome is Outcome.VERIFIED and doubt is None):
        return None
    if ending.outcome is Outcome.ROLLED_BACK and is_same_throughout(attempt, ref):
        return None
    live = tried.after if tried is not None else _find_expected(record, ref)
    if live is None or live.workload is None:
        return None
    own = weigh_standstill(attempt, ref, ending)
    why = doubt or find_failure(attempt, ref) or _without_lock(attempt, own)
    written = collect_written(attempt)
    return _make_judged_version(attempt, record, live, {**written, ref: live}, why=_cause_of(why))


def _cause_of(ending: Ending) -> Cause:
    """Return why a version was left; of an interrupted one also what had been found against it."""
    if ending.reason is not Reason.INTERRUPTED or not ending.causes:
        return ending.cause
    found = ending.causes[0]
    text = CleanText(f"{found.reason}: {found.message}; {ending.message}")
    return replace(ending.cause, message=text, seen=found.reason)


def _failed_unchanged(
    attempt: Attempt, record: Record, live: LiveObject, ending: Ending
) -> JudgedVersion | None:
    """Return the version that an attempt which changed nothing left as it was, if its pods failed.

    Neither doubt, nor the failure of another workload, nor that of a check revokes a
    verification: the version ran before and after, so that what a check measures now is the state
    of the world and tells no two versions apart. Of a version that a check left it is the answer.
    """
    is_left = live.ref in attempt.plan.target_set.applied.left_by_check
    if ending.reason is Reason.CHECK_FAILED and not is_left:
        return None
    why = weigh_standstill(attempt, live.ref, ending).cause
    judged = _make_judged_version(attempt, record, live, collect_written(attempt), why=why)
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
    if ending is None or not has_changed_anything(attempt):
        return None
    if _outcomes(attempt) <= set(_DECIDED) and not _is_cut_off(attempt, live.ref):
        return None
    if ending.outcome is Outcome.OBSERVED:
        ending = next(one for one in attempt.result.endings.values() if one.outcome not in _DECIDED)
    written = collect_written(attempt)
    why = _without_lock(attempt, ending).cause
    judged = _make_judged_version(attempt, record, live, written, why=why)
    return replace(judged, template="") if judged is not None else None


def _find_verified(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> JudgedVersion | None:
    """Return the version that was verified, the new one or the one that serves again, or None.

    A version beside a failure, or one of a set that could not be restored whole, is no set to
    return to, nor is one that is `UNPROVEN`. A way back may tell nothing new of what serves again
    (`stays_as_remembered`).
    """
    is_whole = not attempt.writes.refusals and _outcomes(attempt) <= WITHOUT_A_FAILURE
    if not is_whole or is_empty(attempt, ref) or ending.reason in UNPROVEN:
        return None
    live = None
    if ending.outcome is Outcome.VERIFIED and ref in attempt.ledger.written:
        live = attempt.ledger.restored.get(ref) or attempt.ledger.written[ref].after
    elif ending.outcome is Outcome.ROLLED_BACK and not stays_as_remembered(attempt, ref):
        live = attempt.ledger.restored.get(ref)
    if live is None or not applied_digest(live) or not stands_as_left(attempt, ref):
        return None
    judged = _make_judged_version(attempt, record, live, collect_left(attempt))
    return judged if judged is None else replace(judged, members=members_of(attempt, judged))


def _find_failed_again(
    attempt: Attempt, record: Record, ref: Ref, ending: Ending
) -> JudgedVersion | None:
    """Return the version that stands as before and fails all the same, None if it does not."""
    why = find_failed_return(attempt, ref, ending)
    written = attempt.ledger.written.get(ref)
    live = attempt.ledger.restored.get(ref) or (written.after if written is not None else None)
    if why is None or live is None:
        return None
    stands = {
        one: object_
        for one, object_ in collect_left(attempt).items()
        if one not in attempt.ledger.written or not attempt.ledger.written[one].created
    }
    return _make_judged_version(attempt, record, live, stands, why=why.cause)


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
    made = _find_revision(attempt, live.ref, template)
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


def _find_revision(attempt: Attempt, ref: Ref, template: Template) -> Revision | None:
    owned = revisions_of(attempt, ref)
    return next((rs for rs in owned if rs.template.body == template.body), None)


def _find_expected(record: Record, ref: Ref) -> LiveObject | None:
    """Return the dry run's result for an object, as the record has it; None if it has none."""
    expected = next((kept.expected for kept in record.objects if kept.ref == ref), None)
    return expected if isinstance(expected, LiveObject) else None

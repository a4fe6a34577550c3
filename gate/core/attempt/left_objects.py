"""The objects of an attempt as it leaves them, and what may be remembered of their bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gate.core.attempt.last_look import REPLICAS, FindingKind
from gate.core.attempt.state import Attempt
from gate.core.kinds.registry import has_way_back, is_workload
from gate.core.model.body import NOTHING, Body, FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.environment_values import without_values
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.ssa.applied_fields import applied_body, applied_digest
from gate.core.versions.judged_version import JudgedVersion


def collect_written(attempt: Attempt) -> dict[Ref, LiveObject]:
    """Return each object as this attempt, or the dead one that it finishes, wrote it.

    What others have changed since the dead one wrote it is as its record expects it.
    """
    resumed = attempt.plan.resumed
    written = {ref: one.after for ref, one in attempt.ledger.written.items() if has_way_back(ref)}
    if resumed is None:
        return written
    theirs = {
        one.ref: one.expected
        for one in resumed.record.objects
        if one.ref in resumed.left_to_others
        and isinstance(one.expected, LiveObject)
        and one.changes
        and not one.reach.is_unreached
    }
    return {**theirs, **resumed.unkept, **written}


def has_changed_anything(attempt: Attempt) -> bool:
    """Tell whether this attempt, or the dead one that it finishes, changed any object."""
    resumed = attempt.plan.resumed
    unkept = resumed.unkept if resumed is not None else {}
    kept = resumed.record.objects if resumed is not None else ()
    return any(one.changed for one in attempt.ledger.written.values()) or any(
        one.changes for one in kept if one.ref in unkept
    )


def collect_left(attempt: Attempt) -> dict[Ref, LiveObject]:
    """Return each object as this attempt leaves it, except those that others have taken over."""
    left = collect_written(attempt)
    left.update(attempt.ledger.restored)
    others = {
        *attempt.interference.departures,
        *attempt.ledger.left_to_others,
        *attempt.ledger.deleted,
    }
    return {
        ref: live
        for ref, live in left.items()
        if ref not in others and stands_as_left(attempt, ref)
    }


def stands_as_left(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether an object was at the end as this attempt left it, as far as it was read.

    The number of replicas is no part of a version.
    """
    found = attempt.ledger.findings.get(ref)
    if found is None or found.kind in (FindingKind.AS_WRITTEN, FindingKind.UNREAD):
        return True
    return found.kind is FindingKind.CHANGED and found.paths == REPLICAS


def members_of(attempt: Attempt, judged: JudgedVersion) -> FrozenMap[Ref, str]:
    """Return the members of a version, with those whose verified state is not known.

    An object that somebody else had changed or deleted by the end stood beside what was verified,
    in a state that this attempt did not write. It is remembered as `NOTHING`, so that no older
    version of it is mistaken for this one's.
    """
    changed = {
        ref: NOTHING
        for ref in (*attempt.ledger.written, *attempt.ledger.restored)
        if not is_workload(ref)
        and not stands_as_left(attempt, ref)
        and ref not in attempt.ledger.deleted
    }
    return FrozenMap({**judged.members, **changed})


def iter_bodies(objects: Mapping[Ref, LiveObject]) -> Iterator[tuple[str, Body]]:
    """Yield the bodies that a Lease may hold, by digest: no Secrets, no environment values."""
    for ref, live in objects.items():
        body = applied_body(live)
        if body is not None and ref.kind != "Secret":
            yield applied_digest(live), without_values(body)


def iter_confidential(objects: Mapping[Ref, LiveObject]) -> Iterator[tuple[str, ConfidentialBody]]:
    """Yield, by digest, the whole bodies that `iter_bodies` leaves out or yields in part."""
    for ref, live in objects.items():
        body = applied_body(live)
        if body is not None and (ref.kind == "Secret" or without_values(body) != body):
            yield applied_digest(live), ConfidentialBody(ref.kind, live.uid, body)

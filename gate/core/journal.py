"""What an attempt writes down: its record before each leg, its closing at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gate.core.applied_fields import applied_body, applied_digest
from gate.core.attempt import Attempt, Ending
from gate.core.body import NOTHING, Body, FrozenMap
from gate.core.causes import Cause
from gate.core.confidential import ConfidentialBody
from gate.core.effects import FIELD_MANAGER, Verb
from gate.core.env_values import without_values
from gate.core.events import LiveObject
from gate.core.fact import Known
from gate.core.last_look import REPLICAS, FindingKind
from gate.core.machine import Leg
from gate.core.objects import CleanText, Ref, ReplicaSet, Template
from gate.core.origin import Origin
from gate.core.outcome import Outcome, Reason
from gate.core.ownership import owners_of
from gate.core.plan import Plan, PlannedObject, PlannedWrite
from gate.core.policy import OnFailure, OnFirstFailure
from gate.core.record import Followed, Kept, Record
from gate.core.remedy import content
from gate.core.version_history import Closed, Closing, JudgedVersion, template_digest

_LEFT_OPEN: Final = (Outcome.INTERRUPTED, Outcome.LOST_CONTACT)
"""The orderly ends that leave something to be finished."""
_UNDECIDED: Final = (Outcome.SUPERSEDED, Outcome.REFUSED)
"""The ends of a Deployment that say nothing of the version that was written."""
_DECIDED: Final = (Outcome.VERIFIED, Outcome.ROLLED_BACK, *_UNDECIDED)
"""The ends of an attempt after which nothing unverified stands that this attempt wrote."""
_WHOLE: Final = frozenset({Outcome.VERIFIED, Outcome.ROLLED_BACK, Outcome.SUPERSEDED})
"""The ends of an attempt whose verified Deployments stand beside nothing that failed."""


# -- before a leg's writes -------------------------------------------------------------------------


def record_of(plan: Plan) -> Record:
    """Return the journal of an attempt on its way out.

    One that finishes another has that one's, with its own answer to a failure: should it die as
    well, the next one has to take back what it was taking back.
    """
    if plan.resumed is not None:
        found = plan.resumed.record
        policy = replace(found.policy, on_failure=plan.policy.on_failure)
        return replace(found, policy=policy, target_set=plan.target_set)
    writes: dict[Ref, PlannedWrite] = {}
    for write in plan.writes:
        if write.verb is not Verb.TAKE_OVER:
            writes.setdefault(write.ref, write)
    return Record(
        command=plan.command,
        leg=Leg.FORWARD,
        objects=tuple(_kept(one, writes[one.ref]) for one in plan.objects if one.ref in writes),
        followed=tuple(
            Followed(one.ref, one.baseline.value if isinstance(one.baseline, Known) else None)
            for one in plan.targets
        ),
        policy=replace(plan.policy, checks=(), evidence_seconds=0.0),
        checks=tuple(check.name for check in plan.policy.checks if check.decides),
        target_set=plan.target_set,
        origin=plan.origin,
    )


def record_now(attempt: Attempt) -> Record:
    """Return the journal of an attempt as it stands: on the way back it says why."""
    record = record_of(attempt.plan)
    if attempt.leg is Leg.FORWARD:
        return record
    followed = tuple(
        replace(one, why=_found_against(attempt, one.ref) or one.why) for one in record.followed
    )
    return replace(record, leg=Leg.BACK, why=_why(attempt) or record.why, followed=followed)


def _found_against(attempt: Attempt, ref: Ref) -> tuple[Cause, ...]:
    failure = attempt.failures.get(ref)
    return (_told(failure), *failure.causes) if failure is not None else ()


def _why(attempt: Attempt) -> tuple[Cause, ...]:
    led_back = [*attempt.failures.values()]
    led_back += [attempt.why_back] if attempt.why_back is not None else []
    return next(((_told(ending), *ending.causes) for ending in led_back), ())


def _told(ending: Ending) -> Cause:
    return Cause(ending.reason, ending.message)


def _kept(planned: PlannedObject, write: PlannedWrite) -> Kept:
    before = planned.before.value if isinstance(planned.before, Known) else None
    trial = planned.trial
    return Kept(
        planned.ref,
        planned.before,
        replace(trial, resource_version="") if trial is not None else write.body,
        write.field_manager,
        uid=before.uid if before is not None else "",
        resource_version=before.resource_version if before is not None else "",
        changes=before is None or _changes(before, trial, write.body),
        forced=write.force,
        autoscaled=write.autoscaled,
    )


def _changes(before: LiveObject, trial: LiveObject | None, sent: Body) -> bool:
    if trial is not None:
        return content(before.body) != content(trial.body)
    return not contains(sent.thaw(), before.body.thaw())


def contains(sent: Any, live: Any) -> bool:
    """Tell whether `live` has all of a body that was sent, for want of the server's own word.

    Lists of named things are matched by name, others as they stand; null means that nothing is
    there.
    """
    if isinstance(sent, Mapping):
        found = live if isinstance(live, Mapping) else {}
        return all(contains(value, found.get(key)) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(live, list):
        if all(isinstance(one, Mapping) and "name" in one for one in (*sent, *live)):
            named = {one["name"]: one for one in live}
            return all(contains(one, named.get(one["name"])) for one in sent)
        return len(sent) == len(live) and all(map(contains, sent, live))
    return bool(sent == live)


# -- at the end ------------------------------------------------------------------------------------


def closed_of(attempt: Attempt) -> Closed:
    """Return what the end of an attempt leaves to be remembered."""
    written = (ref for ref in attempt.endings if ref in attempt.written or ref in attempt.restored)
    return Closed(
        left_open=is_left_open(attempt),
        deployments=tuple(_closing(attempt, ref, attempt.endings[ref]) for ref in written),
    )


def is_left_open(attempt: Attempt) -> bool:
    """Tell whether an attempt ended with something left to be finished."""
    has_written = attempt.may_have_written or attempt.plan.resumed is not None
    return attempt.ending is not None and attempt.ending.outcome in _LEFT_OPEN and has_written


def _closing(attempt: Attempt, ref: Ref, ending: Ending) -> Closing:
    unverified, verified = _unverified(attempt, ref, ending), _verified(attempt, ref, ending)
    objects = _objects_at_the_end(attempt) if verified is not None else {}
    return Closing(
        ref,
        versions=tuple(one for one in (unverified, verified) if one is not None),
        bodies=FrozenMap(_bodies(objects)),
        paused=ref in attempt.patched and attempt.plan.policy.on_failure is OnFailure.PAUSE,
        scaled_down=_is_scaled_down(attempt, ref),
        replicas=_replicas(attempt, ref) if ref not in attempt.restored else None,
        confidential=FrozenMap(_confidential(objects)),
        uid=_uid(attempt, ref),
        beside=attempt.plan.target_set.beside,
    )


def _is_scaled_down(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether this attempt scaled a first version that failed to 0."""
    policy = attempt.plan.policy
    return (
        ref in attempt.patched
        and policy.on_failure is not OnFailure.PAUSE
        and policy.on_first_failure is OnFirstFailure.SCALE_TO_ZERO
    )


def _uid(attempt: Attempt, ref: Ref) -> str:
    written = attempt.written.get(ref)
    live = attempt.restored.get(ref) or (written.after if written is not None else None)
    return live.uid if live is not None else ""


def _unverified(attempt: Attempt, ref: Ref, ending: Ending) -> JudgedVersion | None:
    """Return the version that was rolled out where it was not verified, None where it was.

    Of one that somebody else replaced in time nobody can say anything.
    """
    tried = attempt.written.get(ref)
    if tried is not None and not tried.changed:
        return _beside_unchanged(attempt, tried.after)
    if ending.outcome in _UNDECIDED or ending.outcome is Outcome.VERIFIED:
        return None
    live = tried.after if tried is not None else _expected(attempt, ref)
    if live is None or live.deployment is None:
        return None
    why = _failure(attempt, ref) or ending
    written = {one: object_.after for one, object_ in attempt.written.items()}
    return _judged(attempt, live, {**written, ref: live}, why=_told(why))


def _beside_unchanged(attempt: Attempt, live: LiveObject) -> JudgedVersion | None:
    """Return what stands unverified beside a Deployment that did not change; None for nothing."""
    ending = attempt.ending
    changed = any(object_.changed for object_ in attempt.written.values())
    if ending is None or not changed or _outcomes(attempt) <= set(_DECIDED):
        return None
    if ending.outcome is Outcome.OBSERVED:
        ending = next(one for one in attempt.endings.values() if one.outcome not in _DECIDED)
    written = {one: object_.after for one, object_ in attempt.written.items()}
    judged = _judged(attempt, live, written, why=_told(ending))
    return replace(judged, template="") if judged is not None else None


def _verified(attempt: Attempt, ref: Ref, ending: Ending) -> JudgedVersion | None:
    """Return the version that was verified: the new one, or the one that serves again.

    What stands beside a failure, or of a set that could not be restored whole, is no set to
    return to. With 0 replicas nothing was shown to work.
    """
    if attempt.refusals or not _outcomes(attempt) <= _WHOLE or _is_empty(attempt, ref):
        return None
    live = None
    if ending.outcome is Outcome.VERIFIED and ref in attempt.written:
        live = attempt.restored.get(ref) or attempt.written[ref].after
    elif ending.outcome is Outcome.ROLLED_BACK:
        live = attempt.restored.get(ref)
    if live is None or not applied_digest(live) or not _stands(attempt, ref):
        return None
    judged = _judged(attempt, live, _objects_at_the_end(attempt))
    return judged if judged is None else replace(judged, members=_members(attempt, judged))


def _outcomes(attempt: Attempt) -> set[Outcome]:
    """Return how an attempt ended in all; of one that only observed how each Deployment did."""
    whole = attempt.ending.outcome if attempt.ending is not None else Outcome.INTERNAL_ERROR
    if whole is not Outcome.OBSERVED:
        return {whole}
    return {one.outcome for one in attempt.endings.values()}


def _is_empty(attempt: Attempt, ref: Ref) -> bool:
    rollout = attempt.rollouts.get(ref)
    live = rollout.snapshot.live if rollout is not None else None
    return live is not None and live.replicas == 0


def _judged(
    attempt: Attempt, live: LiveObject, objects: Mapping[Ref, LiveObject], why: Cause | None = None
) -> JudgedVersion | None:
    """Return a version of a Deployment, None where nobody knows its ReplicaSet or its fields."""
    if live.deployment is None:
        return None
    template = live.deployment.template
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
        origin=_origin(attempt, live),
    )


def _origin(attempt: Attempt, live: LiveObject) -> Origin | None:
    """Return where a version came from, None where it is not a manifest of this attempt."""
    record = record_of(attempt.plan)
    serves_again = attempt.restored.get(live.ref) is live
    return record.origin if record.command == "apply" and not serves_again else None


def _replica_set(attempt: Attempt, ref: Ref, template: Template) -> ReplicaSet | None:
    rollout = attempt.rollouts.get(ref) or attempt.followed_before.get(ref)
    owned = rollout.snapshot.owned() if rollout is not None else ()
    return next((rs for rs in owned if rs.template.body == template.body), None)


def _objects_at_the_end(attempt: Attempt) -> dict[Ref, LiveObject]:
    """Return each object as this attempt leaves it, without what somebody else has taken over."""
    left = {ref: written.after for ref, written in attempt.written.items()}
    left.update(attempt.restored)
    others = {*attempt.departures, *attempt.left_alone, *attempt.deleted}
    return {ref: live for ref, live in left.items() if ref not in others and _stands(attempt, ref)}


def _members(attempt: Attempt, judged: JudgedVersion) -> FrozenMap[Ref, str]:
    """Return the members of a version, with those of which nobody knows what it needs.

    What somebody else had changed or deleted by the end stood beside what was verified, in a
    state that this attempt did not write. It is remembered as `NOTHING`, so that no older version
    of it is taken for this one's.
    """
    changed = {
        ref: NOTHING
        for ref in (*attempt.written, *attempt.restored)
        if ref.kind != "Deployment" and not _stands(attempt, ref) and ref not in attempt.deleted
    }
    return FrozenMap({**judged.members, **changed})


def _stands(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether an object stood at the end as this attempt left it, for all that was read.

    The number of replicas is no part of a version.
    """
    found = attempt.findings.get(ref)
    if found is None or found.kind in (FindingKind.AS_WRITTEN, FindingKind.UNREAD):
        return True
    return found.kind is FindingKind.CHANGED and found.paths == REPLICAS


def _bodies(objects: Mapping[Ref, LiveObject]) -> Iterator[tuple[str, Body]]:
    """Yield what may be remembered of objects: of Secrets nothing, of pods no environment."""
    for ref, live in objects.items():
        body = applied_body(live)
        if body is not None and ref.kind != "Secret":
            yield applied_digest(live), without_values(body)


def _confidential(objects: Mapping[Ref, LiveObject]) -> Iterator[tuple[str, ConfidentialBody]]:
    """Yield the whole bodies of which `_bodies` yields nothing or a part."""
    for ref, live in objects.items():
        body = applied_body(live)
        if body is not None and (ref.kind == "Secret" or without_values(body) != body):
            yield applied_digest(live), ConfidentialBody(ref.kind, live.uid, body)


def _replicas(attempt: Attempt, ref: Ref) -> int | None:
    """Return how many replicas were applied because the manifest asked for them."""
    record = record_of(attempt.plan)
    kept = next((one for one in record.objects if one.ref == ref), None)
    if record.command != "apply" or kept is None or kept.autoscaled:
        return None
    if isinstance(kept.expected, Body):
        named = kept.expected.thaw().get("spec", {}).get("replicas")
        return named if isinstance(named, int) else None
    if kept.expected is None or kept.expected.deployment is None:
        return None
    owners = owners_of(kept.expected.managed.thaw()["managedFields"], ("spec", "replicas"))
    is_ours = any(manager == FIELD_MANAGER for manager, _ in owners)
    return kept.expected.deployment.replicas if is_ours else None


def _expected(attempt: Attempt, ref: Ref) -> LiveObject | None:
    """Return what an attempt that died was to make of an object, None where nobody knows."""
    record = record_of(attempt.plan)
    expected = next((kept.expected for kept in record.objects if kept.ref == ref), None)
    return expected if isinstance(expected, LiveObject) else None


def _failure(attempt: Attempt, ref: Ref) -> Ending | None:
    """Return why a Deployment's version failed; the end of a gate is no failure of a version."""
    resumed = attempt.plan.resumed
    if resumed is None or not resumed.record.why or len(resumed.record.followed) > 1:
        return attempt.failures.get(ref)
    why = attempt.why_back
    return why if why is not None and why.reason is not Reason.INTERRUPTED else None

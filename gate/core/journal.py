"""What an attempt writes down: its record before each leg, its closing at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gate.core.attempt import Attempt, Ending
from gate.core.baseline import Baseline
from gate.core.body import Body
from gate.core.causes import Cause
from gate.core.effects import Verb
from gate.core.events import LiveObject
from gate.core.fact import Known
from gate.core.fields import extract
from gate.core.machine import Leg
from gate.core.objects import Ref
from gate.core.outcome import Outcome, Reason
from gate.core.ownership import owned_fields
from gate.core.plan import Plan, PlannedObject, PlannedWrite
from gate.core.policy import OnFailure
from gate.core.record import Closed, Closing, Followed, Kept, Record
from gate.core.remedy import content

_LEFT_OPEN: Final = (Outcome.INTERRUPTED, Outcome.LOST_CONTACT)
"""The orderly ends that leave something to be finished."""


# -- before a leg's writes -------------------------------------------------------------------------


def record_of(plan: Plan) -> Record:
    """Return the journal of an attempt on its way out; one that finishes another has that one's."""
    if plan.resumed is not None:
        return plan.resumed.record
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
    )


def record_now(attempt: Attempt) -> Record:
    """Return the journal of an attempt as it stands: on the way back it says why."""
    record = record_of(attempt.plan)
    if attempt.leg is Leg.FORWARD:
        return record
    return replace(record, leg=Leg.BACK, why=_why(attempt) or record.why)


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
    ending = attempt.ending
    has_written = attempt.may_have_written or attempt.plan.resumed is not None
    written = (ref for ref in attempt.endings if ref in attempt.written or ref in attempt.restored)
    return Closed(
        left_open=ending is not None and ending.outcome in _LEFT_OPEN and has_written,
        deployments=tuple(_closing(attempt, ref, attempt.endings[ref]) for ref in written),
    )


def _closing(attempt: Attempt, ref: Ref, ending: Ending) -> Closing:
    failed = _failure(attempt, ref)
    went_back = failed is not None and ref in attempt.restored
    return Closing(
        ref,
        verified=_verified(attempt, ref, ending.outcome),
        rolled_back=_template(attempt, ref) if went_back else "",
        why=_told(failed) if failed is not None else None,
        paused=ref in attempt.patched and attempt.plan.policy.on_failure is OnFailure.PAUSE,
    )


def _template(attempt: Attempt, ref: Ref) -> str:
    """Return the digest of the pod template that was rolled out, "" where nobody knows it."""
    written, record = attempt.written.get(ref), record_of(attempt.plan)
    expected = next((kept.expected for kept in record.objects if kept.ref == ref), None)
    live = written.after if written is not None else expected
    made = live.deployment if isinstance(live, LiveObject) else None
    return made.template.body.digest if made is not None else ""


def _failure(attempt: Attempt, ref: Ref) -> Ending | None:
    """Return why a Deployment's version failed; the end of a gate is no failure of a version."""
    resumed = attempt.plan.resumed
    if resumed is None or not resumed.record.why or len(resumed.record.followed) > 1:
        return attempt.failures.get(ref)
    why = attempt.why_back
    return why if why is not None and why.reason is not Reason.INTERRUPTED else None


def _verified(attempt: Attempt, ref: Ref, outcome: Outcome) -> Baseline | None:
    """Return the version that was verified: the new one, or the one that serves again."""
    if outcome is Outcome.VERIFIED and ref in attempt.written:
        return _version(attempt, ref, attempt.written[ref].after)
    if outcome is Outcome.ROLLED_BACK and ref in attempt.restored:
        return _version(attempt, ref, attempt.restored[ref])
    return None


def _version(attempt: Attempt, ref: Ref, live: LiveObject) -> Baseline | None:
    """Return a version with what our manager applied of it, None where that is nothing."""
    fields = owned_fields(live.managed.thaw()["managedFields"])
    rollout = attempt.rollouts.get(ref)
    current = rollout.snapshot.current() if rollout is not None else None
    if live.deployment is None or current is None or not fields:
        return None
    applied = extract(live.body.thaw(), fields)
    named = {"name": ref.name, "namespace": ref.namespace}
    body = {
        **applied,
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {**applied.get("metadata", {}), **named},
    }
    template = live.deployment.template
    return Baseline(current.name, current.revision, template, applied=Body.of(body))

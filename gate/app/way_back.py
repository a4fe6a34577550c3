"""Asks before the first write whether the server would take the objects of an attempt back.

What one-way changes there are is told by a table (`gate.core.one_way`). Beside it the server is
asked for each object that changes: the apply that would restore it, as a dry run. That compares
with the object as it still is, so it tells of admission and validation, not of transitions: a
version that a policy has come to forbid since, for one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gate.app.preflight import NO_DRY_RUN, Warn
from gate.app.session import Session
from gate.core.body import Body, FrozenMap
from gate.core.claims import claims_for_apply
from gate.core.effects import Verb, Write
from gate.core.events import LiveObject
from gate.core.fact import Known
from gate.core.objects import Ref
from gate.core.outcome import Reason
from gate.core.plan import Plan, PlannedObject, PlannedWrite
from gate.core.remedy import WrittenObject, irreversible, writes_back
from gate.core.unions import without_unions
from gate.errors import RefusedError
from gate.kube.failures import Forbidden, NotFound, Rejected
from gate.kube.writes import Writer
from gate.side_by_side import each


@dataclass(frozen=True, slots=True)
class _Tried:
    """The apply that would restore an object, and the object as it is."""

    write: PlannedWrite
    live: LiveObject


def with_way_back(session: Session, plan: Plan, *, allowed: bool, warn: Warn) -> Plan:
    """Return the plan with what a failure could not take back.

    Raises RefusedError, `Irreversible`, where there is such an object and it is not `allowed`.
    """
    written = _as_written(plan)
    stays: Mapping[Ref, str] = {
        **irreversible(plan, written, frozenset()),
        **_refused(session, plan, written),
    }
    if not stays:
        return plan
    if not allowed:
        raise _refusal(plan, stays)
    for ref, why in stays.items():
        warn(f"a failure cannot take {ref} back: {why}")
    objects = tuple(replace(one, irreversible=stays.get(one.ref, "")) for one in plan.objects)
    return replace(plan, objects=objects)


def _as_written(plan: Plan) -> FrozenMap[Ref, WrittenObject]:
    """Return what the attempt would have written, as far as the server could tell."""
    applies = {write.ref: write for write in plan.writes if write.verb is Verb.APPLY}
    return FrozenMap(
        (one.ref, written)
        for one in plan.objects
        if (written := _written(one, applies.get(one.ref))) is not None
    )


def _written(one: PlannedObject, write: PlannedWrite | None) -> WrittenObject | None:
    if one.trial is None or write is None:
        return None
    before = one.before.value if isinstance(one.before, Known) else None
    return WrittenObject(before, one.trial, write.force, write.autoscaled, write.field_manager)


def _refused(session: Session, plan: Plan, written: Mapping[Ref, WrittenObject]) -> dict[Ref, str]:
    """Ask the server; return what it refuses, with its words."""
    writes = writes_back(plan, written, frozenset(), frozenset(written))
    tried = [
        _Tried(write, before)
        for write in writes
        if write.verb is Verb.APPLY and (before := plan.before(write.ref)) is not None
    ]
    writer = Writer(session.client, session.resources, session.clock)
    answers = each(session.clock, lambda one: _answer(writer, one), tried)
    return {one.write.ref: answer for one, answer in zip(tried, answers, strict=True) if answer}


def _answer(writer: Writer, tried: _Tried) -> str:
    """Return why the server would not take an object back; forced, for its owners will differ."""
    write, uid = tried.write, tried.live.uid
    body = _body_of_trial(tried)
    trial = Write(0, write.ref, write.verb, body, uid, None, write.field_manager, force=True)
    try:
        writer.dry_run(trial)
    except (Rejected, Forbidden, NotFound) as error:
        return "" if NO_DRY_RUN in error.message else error.message
    return ""


def _body_of_trial(tried: _Tried) -> Body:
    """Return what is tried: without the unions that the rollback makes ours before its apply.

    A dry run cannot change ownership first, and would refuse what the claims make possible.
    """
    body, live = tried.write.body.thaw(), tried.live
    managed = live.managed.thaw()["managedFields"]
    if claims_for_apply(body, live.body.thaw(), managed) is None:
        return tried.write.body
    return Body.of(without_unions(body))


def _refusal(plan: Plan, stays: Mapping[Ref, str]) -> RefusedError:
    listed = "; ".join(f"{ref}: {why}" for ref, why in stays.items())
    return RefusedError(
        f"a failure could not take everything back: {listed}",
        reason=Reason.IRREVERSIBLE,
        hint=_HINT_OF_UNDO if plan.command == "undo" else _hint(stays),
    )


_HINT_OF_UNDO: Final = (
    "return to it all the same, and repair a failure by hand: --allow-irreversible; "
    "or return the pod template alone: --deployment-only"
)


def _hint(stays: Collection[Ref]) -> str:
    if {ref.kind for ref in stays} <= {"ConfigMap", "Secret"}:
        return (
            "give the new version a name of its own, so that the old one stays; "
            "or apply it all the same: --allow-irreversible"
        )
    return "apply it all the same, and repair a failure by hand: --allow-irreversible"

"""Asks before the first write whether the server would accept the writes of the way back.

A table says which changes are one-way (`gate.core.ssa.irreversible_changes`). In addition the
server gets, as a dry run, the apply that would restore each changing object. That is compared with
the object as it still is, so it tests admission and validation, not transitions: for example, it
finds a version that a policy has forbidden since.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gate.app.preflight.trials import NO_DRY_RUN, Warn
from gate.app.runtime.session import Session
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject, irreversible, is_of_template, writes_back
from gate.core.protocol.effects import Write
from gate.core.ssa.unions import without_unions
from gate.core.ssa.unowned_fields import claims_for_apply
from gate.errors import RefusedError
from gate.kube.failures import FieldManagerConflict, Forbidden, NotFound, Rejected
from gate.kube.writes import Writer
from gate.report.words.attempt_advice import managers_in, take_over_flags
from gate.side_by_side import each


@dataclass(frozen=True, slots=True)
class _Tried:
    """The apply that would restore an object, and the object as it is."""

    write: PlannedWrite
    live: LiveObject


def with_way_back(
    session: Session,
    plan: Plan,
    *,
    allowed: bool,
    warn: Warn,
    trials: Mapping[Ref, LiveObject] | None = None,
) -> Plan:
    """Return the plan, its objects marked that a failure could not take back.

    `trials` are dry-run results that the plan does not have. Raises RefusedError (`Irreversible`)
    if there is such an object and that is not `allowed`.
    """
    written = _as_written(plan, trials or {})
    stays: Mapping[Ref, str] = {
        **irreversible(plan, written, frozenset()),
        **_find_refusals(session, plan, written),
    }
    if not stays:
        return plan
    if not allowed:
        raise _refusal(plan, stays)
    for ref, why in stays.items():
        warn(f"a failure cannot take {plan.name_of(ref)} back: {why}")
    objects = tuple(replace(one, irreversible=stays.get(one.ref, "")) for one in plan.objects)
    return replace(plan, objects=objects)


def _as_written(plan: Plan, trials: Mapping[Ref, LiveObject]) -> FrozenMap[Ref, WrittenObject]:
    """Return what the attempt would have written, as far as the dry runs show."""
    applies = {write.ref: write for write in plan.writes if write.verb is Verb.APPLY}
    return FrozenMap(
        (one.ref, written)
        for one in plan.objects
        if (written := _predict_written(one, applies.get(one.ref), trials.get(one.ref, one.trial)))
        is not None
    )


def _predict_written(
    one: PlannedObject, write: PlannedWrite | None, trial: LiveObject | None
) -> WrittenObject | None:
    """Return an object as it will be; one that the attempt does not apply stays as it is."""
    before = one.before.value if isinstance(one.before, Known) else None
    if write is None:
        return WrittenObject(before, before) if before is not None else None
    if trial is None:
        return None
    return WrittenObject(before, trial, write.force, write.autoscaled, write.field_manager)


def _find_refusals(
    session: Session, plan: Plan, written: Mapping[Ref, WrittenObject]
) -> dict[Ref, str]:
    """Ask the server; return what it refuses, with its messages."""
    writes = writes_back(plan, written, frozenset(), frozenset(written))
    tried = [
        _Tried(write, before)
        for write in writes
        if write.verb is Verb.APPLY and (before := plan.before(write.ref)) is not None
    ]
    writer = Writer(session.client, session.resources, session.clock)
    ours = {w.ref for w in plan.writes if (w.verb, w.field_manager) == (Verb.APPLY, FIELD_MANAGER)}
    answers = each(session.clock, lambda one: _answer(writer, one, ours), tried)
    return {one.write.ref: answer for one, answer in zip(tried, answers, strict=True) if answer}


def _answer(writer: Writer, tried: _Tried, ours: Collection[Ref]) -> str:
    """Return why the server would refuse to restore an object, "" if it would not.

    What the attempt applies will be `ours`: its owners will have changed by then, so it is tried
    with force. For others a conflict counts only in the pod template: a return leaves the fields of
    other managers alone otherwise.
    """
    write, uid = tried.write, tried.live.uid
    body, force = _body_of_trial(tried), write.ref in ours or write.force
    trial = Write(0, write.ref, write.verb, body, uid, None, write.field_manager, force=force)
    try:
        writer.dry_run(trial)
    except FieldManagerConflict as error:
        paths = (one.path.lstrip(".") for one in error.conflicts)
        return error.message if any(map(is_of_template, paths)) else ""
    except (Rejected, Forbidden, NotFound) as error:
        return "" if NO_DRY_RUN in error.message else error.message
    return ""


def _body_of_trial(tried: _Tried) -> Body:
    """Return the body to try: without the unions that the rollback makes ours before its apply.

    A dry run cannot change ownership first, and would refuse what the claims make possible.
    """
    body, live = tried.write.body.thaw(), tried.live
    managed = live.managed.thaw()["managedFields"]
    if claims_for_apply(body, live.body.thaw(), managed) is None:
        return tried.write.body
    return Body.of(without_unions(body))


def _refusal(plan: Plan, stays: Mapping[Ref, str]) -> RefusedError:
    listed = "; ".join(f"{plan.name_of(ref)}: {why}" for ref, why in stays.items())
    return RefusedError(
        f"a failure could not take everything back: {listed}",
        reason=Reason.IRREVERSIBLE,
        hint=f"{_apply_instead(plan, stays)}{_HINTS.get(plan.command) or _hint(stays)}",
    )


def _apply_instead(plan: Plan, stays: Mapping[Ref, str]) -> str:
    """Advise the apply that takes over what others own, before a command that cannot; else ""."""
    managers = [name for why in stays.values() for name in managers_in(why)]
    if plan.command not in _APPLY_FLAGS or not managers:
        return ""
    flags = shlex.join([*_APPLY_FLAGS[plan.command], *take_over_flags(managers)])
    return f"apply the manifest of what should run with {flags}; or "


_GO_ON: Final = "go on all the same, and repair a failure by hand: --allow-irreversible"
_HINTS: Final = {
    "undo": (
        "return to it all the same, and repair a failure by hand: --allow-irreversible; "
        "or return the pod template alone: --deployment-only"
    ),
    "restart": _GO_ON,
    "resume": _GO_ON,
}
"""By command; an apply has other hints."""
_APPLY_FLAGS: Final[Mapping[str, tuple[str, ...]]] = {"restart": (), "resume": ("--resume",)}
"""What an apply needs to do the same as a command that has no `--take-over`."""


def _hint(stays: Collection[Ref]) -> str:
    if {ref.kind for ref in stays} <= {"ConfigMap", "Secret"}:
        return (
            "give the new version a name of its own, so that the old one stays; "
            "or apply it all the same: --allow-irreversible"
        )
    return "apply it all the same, and repair a failure by hand: --allow-irreversible"

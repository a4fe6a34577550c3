"""Asks before the first write whether the server would accept the writes of the way back.

A table says which changes are one-way (`gate.core.ssa.irreversible_changes`). In addition the
server gets, as a dry run, the apply that would restore each changing object. That is compared with
the object as it still is, so it tests admission and validation, not transitions: for example, it
finds a version that a policy has forbidden since. Who will own which field once the attempt has
written is known from the dry run of that write, and so is what others keep of a pod template.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from gate.app.preflight.trials import NO_DRY_RUN
from gate.app.runtime.console import Warn
from gate.app.runtime.session import Session
from gate.core.frozen import dataclass
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject, irreversible, is_of_template, writes_back
from gate.core.protocol.effects import Write
from gate.core.ssa.held_fields import fields_kept_back
from gate.core.ssa.managed_fields import select_retained
from gate.core.ssa.unions import without_unions
from gate.core.ssa.unowned_fields import claims_for_apply
from gate.errors import RefusedError
from gate.kube.answers.failures import ApiError, Forbidden, NotFound, Rejected
from gate.kube.writes.writes import Writer
from gate.report.advice.takeover import take_over_flags
from gate.side_by_side import each

Held = Mapping[str, tuple[str, ...]]
"""Paths of fields, by the manager that owns them."""


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

    `trials` are dry-run results that the plan does not have. Raises RefusedError (`Irreversible`,
    or `Forbidden` where a right is missing) if there is such an object and that is not `allowed`.
    """
    written = _as_written(plan, trials or {})
    writes = _list_applies(plan, written)
    held = {write.ref: _find_held(plan, written, write) for write in writes}
    templates = {ref: one for ref, held_ in held.items() if (one := _select(held_, is_of_template))}
    refusals = _find_refusals(session, plan, writes)
    missing = next((one for one in refusals.values() if isinstance(one, Forbidden)), None)
    if missing is not None and not allowed:
        raise missing  # a role mends it: nothing of the change is one-way
    stays: Mapping[Ref, str] = {
        **irreversible(plan, written, frozenset()),
        **{ref: f"{_OWNED}: {_name_held(found)}" for ref, found in templates.items()},
        **{ref: error.message for ref, error in refusals.items()},
    }
    for ref, found in held.items():
        if rest := _select(found, _is_left_to_others):
            warn(f"a failure leaves of {plan.name_of(ref)} what others own: {_name_held(rest)}")
    if not stays:
        return plan
    if not allowed:
        raise _refusal(plan, stays, {manager for found in templates.values() for manager in found})
    for ref, why in stays.items():
        warn(f"a failure cannot take {plan.name_of(ref)} back: {why}")
    objects = tuple(replace(one, irreversible=stays.get(one.ref, "")) for one in plan.objects)
    return replace(plan, objects=objects)


def _as_written(plan: Plan, trials: Mapping[Ref, LiveObject]) -> FrozenMap[Ref, WrittenObject]:
    """Return what the attempt would have written, as far as the dry runs show."""
    applies = {write.ref: write for write in plan.writes if write.verb is Verb.APPLY}
    taken = {write.ref: write.body for write in plan.writes if write.verb is Verb.TAKE_OVER}
    found: dict[Ref, WrittenObject] = {}
    for one in plan.objects:
        trial = trials.get(one.ref, one.trial)
        if trial is not None and one.ref in taken:
            trial = _without_taken_over(trial, taken[one.ref])
        written = _predict_written(one, applies.get(one.ref), trial)
        if written is not None:
            found[one.ref] = written
    return FrozenMap(found)


def _without_taken_over(trial: LiveObject, taken: Body) -> LiveObject:
    """Return a dry run's result as it will be after the take-over that comes before the apply."""
    left, managed = (one.thaw()["managedFields"] for one in (taken, trial.managed))
    return replace(trial, managed=Body.of({"managedFields": select_retained(managed, left)}))


def _predict_written(
    one: PlannedObject, write: PlannedWrite | None, trial: LiveObject | None
) -> WrittenObject | None:
    """Return an object as it will be; one that the attempt does not apply stays as it is."""
    before = one.before.value if isinstance(one.before, Known) else None
    if write is None:
        return WrittenObject(before, before) if before is not None else None
    if trial is None:
        return None
    return WrittenObject(before, trial, write.force, write.scaler, write.field_manager)


def _list_applies(plan: Plan, written: FrozenMap[Ref, WrittenObject]) -> list[PlannedWrite]:
    """Return the applies of the way back to what there was before the attempt."""
    writes = writes_back(plan, written, frozenset(), frozenset(written))
    return [one for one in writes if one.verb is Verb.APPLY and plan.before(one.ref) is not None]


def _find_held(plan: Plan, written: Mapping[Ref, WrittenObject], back: PlannedWrite) -> Held:
    """Return what others would keep of what goes back; a run that forces leaves them nothing."""
    one, before = written[back.ref], plan.before(back.ref)
    if plan.policy.response.force_conflicts or back.force or before is None:
        return {}
    ours = {one.field_manager, back.field_manager}
    return fields_kept_back(one.after, back.body, _predict_wanted(plan, back, before), ours)


def _predict_wanted(plan: Plan, back: PlannedWrite, before: LiveObject) -> dict[str, Any]:
    """Return what an object is to be after the way back, replicas aside, which need not return."""
    wanted = before.body.thaw()
    if back.ref in plan.target_set.bodies:
        wanted = back.body.thaw()
        baselines = (one.baseline for one in plan.targets if one.ref == back.ref)
        for baseline in baselines:
            if isinstance(baseline, Known):
                wanted["spec"]["template"] = baseline.value.template.body.thaw()
    return wanted


def _find_refusals(
    session: Session, plan: Plan, writes: Iterable[PlannedWrite]
) -> dict[Ref, ApiError]:
    """Ask the server whether it accepts the applies of the way back; return why it does not."""
    tried = [
        _Tried(write, before) for write in writes if (before := plan.before(write.ref)) is not None
    ]
    writer = Writer(session.client, session.resources, session.clock)
    answers = each(session.clock, lambda one: _answer(writer, one), tried)
    return {
        one.write.ref: refusal
        for one, refusal in zip(tried, answers, strict=True)
        if refusal is not None
    }


def _answer(writer: Writer, tried: _Tried) -> ApiError | None:
    """Return why the server would refuse to restore an object, None if it would not.

    It is tried with force: who owns the fields then is known otherwise.
    """
    write, uid = tried.write, tried.live.uid
    body = _body_of_trial(tried)
    trial = Write(0, write.ref, write.verb, body, uid, None, write.field_manager, force=True)
    try:
        writer.dry_run(trial)
    except (Rejected, Forbidden, NotFound) as error:
        return None if NO_DRY_RUN in error.message else error
    return None


def _body_of_trial(tried: _Tried) -> Body:
    """Return the body to try: without the unions that the rollback makes ours before its apply.

    A dry run cannot change ownership first, and would refuse what the claims make possible.
    """
    body, live = tried.write.body.thaw(), tried.live
    managed = live.thaw_managed_fields()
    if claims_for_apply(body, live.body.thaw(), managed) is None:
        return tried.write.body
    return Body.of(without_unions(body))


def _select(held: Held, takes: Callable[[str], bool]) -> Held:
    taken = ((manager, tuple(filter(takes, paths))) for manager, paths in held.items())
    return {manager: paths for manager, paths in taken if paths}


def _is_left_to_others(path: str) -> bool:
    """Tell whether a way back leaves a field as others have it, and that is worth a word."""
    return not is_of_template(path) and path != "spec.replicas"


def _name_held(held: Held) -> str:
    return ", ".join(f"{path} ({manager})" for manager, paths in held.items() for path in paths)


def _refusal(plan: Plan, stays: Mapping[Ref, str], managers: Collection[str]) -> RefusedError:
    listed = "; ".join(f"{plan.name_of(ref)}: {why}" for ref, why in stays.items())
    return RefusedError(
        f"a failure could not take everything back: {listed}",
        reason=Reason.IRREVERSIBLE,
        hint=f"{_taking_over(plan, sorted(managers))}{_HINTS.get(plan.command) or _hint(stays)}",
    )


def _taking_over(plan: Plan, managers: Collection[str]) -> str:
    """Advise how to take over what others own, "" if they own nothing that matters."""
    if not managers:
        return ""
    flags = take_over_flags(managers)
    if plan.command in _APPLY_FLAGS:
        words = shlex.join([*_APPLY_FLAGS[plan.command], *flags])
        return f"apply the manifest of what should run with {words}; or "
    return (
        f"take them over for good: add {shlex.join(flags)}; or overwrite them this once:"
        " add --force-conflicts; or "
    )


_OWNED: Final = "the way back has to change fields that others own"
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

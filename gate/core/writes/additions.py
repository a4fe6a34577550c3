"""What others set in an object just before our write, beside what the write sets.

In a workload a reloader does that as soon as the configuration of a version is written; in other
objects it may be anybody with fields of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.core.attempt.state import Attempt
from gate.core.model.body import contains
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import content
from gate.core.ssa.field_set import Fields, descend, select_changed, union
from gate.core.ssa.managed_fields import owned_fields
from gate.core.writes.recreation import find_before
from gate.core.writes.take_over import as_taken_over, find_taken

_TEMPLATE = ("spec", "template")


def is_left(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether all that others changed in an object since the preflight is left to them.

    That is what `is_beside` says of the apply of a workload, and `has_only_others_changes` of that
    of any other object, for what it takes over as well. A workload that is not written any more is
    held against what was there before, if no dry run tells what it was to be. A write that rolls
    out what is there, as `restart` and `resume` do, leaves what is added to the template, and
    every field of the spec beside what it sets.
    """
    live, before = attempt.ledger.live.get(ref), find_before(attempt, ref)
    writes = [one for one in attempt.plan.writes if one.ref == ref]
    if live is None or before is None or any(one.verb is Verb.DELETE for one in writes):
        return False
    is_applied = any(
        one.verb is Verb.APPLY and one.field_manager == FIELD_MANAGER for one in writes
    )
    if writes and not is_applied:
        return all(_rolls_out_the_same(one, before, live) for one in writes)
    trial = attempt.plan.trial(ref)
    is_given_up = attempt.course.leg is Leg.BACK or attempt.writes.rejection is not None
    if trial is None and is_given_up:
        trial = before
    for one in writes:
        if one.verb is Verb.TAKE_OVER:
            managers = find_taken(one, before)
            before, live = (as_taken_over(each, managers) for each in (before, live))
    if before.workload is None:
        return has_only_others_changes(FIELD_MANAGER, trial, before, live)
    return is_beside(FIELD_MANAGER, trial, before, live)


def find_met(attempt: Attempt, ref: Ref) -> LiveObject | None:
    """Return what a write met, if nothing but what others set beside it came since the preflight.

    The same as our write would leave may be that of a gate that died: this attempt takes it back.
    """
    live = attempt.ledger.live.get(ref)
    if live is None or live.workload is not None or not is_left(attempt, ref):
        return None
    return live


def _rolls_out_the_same(write: PlannedWrite, before: LiveObject, live: LiveObject) -> bool:
    """Tell whether a write without a template still meets what it met before.

    That is all that was in the template, what it sets, and whether its workload is paused.
    """
    if before.workload is None or live.workload is None or live.uid != before.uid:
        return False
    if live.workload.paused != before.workload.paused:
        return False
    sent, then, now = (one.thaw()["spec"] for one in (write.body, before.body, live.body))
    if _select_sent(sent, then) != _select_sent(sent, now):
        return False
    return contains(_template(before), _template(live))


def _select_sent(sent: Any, found: Any) -> Any:
    """Return what an object has of the fields that are sent, None for each that it lacks."""
    if not isinstance(sent, Mapping):
        return found
    inner = found if isinstance(found, Mapping) else {}
    return {key: _select_sent(value, inner.get(key)) for key, value in sent.items()}


def is_beside(
    field_manager: str, trial: LiveObject | None, before: LiveObject, live: LiveObject
) -> bool:
    """Tell whether all that changed from `before` to `live` is left to others by our apply.

    That is so of a field of the pod template that `field_manager` neither owned then nor owns after
    the apply, by its dry run (`trial`): an apply leaves such a field as it is. What others put into
    a map or list that we apply empty is such a field. False where somebody who owned fields then
    owns none now: what a way back does about those would be a guess.
    """
    if trial is None or live.workload is None or live.uid != before.uid:
        return False
    if _without_template(before) != _without_template(live):
        return False
    if not _owns_as_before(field_manager, before, live):
        return False
    if _list_owners(before) - _list_owners(live):
        return False
    counting = descend(_select_counting(field_manager, trial, before, live), *_TEMPLATE)
    return not _is_changed(_template(before), _template(live), counting)


def has_only_others_changes(
    field_manager: str, trial: LiveObject | None, before: LiveObject, live: LiveObject
) -> bool:
    """Tell whether our apply meets, in an object that is no workload, all that it sets or removes.

    By its dry run (`trial`) it leaves every field that `field_manager` owned neither then nor owns
    after it, whoever has set, changed or removed that. False where somebody who owned fields then
    owns none now: a way back would take those for what this attempt took over, and set them again.
    """
    if trial is None or live.uid != before.uid:
        return False
    if not _owns_as_before(field_manager, before, live):
        return False
    if _list_owners(before) - _list_owners(live):
        return False
    counting = _select_counting(field_manager, trial, before, live)
    return not _is_changed(before.body.thaw(), live.body.thaw(), counting)


def _owns_as_before(field_manager: str, before: LiveObject, live: LiveObject) -> bool:
    """Tell whether a manager owns what it owned: no other run of it was there since."""
    then = _select_owned(field_manager, before, beside=live)
    now = _select_owned(field_manager, live, beside=before)
    return _select_set(live, now) == _select_set(before, then)


def _select_counting(
    field_manager: str, trial: LiveObject, before: LiveObject, live: LiveObject
) -> Fields | None:
    """Return the fields that our apply sets or removes: those of a manager before and after it."""
    ours = _select_owned(field_manager, before, beside=live)
    return union(ours, _select_owned(field_manager, trial, beside=live))


def _is_changed(then: Any, now: Any, counting: Fields | None) -> bool:
    return bool(select_changed(then, now, counting) or select_changed(now, then, counting))


def _select_owned(field_manager: str, one: LiveObject, *, beside: LiveObject) -> Fields | None:
    """Return what a manager owns of an object, in which others own fields as they do `beside`."""
    return owned_fields(
        one.thaw_managed_fields(), field_manager, beside=beside.thaw_managed_fields()
    )


def _select_set(live: LiveObject, owned: Fields | None) -> Fields | None:
    """Return the owned fields that have a value: the server drops what is applied empty."""
    return select_changed(live.body.thaw(), None, owned)


def _list_owners(live: LiveObject) -> set[str]:
    return {str(entry.get("manager")) for entry in live.thaw_managed_fields()}


def _template(live: LiveObject) -> Any:
    return live.body.thaw()["spec"]["template"]


def _without_template(live: LiveObject) -> dict[str, Any]:
    """Return the spec of an object but for its pod template and its number of replicas."""
    spec: dict[str, Any] = content(live.body)["spec"]
    return {key: value for key, value in spec.items() if key not in ("template", "replicas")}

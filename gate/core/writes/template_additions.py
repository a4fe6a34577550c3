"""What others set in a pod template just before our write, beside what the write sets.

A reloader does that as soon as the configuration of a version is written, before its workload is.
"""

from __future__ import annotations

from typing import Any

from gate.core.model.live_object import LiveObject
from gate.core.plan.rollback_plan import content
from gate.core.ssa.field_set import Fields, descend, select_changed, union
from gate.core.ssa.managed_fields import owned_fields

_TEMPLATE = ("spec", "template")


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
    ours = _select_owned(field_manager, before, beside=live)
    ours_now = _select_owned(field_manager, live, beside=before)
    if _select_set(live, ours_now) != _select_set(before, ours):
        return False
    if _list_owners(before) - _list_owners(live):
        return False
    after = _select_owned(field_manager, trial, beside=live)
    counting = descend(union(ours, after), *_TEMPLATE)
    then, now = _template(before), _template(live)
    return not select_changed(then, now, counting) and not select_changed(now, then, counting)


def _select_owned(field_manager: str, one: LiveObject, *, beside: LiveObject) -> Fields | None:
    """Return what a manager owns of an object, in which others own fields as they do `beside`."""
    return owned_fields(
        _thaw_managed_fields(one), field_manager, beside=_thaw_managed_fields(beside)
    )


def _select_set(live: LiveObject, owned: Fields | None) -> Fields | None:
    """Return the owned fields that have a value: the server drops what is applied empty."""
    return select_changed(live.body.thaw(), None, owned)


def _thaw_managed_fields(live: LiveObject) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = live.managed.thaw()["managedFields"]
    return entries


def _list_owners(live: LiveObject) -> set[str]:
    return {str(entry.get("manager")) for entry in _thaw_managed_fields(live)}


def _template(live: LiveObject) -> Any:
    return live.body.thaw()["spec"]["template"]


def _without_template(live: LiveObject) -> dict[str, Any]:
    """Return the spec of an object but for its pod template and its number of replicas."""
    spec: dict[str, Any] = content(live.body)["spec"]
    return {key: value for key, value in spec.items() if key not in ("template", "replicas")}

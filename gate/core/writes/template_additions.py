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
    the apply, by its dry run (`trial`): an apply leaves such a field as it is. False where somebody
    who owned fields then owns none now: what a way back does about those would be a guess.
    """
    if trial is None or live.workload is None or live.uid != before.uid:
        return False
    if _without_template(before) != _without_template(live):
        return False
    ours = _select_owned(field_manager, before)
    if _select_owned(field_manager, live) != ours or _list_owners(before) - _list_owners(live):
        return False
    counting = descend(union(ours, _select_owned(field_manager, trial)), *_TEMPLATE)
    then, now = _template(before), _template(live)
    return not select_changed(then, now, counting) and not select_changed(now, then, counting)


def _select_owned(field_manager: str, live: LiveObject) -> Fields | None:
    return owned_fields(live.managed.thaw()["managedFields"], field_manager)


def _list_owners(live: LiveObject) -> set[str]:
    return {str(entry.get("manager")) for entry in live.managed.thaw()["managedFields"]}


def _template(live: LiveObject) -> Any:
    return live.body.thaw()["spec"]["template"]


def _without_template(live: LiveObject) -> dict[str, Any]:
    """Return the spec of an object but for its pod template and its number of replicas."""
    spec: dict[str, Any] = content(live.body)["spec"]
    return {key: value for key, value in spec.items() if key not in ("template", "replicas")}

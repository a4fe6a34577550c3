"""What others set in a pod template just before our write, beside what the write sets.

A reloader does that as soon as the configuration of a version is written, before its workload is.
"""

from __future__ import annotations

from typing import Any

from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import content
from gate.core.ssa.field_set import Fields, descend, select_changed, union
from gate.core.ssa.managed_fields import owned_fields

_TEMPLATE = ("spec", "template")


def is_beside(
    head: PlannedWrite, trial: LiveObject | None, before: LiveObject, live: LiveObject
) -> bool:
    """Tell whether all that changed from `before` to `live` is left to others by the write.

    That is so of a field of the pod template that our manager neither owned then nor owns after
    the apply, by its dry run (`trial`): an apply leaves such a field as it is.
    """
    if head.verb is not Verb.APPLY or trial is None or live.workload is None:
        return False
    if _without_template(before) != _without_template(live):
        return False
    ours = _select_owned(head, before)
    if _select_owned(head, live) != ours:
        return False
    counting = descend(union(ours, _select_owned(head, trial)), *_TEMPLATE)
    then, now = _template(before), _template(live)
    return not select_changed(then, now, counting) and not select_changed(now, then, counting)


def _select_owned(head: PlannedWrite, live: LiveObject) -> Fields | None:
    return owned_fields(live.managed.thaw()["managedFields"], head.field_manager)


def _template(live: LiveObject) -> Any:
    return live.body.thaw()["spec"]["template"]


def _without_template(live: LiveObject) -> dict[str, Any]:
    """Return the spec of an object but for its pod template and its number of replicas."""
    spec: dict[str, Any] = content(live.body)["spec"]
    return {key: value for key, value in spec.items() if key not in ("template", "replicas")}

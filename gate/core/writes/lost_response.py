"""Did a write with a lost response take effect? What our manager owns now shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.replica_ownership import without_replicas
from gate.core.ssa import field_set, managed_fields
from gate.core.ssa.field_set import Fields

_TEMPLATE = ("spec", "template")


def has_landed(head: PlannedWrite, live: LiveObject, trial: LiveObject | None) -> bool:
    """Tell whether `live` is what the apply of `head` leaves, if nobody has changed it since.

    For a workload only the pod template counts: others may own replicas and the rest by then.
    `trial` is what the server would make of the body, None without a dry run: then the body is
    compared as it was sent, which misses what the server writes in another form (`0.5`, `500m`).
    """
    owned = managed_fields.owned_fields(live.thaw_managed_fields(), head.field_manager)
    if owned is None:
        return False
    if trial is None:
        return bool(_extract_applied(head, live, owned) == _extract_wanted(head, live))
    wanted = managed_fields.owned_fields(trial.thaw_managed_fields(), head.field_manager)
    if live.workload is not None:
        wanted, owned = field_set.descend(wanted, *_TEMPLATE), field_set.descend(owned, *_TEMPLATE)
        ours, found = _template(trial), _template(live)
    else:
        ours, found = trial.body.thaw(), live.body.thaw()
    if field_set.subtract(wanted, owned):
        return False
    return field_set.still_holds(ours, wanted, found)


def has_landed_as(head: PlannedWrite, live: LiveObject, answer: LiveObject) -> bool:
    """Tell whether our manager has in `live` just what it has in `answer`, a dry run of `head`.

    That shows the write where admission sets other values than were sent. What our manager owns
    beyond it, in the pod template or outside of it, another run of the gate has applied. Replicas
    show nothing: others may have set them since.
    """
    found, wanted = _extract_own(head, live), _extract_own(head, answer)
    return found is not None and found == wanted


def has_landed_rewritten(
    head: PlannedWrite, live: LiveObject, answer: LiveObject, way_out: LiveObject
) -> bool:
    """Tell whether `live` is what the way back leaves, by the `answer` to a dry run of `head`.

    `way_out` is what the way out left. Where that is the same, `head` may never have been sent; and
    what was deleted and made again is another object.
    """
    if live.uid != way_out.uid or has_landed_as(head, way_out, answer):
        return False
    return has_landed_as(head, live, answer)


def has_landed_whole(head: PlannedWrite, sent: Body, live: LiveObject) -> bool:
    """Tell whether all that our manager owns in `live` is what the apply of `head` sent.

    Of a workload, too, so that its template alone, which may not have changed, shows nothing.
    """
    owned = managed_fields.owned_fields(live.thaw_managed_fields(), head.field_manager)
    if owned is None:
        return False
    found = _without_identity(field_set.extract(live.body.thaw(), owned))
    return found == _without_identity(sent.thaw())


def _template(live: LiveObject) -> Any:
    return live.body.thaw().get("spec", {}).get("template")


def _extract_own(head: PlannedWrite, live: LiveObject) -> Any:
    """Return all that our manager owns in `live` but for replicas, None if it owns nothing."""
    owned = managed_fields.owned_fields(live.thaw_managed_fields(), head.field_manager)
    if owned is None:
        return None
    return _without_identity(without_replicas(field_set.extract(live.body.thaw(), owned)))


def _extract_applied(head: PlannedWrite, live: LiveObject, owned: Fields) -> Any:
    """Return the part of what our manager applies in `live` that counts."""
    value = field_set.extract(live.body.thaw(), owned)
    if live.workload is not None:
        return value.get("spec", {}).get("template")
    return _without_identity(without_replicas(value) if head.scaler.keeps_live else value)


def _extract_wanted(head: PlannedWrite, live: LiveObject) -> Any:
    value = head.body.thaw()
    if live.workload is not None:
        return value.get("spec", {}).get("template")
    return _without_identity(without_replicas(value) if head.scaler.keeps_live else value)


def _without_identity(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an applied body without what only identifies the object."""
    named = ("apiVersion", "kind", "metadata")
    metadata = value.get("metadata", {})
    own = {key: entry for key, entry in metadata.items() if key not in ("name", "namespace")}
    return {**{key: entry for key, entry in value.items() if key not in named}, "metadata": own}

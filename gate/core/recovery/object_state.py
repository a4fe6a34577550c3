"""Who last changed a recorded object: our write, nobody since the attempt began, or others.

The server's dry run of our write, kept in the record, distinguishes what we wrote from what was
there before and from what others changed since.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from gate.core.attempt.new_rollout import applied_of
from gate.core.model.body import Body, contains
from gate.core.model.fact import Fact, Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.plan.leg import Leg
from gate.core.plan.record import Kept, Record
from gate.core.plan.rollback_plan import content
from gate.core.plan.workload_body import is_resumption
from gate.core.rollout.policy import OnFailure
from gate.core.ssa import field_set
from gate.core.ssa.managed_fields import owned_fields
from gate.core.writes.additions import is_beside
from gate.core.writes.obstacles import substance


class ObjectState(enum.StrEnum):
    """Who last changed an object."""

    WRITTEN = "written"
    """As our write leaves it."""
    BEFORE = "before"
    """As it was before: not written, or restored."""
    OTHERS = "others"
    """Somebody else changed or deleted it."""


def classify_object(kept: Kept, fact: Fact[LiveObject]) -> ObjectState:
    """Return who last changed an object that a rollback returns to its state from before."""
    if not isinstance(fact, Known):
        return ObjectState.OTHERS if kept.uid else ObjectState.BEFORE
    live = fact.value
    if kept.uid and live.uid != kept.uid:
        return ObjectState.OTHERS
    if kept.expected is None:
        touched = live.resource_version != kept.resource_version
        return ObjectState.WRITTEN if touched or not kept.changes else ObjectState.BEFORE
    before = kept.before.value if isinstance(kept.before, Known) else None
    if is_resumption(kept.expected, kept.ref):
        return _classify_resumed(before, live)
    if before is not None and kept.changes and _as_before(kept, before, live):
        return ObjectState.BEFORE
    if _as_expected(kept, live) and _has_all_of_before(kept, before, live):
        return ObjectState.WRITTEN
    if before is not None and _is_as_before_beside(kept, before, live):
        return ObjectState.BEFORE
    return ObjectState.WRITTEN if _still_ours(kept, live) else _classify_fields(kept, live)


def _classify_resumed(before: LiveObject | None, live: LiveObject) -> ObjectState:
    """Classify a workload that was to be resumed: the pause tells whether it was.

    All that was in its pod template is still there, or it is another version. What others have
    changed beside that, `resume` leaves to them.
    """
    if live.workload is None:
        return ObjectState.OTHERS
    if before is not None and not contains(_template(before.body), _template(live.body)):
        return ObjectState.OTHERS
    return ObjectState.BEFORE if live.workload.paused else ObjectState.WRITTEN


def is_paused_again(record: Record, kept: Kept) -> bool:
    """Tell whether the way back of a `resume` leaves a workload paused, as it was before."""
    pauses = record.policy.response.on_failure is OnFailure.PAUSE and record.leg is Leg.BACK
    resumes = kept.expected is not None and is_resumption(kept.expected, kept.ref)
    return pauses and resumes and kept.reach.is_known_written


def is_as_member(fact: Fact[LiveObject], body: Body) -> bool:
    """Tell whether an object is as a rollback leaves it that returns it to `body`."""
    return isinstance(fact, Known) and contains(body.thaw(), fact.value.body.thaw())


def _as_before(kept: Kept, before: LiveObject, live: LiveObject) -> bool:
    """Compare all of it; `substance` is enough if our write changes more than metadata."""
    if content(live.body) == content(before.body):
        return True
    dry_run = trial(kept)
    matters = dry_run is not None and substance(dry_run) != substance(before)
    return matters and substance(live) == substance(before)


def _as_expected(kept: Kept, live: LiveObject) -> bool:
    """Tell whether everything that our write set is there, except for `spec.replicas`."""
    expected = kept.expected
    if isinstance(expected, LiveObject):
        owned = owned_fields(expected.thaw_managed_fields(), kept.field_manager)
        missing = field_set.differing(expected.body.thaw(), owned, live.body.thaw())
        return not set(missing) - {"spec.replicas"}
    return isinstance(expected, Body) and contains(expected.thaw(), live.body.thaw())


def _has_all_of_before(kept: Kept, before: LiveObject | None, live: LiveObject) -> bool:
    """Tell whether a write that applies no version, as of `restart`, still rolls out the same.

    That is all that was in the pod template before, but for what the write sets.
    """
    if kept.field_manager == FIELD_MANAGER or not isinstance(kept.expected, Body):
        return True
    if before is None or live.workload is None:
        return True
    sent, then, now = (_template(one) for one in (kept.expected, before.body, live.body))
    return contains(_with_sent(then, sent), now)


def _template(body: Body) -> Any:
    return (body.thaw().get("spec") or {}).get("template")


def _with_sent(found: Any, sent: Any) -> Any:
    """Return maps as they were found, with the values that are sent in their places."""
    if not isinstance(sent, Mapping):
        return sent
    there = found if isinstance(found, Mapping) else {}
    return {**there, **{key: _with_sent(there.get(key), value) for key, value in sent.items()}}


def _is_as_before_beside(kept: Kept, before: LiveObject, live: LiveObject) -> bool:
    """Tell whether a workload's template is as before, but for what others set beside ours."""
    if before.workload is None or live.workload is None:
        return False
    if before.workload.template.body == live.workload.template.body:
        return True
    return is_beside(kept.field_manager, trial(kept), before, live)


def _still_ours(kept: Kept, live: LiveObject) -> bool:
    """Tell whether the pod template still has everything that we set in it."""
    expected = trial(kept)
    if expected is None or expected.workload is None or live.workload is None:
        return False
    return applied_of(0.0, None, expected, kept.field_manager).still_stands(live.workload)


def _classify_fields(kept: Kept, live: LiveObject) -> ObjectState:
    """Classify an object that others changed in part, by the fields that our write changes.

    WRITTEN if any that it sets is so, else BEFORE if any that it replaces is as before. What is not
    there decides last: what our write removes, and then what it adds.
    """
    expected = trial(kept)
    if expected is None or live.workload is not None or not isinstance(kept.before, Known):
        return ObjectState.OTHERS
    found = live.body.thaw()
    before, after = kept.before.value.body.thaw(), expected.body.thaw()
    owned = owned_fields(expected.thaw_managed_fields(), kept.field_manager)
    ours = field_set.select_changed(after, before, owned)
    replaced = field_set.select_changed(before, after, _find_all_owned(kept.before.value))
    if _is_any_alike(after, found, ours):
        return ObjectState.WRITTEN
    if _is_any_alike(before, found, replaced):
        return ObjectState.BEFORE
    if _is_any_alike(after, found, replaced):
        return ObjectState.WRITTEN
    return ObjectState.BEFORE if _is_any_alike(before, found, ours) else ObjectState.OTHERS


def _find_all_owned(live: LiveObject) -> field_set.Fields | None:
    owned: field_set.Fields | None = None
    for entry in live.thaw_managed_fields():
        owned = field_set.union(owned, entry.get("fieldsV1") or None)
    return owned


def _is_any_alike(one: Any, other: Any, named: field_set.Fields | None) -> bool:
    differ = field_set.union(
        field_set.select_changed(one, other, named), field_set.select_changed(other, one, named)
    )
    return field_set.subtract(named, differ) is not None


def trial(kept: Kept) -> LiveObject | None:
    """Return what the server's dry run made of our write, None if there was no dry run."""
    return kept.expected if isinstance(kept.expected, LiveObject) else None

"""Configuration that a way back returns later than the workload whose pods have it.

Pods that started in between keep it in their environment as the version that failed had it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.core.attempt.left_open import is_left_open
from gate.core.attempt.state import Attempt
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.plan.record import Followed, Resumed
from gate.core.readiness.pod_environment import has_in_environment


def collect_late(resumed: Resumed, followed: Followed) -> tuple[Ref, ...]:
    """Return what a workload was returned before, by the record or as it was found.

    Of one that is still to be returned, or again, that is nothing: its configuration goes first.
    """
    live = resumed.restored.get(followed.ref)
    if live is None or live.workload is None:
        return ()
    body, namespace = live.workload.template.body.thaw(), followed.ref.namespace
    near = (ref for ref in resumed.written if ref.namespace == namespace)
    found = (ref for ref in near if has_in_environment(body, ref, _find_changed(resumed, ref)))
    return tuple(dict.fromkeys((*followed.returned_before, *found)))


def _find_changed(resumed: Resumed, ref: Ref) -> frozenset[str] | None:
    """Return the keys that are not as before, None if nobody can tell what they return to."""
    before = next((one.before for one in resumed.record.objects if one.ref == ref), None)
    if not isinstance(before, Known) or ref in resumed.record.target_set.members:
        return None
    then, now = (_list_values(one.body.thaw()) for one in (before.value, resumed.written[ref]))
    return frozenset(key for key in {**then, **now} if then.get(key) != now.get(key))


def _list_values(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**(body.get("data") or {}), **(body.get("binaryData") or {})}


def find_late(attempt: Attempt) -> dict[Ref, tuple[Ref, ...]]:
    """Return, by workload, what is back since an earlier run had returned the workload.

    Empty until the way back is finished: whoever finishes it finds it in the record.
    """
    resumed = attempt.plan.resumed
    if resumed is None or is_left_open(attempt):
        return {}
    restored, found = attempt.ledger.restored, {}
    for one in resumed.record.followed:
        if late := tuple(ref for ref in collect_late(resumed, one) if ref in restored):
            found[one.ref] = late
    return found

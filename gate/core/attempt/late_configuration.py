"""Configuration that a way back returns later than the workload whose pods have it.

Pods that started in between keep it in their environment as the version that failed had it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.left_open import is_left_open
from gate.core.attempt.state import Attempt
from gate.core.model.body import Body
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
    return _list_changed(before.value.body, resumed.written[ref].body)


def _list_changed(one: Body, other: Body) -> frozenset[str]:
    """Return the keys of configuration that only one of two has, or that differ in value."""
    then, now = (_list_values(body.thaw()) for body in (one, other))
    return frozenset(key for key in {**then, **now} if then.get(key) != now.get(key))


def _list_values(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**(body.get("data") or {}), **(body.get("binaryData") or {})}


def find_late(attempt: Attempt) -> dict[Ref, tuple[Ref, ...]]:
    """Return, by workload, what is back since this run, or an earlier one, returned the workload.

    Empty until the way back is finished: whoever finishes it finds it in the record.
    """
    if is_left_open(attempt):
        return {}
    resumed, restored = attempt.plan.resumed, attempt.ledger.restored
    found = {target.ref: _find_late_here(attempt, target.ref) for target in attempt.plan.targets}
    if resumed is not None:
        for one in resumed.record.followed:
            earlier = (ref for ref in collect_late(resumed, one) if ref in restored)
            found[one.ref] = tuple(dict.fromkeys((*earlier, *found.get(one.ref, ()))))
    return {ref: late for ref, late in found.items() if late}


def _find_late_here(attempt: Attempt, workload: Ref) -> tuple[Ref, ...]:
    """Return what was found back in this run once it had returned a workload, in that order.

    Configuration is written first: only what was given up by then, and others returned, is later.
    """
    live, restored = attempt.ledger.restored.get(workload), tuple(attempt.ledger.restored)
    if live is None or live.workload is None:
        return ()
    resumed = attempt.plan.resumed
    earlier = resumed.restored if resumed is not None else {}
    body = live.workload.template.body.thaw()
    return tuple(
        ref
        for ref in restored[restored.index(workload) + 1 :]
        if ref not in earlier and _is_in_environment(attempt, body, workload, ref)
    )


def find_unreturned(attempt: Attempt) -> dict[Ref, tuple[Ref, ...]]:
    """Return, by workload that was returned, what of its pods' environment was given up for good.

    Empty where the way back is left to be finished: whoever does that finds what was late. What
    others have changed or deleted since is said as that.
    """
    if is_left_open(attempt):
        return {}
    found: dict[Ref, tuple[Ref, ...]] = {}
    given_up = [ref for ref in attempt.writes.refusals if _is_left_changed(attempt, ref)]
    for target in attempt.plan.targets:
        live = attempt.ledger.restored.get(target.ref)
        if live is None or live.workload is None:
            continue
        body = live.workload.template.body.thaw()
        kept = (ref for ref in given_up if _is_in_environment(attempt, body, target.ref, ref))
        if refs := tuple(kept):
            found[target.ref] = refs
    return found


def _is_left_changed(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the last look found an object as this attempt had changed it on its way out."""
    written, finding = attempt.ledger.written.get(ref), attempt.ledger.findings.get(ref)
    is_changed = written is not None and written.changed
    return is_changed and finding is not None and finding.kind is FindingKind.AS_WRITTEN


def _is_in_environment(attempt: Attempt, body: Any, workload: Ref, ref: Ref) -> bool:
    """Tell whether the pods of a workload have what this attempt changed of `ref` there."""
    is_near = ref.namespace == workload.namespace
    return is_near and has_in_environment(body, ref, _find_changed_here(attempt, ref))


def _find_changed_here(attempt: Attempt, ref: Ref) -> frozenset[str] | None:
    """Return the keys whose values the way back of an object changes, None if unknown."""
    before, written = attempt.plan.before(ref), attempt.ledger.written.get(ref)
    returned = attempt.plan.target_set.members.get(ref) or (before.body if before else None)
    return _list_changed(returned, written.after.body) if returned and written else None

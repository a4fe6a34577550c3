"""The objects as an attempt that died has left them, for the last look to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gate.core.attempt.last_look import LeftObject
from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.record import Kept, Resumed
from gate.core.plan.rollback_plan import WrittenObject


def collect_resumed(
    resumed: Resumed, written: Mapping[Ref, WrittenObject]
) -> dict[Ref, LeftObject]:
    """Return what the attempt has left so far, as found live.

    What it had restored is as before the attempt: others have changed whatever differs. Of a
    set that it returned to the bodies are not kept as the server answered them. What others have
    changed or deleted since is as its own write left it.
    """
    ours = {
        ref: LeftObject(one.after, None, one.field_manager, one.scaler.keeps_live)
        for ref, one in written.items()
    }
    left = {ref: LeftObject(live) for ref, live in resumed.restored.items()}
    for kept in resumed.record.objects:
        live = resumed.restored.get(kept.ref)
        before = kept.before.value if isinstance(kept.before, Known) else None
        if live is None or before is None or kept.ref in resumed.record.target_set.members:
            continue
        if before.uid == live.uid:
            left[kept.ref] = LeftObject(before, autoscaled=kept.scaler.keeps_live)
    theirs = {kept.ref: _as_left(kept) for kept in _list_left_to_others(resumed)}
    return {**theirs, **ours, **left}


def _list_left_to_others(resumed: Resumed) -> list[Kept]:
    """Return what others have changed or deleted since."""
    left = (*resumed.left_to_others, *resumed.departed)
    return [kept for kept in resumed.record.objects if kept.ref in left]


def _as_left(kept: Kept) -> LeftObject:
    """Return an object as far as the record has it.

    It has no uid where it was not there before: then only what is read of it tells.
    """
    if isinstance(kept.expected, LiveObject) and not kept.reach.is_unreached:
        answer = replace(kept.expected, uid=kept.uid)
    elif isinstance(kept.before, Known):
        answer = kept.before.value
    else:
        body = kept.expected if isinstance(kept.expected, Body) else Body.of({})
        answer = LiveObject(kept.ref, kept.uid, "", body, Body.of({}))
    return LeftObject(
        answer, None, kept.field_manager, kept.scaler.keeps_live, has_known_uid=bool(kept.uid)
    )

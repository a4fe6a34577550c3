"""The objects as an attempt that died has left them, for the last look to compare with."""

from __future__ import annotations

from collections.abc import Mapping

from gate.core.attempt.last_look import LeftObject
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.plan.record import Resumed
from gate.core.plan.rollback_plan import WrittenObject


def collect_resumed(
    resumed: Resumed, written: Mapping[Ref, WrittenObject]
) -> dict[Ref, LeftObject]:
    """Return what the attempt has left so far, as found live.

    What it had restored is as before the attempt: others have changed whatever differs. Of a
    set that it returned to the bodies are not kept as the server answered them.
    """
    went_out = {
        ref: LeftObject(one.after, None, one.field_manager, one.scaler.keeps_live)
        for ref, one in written.items()
    }
    left = {ref: LeftObject(live) for ref, live in resumed.restored.items()}
    for kept in resumed.record.objects:
        live = resumed.restored.get(kept.ref)
        before = kept.before.value if isinstance(kept.before, Known) else None
        if live is None or before is None or kept.ref in resumed.record.target_set.bodies:
            continue
        if before.uid == live.uid:
            left[kept.ref] = LeftObject(before, autoscaled=kept.scaler.keeps_live)
    return {**went_out, **left}

"""Objects that the way out deletes, to create another of the same name in their place."""

from __future__ import annotations

from gate.core.attempt.state import Attempt
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref


def find_before(attempt: Attempt, ref: Ref) -> LiveObject | None:
    """Return the object that the next write to `ref` should meet, None if it is to create one.

    It is what the preflight found, unless this attempt has deleted that.
    """
    return None if ref in attempt.ledger.deleted else attempt.plan.before(ref)

"""How much the outcome of an attempt says about each object of the manifest."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from gate.core.attempt.state import Attempt
from gate.core.kinds.configuration import is_configuration
from gate.core.model.objects import Ref
from gate.core.model.readiness import UNJUDGED, ReadinessKind
from gate.core.plan.leg import Leg


class Coverage(enum.StrEnum):
    """What is known of an object beside that the server took it."""

    JUDGED = "judged"
    """The outcome covers it."""
    APPLIED = "applied"
    """It is configuration: that it was applied is all there is to say."""
    NOT_JUDGED = "not-judged"
    """It has pods or a status of its own, at which nobody looked."""


def coverage_of(attempt: Attempt, ref: Ref) -> Coverage:
    """Return how far the outcome covers an object: what was followed, or found ready or not.

    What goes back is not waited for: of other objects nobody looks at what they then become.
    """
    if any(target.ref == ref for target in attempt.plan.targets):
        return Coverage.JUDGED
    found = attempt.result.objects.get(ref, UNJUDGED)
    if attempt.course.leg is Leg.FORWARD and found.kind is not ReadinessKind.UNJUDGED:
        return Coverage.JUDGED
    is_stored = is_configuration(ref, _body(attempt, ref))
    return Coverage.APPLIED if is_stored else Coverage.NOT_JUDGED


def _body(attempt: Attempt, ref: Ref) -> Mapping[str, Any]:
    """Return an object as it was written, else as it was found or is to be written."""
    written, before = attempt.ledger.written.get(ref), attempt.plan.before(ref)
    if written is not None:
        return written.after.body.thaw()
    planned = (write.body for write in attempt.plan.writes if write.ref == ref)
    body = next(planned, before.body if before is not None else None)
    return body.thaw() if body is not None else {}

"""What an attempt wrote that came to its end and is gone, as a Job by `ttlSecondsAfterFinished`."""

from __future__ import annotations

from collections.abc import Collection

from gate.core.checks.spec import OnInconclusive
from gate.core.model.objects import Ref
from gate.core.plan.record import Record


def find_gone_after_end(
    record: Record, written: Collection[Ref], there: Collection[Ref]
) -> frozenset[Ref]:
    """Return what needs no second run: what was written behind it shows that it had completed.

    What the attempt may have written last, and is not `there`, is among them too: whether it ran
    is a lack of evidence, as an inconclusive check is, unless the policy takes a version back for
    that.
    """
    passed = record.find_passed(written)
    if record.policy.response.on_inconclusive is OnInconclusive.ROLLBACK:
        return passed
    return passed | record.find_perhaps_gone(written, there)

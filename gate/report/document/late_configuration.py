"""What pods keep of configuration that went back later than their workload, or did not."""

from __future__ import annotations

from gate.core.attempt.late_configuration import find_late, find_unreturned
from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome
from gate.report.document.running_pods import is_scaled_to_zero, running


def describe_late(attempt: Attempt) -> dict[Ref, str]:
    """Say of each such workload what its pods keep, if it is to have any."""
    name = attempt.plan.name_of
    return {
        workload: f"{name(workload)} had been returned before {', '.join(map(name, late))}: its"
        " pods that started in between keep that in their environment as the version that failed"
        " had it, until they restart (`restart`)"
        for workload, late in find_late(attempt).items()
        if not is_scaled_to_zero(attempt, workload)
    }


def describe_unreturned(attempt: Attempt) -> dict[Ref, str]:
    """Say of each returned workload what its pods keep of what was not, if it is to have any."""
    name = attempt.plan.name_of
    return {
        workload: f"{name(workload)} was returned without {', '.join(map(name, given_up))}: pods"
        " that start before that is mended have it in their environment as the version that failed"
        " had it, until they restart (`restart`)"
        for workload, given_up in find_unreturned(attempt).items()
        if not is_scaled_to_zero(attempt, workload)
    }


def has_replaced_pods(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether an attempt has rolled out another pod template, and no other pod is left."""
    ending, written = attempt.result.endings.get(ref), attempt.ledger.written.get(ref)
    if ending is None or ending.outcome is not Outcome.VERIFIED or written is None:
        return False
    before = written.before.workload if written.before is not None else None
    after = written.after.workload
    if before is None or after is None:
        return False
    is_other = before.template.body != after.template.body
    return is_other and running(attempt, ref) in ("new", "none")

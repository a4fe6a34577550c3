"""Why a dead gate went back, as its record says."""

from __future__ import annotations

from typing import Final

from gate.core.attempt.ending import Ending
from gate.core.attempt.parts import Rejection
from gate.core.kinds.registry import has_way_back
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.record import Resumed

UNDONE: Final = CleanText("an undo takes back what the gate had left")
"""Why an attempt goes back although it may have been complete."""


def find_refusal(resumed: Resumed) -> Rejection | None:
    """Return the write whose refusal ended the way out that a dead gate goes back from, if any."""
    for kept in resumed.record.objects if resumed.back else ():
        if kept.reach.refusal is not None:
            return Rejection(kept.ref, kept.reach.refusal.reason, kept.reach.refusal.message)
    return None


def failures_found(resumed: Resumed) -> FrozenMap[Ref, Ending]:
    """Return the failures that led an attempt back, by workload; empty if the record has none."""
    return FrozenMap(
        (one.ref, Ending.of_causes(*one.why)) for one in resumed.record.followed if one.why
    )


def why_resumed(resumed: Resumed) -> Ending:
    """Return what leads the recorded attempt back; its `check` is one that had still to decide."""
    causes = resumed.record.why
    if causes:
        return Ending.of_causes(*causes)
    if resumed.led_back.by_undo:
        return Ending(Outcome.FAILED, Reason.INTERRUPTED, UNDONE)
    # A Job has no version, and the gate may have ended while it waited for one.
    has_jobs = not all(has_way_back(one.ref) for one in resumed.record.followed)
    what = "the attempt" if has_jobs else "the new version"
    complete, until, check = "", f"{what} was complete", ""
    if undecided := resumed.led_back.undecided:
        check, *others = undecided
        names = f"the checks {', '.join(undecided)}" if others else f"the check {check}"
        complete, until = f"{what} was complete, and ", f"{names} had decided"
    text = f"{complete}the gate ended before {until}"
    if resumed.may_still_run:
        text = f"{complete}its lock was released before {until}; its gate may still run"
    return Ending(Outcome.FAILED, Reason.INTERRUPTED, CleanText(text), check=check)

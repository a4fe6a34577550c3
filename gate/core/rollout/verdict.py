"""The verdict on one rollout, and the rule that decided."""

from __future__ import annotations

import enum

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.causes import Cause


class VerdictKind(enum.StrEnum):
    """What one rollout comes to by the rules."""

    COMPLETE = "complete"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    EMPTIED = "emptied"
    PROGRESSING = "progressing"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict, the rule that decided, and what was wrong underneath, most telling first.

    `check` is the name of the health check that decided, "" for none.
    """

    kind: VerdictKind
    reason: AnyReason
    message: CleanText
    causes: tuple[Cause, ...] = ()
    check: str = ""

    @classmethod
    def of_superseded(cls, reason: Reason, message: str) -> Verdict:
        """Return the verdict that somebody else has taken over."""
        return cls(VerdictKind.SUPERSEDED, reason, CleanText(message))

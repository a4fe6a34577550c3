"""What stands of one rollout, and by which rule."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.rollout.causes import Cause


class VerdictKind(enum.StrEnum):
    """What stands of one rollout."""

    COMPLETE = "complete"
    FAILED = "failed"
    SUPERSEDED = "superseded"
    PROGRESSING = "progressing"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What stands, the rule that decided, and what was wrong underneath, most telling first."""

    kind: VerdictKind
    reason: Reason
    message: CleanText
    causes: tuple[Cause, ...] = ()

    @classmethod
    def of_superseded(cls, reason: Reason, message: str) -> Verdict:
        """Return that it is somebody else's move."""
        return cls(VerdictKind.SUPERSEDED, reason, CleanText(message))

"""What an object's status says of whether it is ready for use."""

from __future__ import annotations

import enum
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText


class ReadinessKind(enum.StrEnum):
    """Is an object ready? `UNJUDGED` has no status that says so: there is nothing to wait for."""

    READY = "ready"
    NOT_YET = "not-yet"
    FAILED = "failed"
    UNJUDGED = "unjudged"


NO_WORDS: Final = CleanText("")


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether an object is ready, and `why` in the words of its own conditions."""

    kind: ReadinessKind
    why: CleanText = NO_WORDS

    @property
    def is_waited_for(self) -> bool:
        """Whether it may still become ready."""
        return self.kind is ReadinessKind.NOT_YET


UNJUDGED: Final = Readiness(ReadinessKind.UNJUDGED)
NOT_THERE: Final = Readiness(ReadinessKind.NOT_YET, CleanText("it is not there"))

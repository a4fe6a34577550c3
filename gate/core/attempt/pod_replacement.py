"""A pod at which a controller stops, and which this attempt removes so that it is replaced."""

from __future__ import annotations

import enum
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.core.rollout.progress import Progress


class Stage(enum.StrEnum):
    """How far the removal of a pod has come.

    `DECIDED`: it is noted in the record, and read again first; `REREAD`: that is done. `REFUSED`
    and `GUARDED` are answers of the server: `GUARDED` is that of a PodDisruptionBudget, which may
    allow it later.
    """

    RECORDED = "recorded"
    DECIDED = "decided"
    REREAD = "reread"
    SENT = "sent"
    ACCEPTED = "accepted"
    GUARDED = "guarded"
    REFUSED = "refused"
    UNANSWERED = "unanswered"


LEFT: Final = (Stage.GUARDED, Stage.REFUSED, Stage.UNANSWERED)
"""The stages of a pod that the server did not let go, or of which it did not say so."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """The removal of one pod of `workload`.

    `RECORDED` is one that an attempt which died had decided. `at` is when this stage began
    (monotonic seconds), `message` the server's last refusal. `progress` is how far the rollout was
    when it was decided: a pod that may not be removed does not restart its clock.
    """

    workload: Ref
    pod: str
    uid: str
    stage: Stage
    at: float
    message: str = ""
    progress: Progress | None = None

"""How an attempt ended, and why."""

from __future__ import annotations

from gate.core.frozen import dataclass
from gate.core.model.objects import CleanText
from gate.core.model.outcome import AnyReason, Outcome
from gate.core.rollout.causes import Cause
from gate.core.rollout.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Ending:
    """How the attempt ended, for one workload or as a whole; `check` is as that of `Cause`."""

    outcome: Outcome
    reason: AnyReason
    message: CleanText
    causes: tuple[Cause, ...] = ()
    check: str = ""

    @classmethod
    def of_failure(cls, verdict: Verdict) -> Ending:
        """Return what ends in failure by that verdict."""
        return cls(Outcome.FAILED, verdict.reason, verdict.message, verdict.causes, verdict.check)

    @classmethod
    def of_causes(cls, first: Cause, *others: Cause) -> Ending:
        """Return what failed for these causes, the first of which decided."""
        return cls(Outcome.FAILED, first.reason, first.message, others, first.check)

    @property
    def cause(self) -> Cause:
        """Why it ended so."""
        return Cause(self.reason, self.message, check=self.check)

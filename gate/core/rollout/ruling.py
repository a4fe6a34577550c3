"""What the judge said of a rollout, and for how long nobody needs to ask again."""

from __future__ import annotations

from dataclasses import dataclass

from gate.core.rollout.judge import Rollout
from gate.core.rollout.verdict import Verdict, VerdictKind


@dataclass(frozen=True, slots=True)
class Ruling:
    """What `Rollout.ruling` said of a rollout, and until when that may be said without asking.

    `wakes_at` is `Rollout.wake_at` of the same moment.
    """

    rollout: Rollout
    verdict: Verdict | None
    wakes_at: float

    @classmethod
    def of(cls, rollout: Rollout, now: float) -> Ruling:
        """Ask the judge."""
        return cls(rollout, rollout.ruling(now), rollout.wake_at(now))

    def is_current(self, rollout: Rollout, now: float) -> bool:
        """Tell whether nothing was observed of the rollout since, and no clock has run out."""
        return self.rollout is rollout and now < self.wakes_at

    def stands(self, rollout: Rollout, now: float) -> bool:
        """Tell whether it would be said again word by word; a failure tells how long it lasts."""
        lasting = self.verdict is None or self.verdict.kind is VerdictKind.COMPLETE
        return lasting and self.is_current(rollout, now)

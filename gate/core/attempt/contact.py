"""What an attempt knows of its contact with the API server: last fact, loss, refusals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field, replace

from gate.core.frozen import dataclass
from gate.core.model.body import FrozenMap
from gate.core.model.outcome import Reason
from gate.core.protocol.events import ContactLost

REFUSED_SECONDS = 15.0
"""How long the same access has to be refused before asking again is pointless."""
REFUSED_TIMES = 3
"""How often at least: an authorizer that fails now and then does not count as refusing."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Access that has been refused `times` in a row since `since` (monotonic seconds)."""

    why: str
    reason: Reason
    since: float
    times: int
    last_at: float

    @property
    def lasts(self) -> bool:
        """Whether it has been refused often enough, for long enough, and never granted between."""
        return self.times >= REFUSED_TIMES and self.last_at - self.since >= REFUSED_SECONDS

    def describe(self) -> str:
        """Say that the server answers, though not us."""
        return f"the API server refuses this user: {self.why}"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an attempt that could not go on ended."""

    reason: Reason
    why: str


@dataclass(frozen=True, slots=True)
class Loss:
    """Requests to the API server that have all failed since `since` (monotonic seconds).

    `why` is the last failure; `answers` are as in the event that says so.
    """

    why: str
    since: float
    answers: tuple[str, ...]

    @classmethod
    def of(cls, event: ContactLost) -> Loss:
        """Return the loss that an event tells of."""
        return cls(event.why, event.at - event.failing_seconds, event.answers)

    def describe(self, now: float) -> str:
        """Say what is so; of a server that answers, not that it cannot be reached."""
        if not any(self.answers):
            return f"the API server is unreachable: {self.why}"
        seconds = max(0.0, now - self.since)
        return f"requests to the API server have got {self._got} for {seconds:.0f} s: {self.why}"

    @property
    def cause(self) -> str:
        """Why the server gave us nothing, for an ending."""
        return f"requests got {self._got}: {self.why}" if any(self.answers) else self.why

    @property
    def _got(self) -> str:
        answers = " or ".join(sorted(filter(None, self.answers)))
        return f"only {answers}" if all(self.answers) else f"{answers}, or no answer,"


@dataclass(frozen=True, slots=True)
class Contact:
    """`facts_at` is when the last fact came, `lost` why there is no contact, None while there is.

    `refusals` are by what is refused: a kind in a namespace.
    """

    facts_at: float = -math.inf
    lost: Loss | None = None
    refusals: FrozenMap[str, Refusal] = field(default_factory=FrozenMap)

    def after_fact(self, at: float) -> Contact:
        """Return the contact after a fact at `at`."""
        return Contact(max(at, self.facts_at), self.lost, self.refusals)

    def after_refusal(self, at: float, what: str, why: str, reason: Reason) -> Contact:
        """Return the contact after a 401 or 403."""
        known = self.refusals.get(what)
        since, times = (known.since, known.times) if known is not None else (at, 0)
        refusal = Refusal(why, reason, since, times + 1, at)
        return replace(self, refusals=self.refusals.put(what, refusal))

    def after_grant(self, what: str) -> Contact:
        """Return the contact after `what` is no longer refused."""
        return replace(self, refusals=self.refusals.drop(what))

    @property
    def refusal(self) -> Refusal | None:
        """A refusal that lasts, None without one: trying again is pointless."""
        return next(self._lasting(), None)

    def describe_trouble(self, now: float) -> str | None:
        """Say why the server gives us nothing, None while it does."""
        if self.refusal is not None:
            return self.refusal.describe()
        return self.lost.describe(now) if self.lost is not None else None

    @property
    def trouble(self) -> Trouble | None:
        """What keeps us from the server: a refusal that has not ended, or its silence."""
        refusal = next(iter(self.refusals.values()), None) if not self.lost else self.refusal
        if refusal is not None:
            return Trouble(refusal.reason, refusal.why)
        return None if self.lost is None else Trouble(Reason.UNREACHABLE, self.lost.cause)

    def _lasting(self) -> Iterator[Refusal]:
        return (refusal for refusal in self.refusals.values() if refusal.lasts)

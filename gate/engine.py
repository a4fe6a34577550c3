"""The loop between the pure attempt and the world: events in, effects out, on one thread.

It does no I/O itself: effects go to worker lanes, their answers come back through the inbox.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from gate.clock import Clock
from gate.core.attempt import Attempt
from gate.core.effects import Announce, Asking, Effect
from gate.core.events import AttemptEvent, Woke
from gate.core.folding import UnexpectedAnswer
from gate.core.plan import Plan
from gate.core.step import begin, step, wake_at

HEARTBEAT_SECONDS = 30.0
LONGEST_NAP_SECONDS = 3600.0
"""What a queue can be asked to wait at once; an attempt without a wake time has infinity."""


class Listener(Protocol):
    """Who hears what happens; must return at once and raise nothing."""

    def said(self, announce: Announce) -> None:
        """Hear a line of the timeline."""

    def beat(self, attempt: Attempt) -> None:
        """Hear that nothing was said for 30 s."""


class Engine:
    """Runs one attempt to its end.

    `dispatch` takes an effect that is answered through `inbox` later; it must not block.
    """

    def __init__(
        self,
        clock: Clock,
        inbox: SimpleQueue[AttemptEvent],
        dispatch: Callable[[Asking], None],
        listener: Listener,
    ) -> None:
        """Take the ways in and out."""
        self._clock = clock
        self._inbox = inbox
        self._dispatch = dispatch
        self._listener = listener
        self._last_said_at = clock.now()

    def run(self, plan: Plan) -> Attempt:
        """Return the attempt in its end state."""
        attempt, effects = begin(plan, self._clock.now())
        self._perform(effects)
        while not attempt.ended:
            event = self._next_event(attempt)
            if event is None:
                continue
            try:
                attempt, effects = step(attempt, event)
            except UnexpectedAnswer:
                # The answer to a question that a signal or a deadline has made moot.
                continue
            self._perform(effects)
        return attempt

    def _next_event(self, attempt: Attempt) -> AttemptEvent | None:
        """Wait for what comes first: a message, the attempt's own time, the heartbeat."""
        now = self._clock.now()
        due_at = wake_at(attempt)
        beat_at = self._last_said_at + HEARTBEAT_SECONDS
        nap = min(due_at - now, beat_at - now, LONGEST_NAP_SECONDS)
        event = self._clock.receive(self._inbox, max(0.0, nap))
        if event is not None:
            return event
        now = self._clock.now()
        if now >= beat_at:
            self._last_said_at = now
            self._listener.beat(attempt)
        return Woke(now) if now >= due_at else None

    def _perform(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, Announce):
                self._last_said_at = self._clock.now()
                self._listener.said(effect)
            else:
                self._dispatch(effect)

"""The loop between the pure attempt and the world: events in, effects out, on one thread.

It does no I/O itself: effects go to worker lanes, their answers come back through the inbox.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Protocol

from gate.clock import Clock
from gate.core.attempt.state import Attempt
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce, Asking, Effect
from gate.core.protocol.events import Answer, AttemptEvent, ContactFailed, LeaseLost, Woke
from gate.core.steps.step import begin, step, wake_at

HEARTBEAT_SECONDS = 30.0
SUSPENDED_SECONDS = HEARTBEAT_SECONDS + 5.0
"""A wait that lasted longer was no wait: the process, or its machine, was stopped meanwhile."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A worker met a bug of ours, so that an effect will never be answered."""

    error: Exception


Message = AttemptEvent | Broken
Inbox = SimpleQueue[Message]


class Listener(Protocol):
    """Who hears what happens; must return at once and raise nothing."""

    def on_announce(self, announce: Announce) -> None:
        """Hear a line of the timeline."""

    def on_step(self, attempt: Attempt) -> None:
        """Hear that the attempt took a step; called very often."""

    def beat(self, attempt: Attempt) -> None:
        """Hear that nothing was said for 30 s."""


class Engine:
    """Runs one attempt to its end.

    `dispatch` takes an effect that is answered through `inbox` later; it must not block.
    `look_at_locks` is called after the process was suspended: it returns within a few seconds, and
    `LeaseLost` is in the inbox then where a lock is somebody else's.
    """

    def __init__(
        self,
        clock: Clock,
        inbox: Inbox,
        dispatch: Callable[[Asking], None],
        listener: Listener,
        look_at_locks: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the ways in and out."""
        self._clock = clock
        self._inbox = inbox
        self._dispatch = dispatch
        self._listener = listener
        self._look_at_locks = look_at_locks
        self._said_at = clock.now()
        self._awake_at = clock.now()

    def run(self, plan: Plan) -> Attempt:
        """Return the attempt in its end state; raises what broke a worker."""
        self._awake_at = self._clock.now()
        attempt, effects = begin(plan, self._awake_at)
        self._listener.on_step(attempt)
        self._perform(effects)
        while not attempt.ended:
            message = self._next(attempt)
            if isinstance(message, Broken):
                raise message.error
            if message is None or _is_stale(attempt, message):
                continue
            attempt, effects = step(attempt, message)
            self._listener.on_step(attempt)
            self._perform(effects)
        return attempt

    def _next(self, attempt: Attempt) -> Message | None:
        """Wait for what comes first: a message, the attempt's own time, the heartbeat.

        An attempt may have no time of its own: then the heartbeat bounds the wait.
        """
        now = self._clock.now()
        if now >= self._said_at + HEARTBEAT_SECONDS:
            self._said_at = now
            self._listener.beat(attempt)
        due_at = wake_at(attempt)
        nap = min(due_at, self._said_at + HEARTBEAT_SECONDS) - now
        message = self._clock.receive(self._inbox, max(0.0, nap))
        suspended_seconds = self._clock.now() - self._awake_at
        if suspended_seconds > SUSPENDED_SECONDS:
            message = self._after_suspension(message, suspended_seconds)
        self._awake_at = self._clock.now()
        if message is not None:
            return message
        now = self._clock.now()
        return Woke(now) if now >= due_at else None

    def _after_suspension(self, message: Message | None, seconds: float) -> Message:
        """Return what is to be heard first: whose the locks are, before any clock that ran on.

        What has happened meanwhile nobody has seen, as if the server had been away.
        """
        self._look_at_locks()
        unseen = ContactFailed(self._clock.now(), f"the gate was suspended for {seconds:.0f} s")
        waiting: list[Message] = [unseen] if message is None else [unseen, message]
        while not self._inbox.empty():
            waiting.append(self._inbox.get_nowait())
        waiting.sort(key=lambda one: not isinstance(one, LeaseLost))
        for one in waiting[1:]:
            self._inbox.put(one)
        return waiting[0]

    def _perform(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            if isinstance(effect, Announce):
                self._said_at = self._clock.now()
                self._listener.on_announce(effect)
            else:
                self._dispatch(effect)


def _is_stale(attempt: Attempt, message: AttemptEvent) -> bool:
    """Tell the answer to a question that a signal or a deadline has made moot."""
    return isinstance(message, Answer) and message.effect_id not in attempt.requests.outstanding

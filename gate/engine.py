"""The loop between the pure attempt and the world: events in, effects out, on one thread.

It does no I/O itself: effects go to worker lanes, and their answers come back through the inbox.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from gate.clock import Clock
from gate.core.attempt.state import Attempt
from gate.core.frozen import dataclass
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Announce, Effect
from gate.core.protocol.events import Answer, AttemptEvent, LeaseLost, Suspended, Woke
from gate.core.steps.step import begin, step, wake_at

HEARTBEAT_SECONDS = 30.0
LOOK_AT_CLOCK_SECONDS = 1.0
"""How often it looks: a suspension that is over before a wait for messages is shows nowhere."""
SUSPENDED_SECONDS = 2.0
"""How late a wait has to end to show that the process or its machine was suspended."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A worker hit a bug of ours: an effect will never be answered."""

    error: Exception


Message = AttemptEvent | Broken
Inbox = SimpleQueue[Message]


class Listener(Protocol):
    """Callbacks for what happens; they must return at once and raise nothing."""

    def on_announce(self, announce: Announce) -> None:
        """Take a line of the timeline."""

    def on_step(self, attempt: Attempt) -> None:
        """Take the attempt after each step; called very often."""

    def beat(self, attempt: Attempt) -> None:
        """Called when nothing was announced for 30 s."""


class Engine:
    """Runs one attempt to its end.

    `dispatch` takes the effects of a step, each answered through `inbox` later; it must not block.
    `look_at_locks` is called after the process was suspended. It returns within a few seconds, and
    has put `LeaseLost` into the inbox if a lock is now somebody else's.
    """

    def __init__(
        self,
        clock: Clock,
        inbox: Inbox,
        dispatch: Callable[..., None],
        listener: Listener,
        look_at_locks: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the clock, the inbox, and what receives effects and announcements."""
        self._clock = clock
        self._inbox = inbox
        self._dispatch = dispatch
        self._listener = listener
        self._look_at_locks = look_at_locks
        self._said_at = clock.now()
        self._awake_at = clock.now()

    def run(self, plan: Plan) -> Attempt:
        """Return the attempt in its end state; raises the exception that broke a worker."""
        self._awake_at = self._clock.now()
        attempt, effects = begin(plan, self._awake_at)
        self._listener.on_step(attempt)
        self._perform(effects)
        due_at = wake_at(attempt)
        while not attempt.ended:
            message = self._next(attempt, due_at)
            if isinstance(message, Broken):
                raise message.error
            if message is None or _is_stale(attempt, message):
                continue
            attempt, effects = step(attempt, message)
            due_at = wake_at(attempt)
            self._listener.on_step(attempt)
            self._perform(effects)
        return attempt

    def _next(self, attempt: Attempt, due_at: float) -> Message | None:
        """Wait for whichever comes first: a message, the wake time `due_at`, the heartbeat.

        Returns None where nothing came within `LOOK_AT_CLOCK_SECONDS`.
        """
        now = self._clock.now()
        if now >= self._said_at + HEARTBEAT_SECONDS:
            self._said_at = now
            self._listener.beat(attempt)
        nap = min(due_at, self._said_at + HEARTBEAT_SECONDS, now + LOOK_AT_CLOCK_SECONDS) - now
        message = self._clock.receive(self._inbox, max(0.0, nap))
        suspended_seconds = self._clock.now() - self._awake_at
        if suspended_seconds > max(0.0, nap) + SUSPENDED_SECONDS:
            message = self._after_suspension(message, suspended_seconds)
        self._awake_at = self._clock.now()
        if message is not None:
            return message
        now = self._clock.now()
        return Woke(now) if now >= due_at else None

    def _after_suspension(self, message: Message | None, seconds: float) -> Message:
        """Return the message to handle first: a lost lock comes before any deadline that passed.

        Nobody saw what happened meanwhile, so it counts as if the server had been unreachable,
        but for no budget.
        """
        self._look_at_locks()
        unseen = Suspended(self._clock.now(), seconds)
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
        asked = [effect for effect in effects if not isinstance(effect, Announce)]
        if asked:
            self._dispatch(*asked)


def _is_stale(attempt: Attempt, message: AttemptEvent) -> bool:
    """Tell whether it answers a question that a signal or a deadline has made moot."""
    return isinstance(message, Answer) and message.effect_id not in attempt.requests.outstanding

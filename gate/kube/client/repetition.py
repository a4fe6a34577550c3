"""How one request is repeated: for how long, and with which pauses.

A write that may have been done, or met a conflict, is no such request: the attempt decides it again
after a read, with pauses of `gate.kube.writes.writes`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import tenacity

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.kube.answers.failures import ApiError

Result = TypeVar("Result")

_LEAST_SECONDS = 1.0
"""The time that every attempt gets, however little is left."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one request.

    `answer_seconds` bounds the whole answer of a read, `write_seconds` that of a write: admission
    webhooks may take 30 s. `retry_seconds` bounds a read with its repetitions, and how long a write
    is repeated.
    """

    connect_seconds: float = 5.0
    answer_seconds: float = 15.0
    write_seconds: float = 35.0
    retry_seconds: float = 30.0
    first_pause_seconds: float = 0.2
    longest_pause_seconds: float = 5.0
    body_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Repetition:
    """Repeats one request within `limits`; once `stopping` is set it waits for nothing more.

    `jitter` returns a number from 0 to 1.
    """

    clock: Clock
    stopping: threading.Event
    limits: Limits
    jitter: Callable[[], float]

    def of(self, attempt: Callable[[float], Result], again: Callable[[ApiError], bool]) -> Result:
        """Repeat after errors that `again` accepts, until the budget would be overdrawn.

        Each attempt gets the seconds that are left of it; the last one's error is raised.
        """
        started = self.clock.now()

        def attempt_in_time() -> Result:
            left = self.limits.retry_seconds - (self.clock.now() - started)
            return attempt(max(left, _LEAST_SECONDS))

        def is_out_of_time(state: tenacity.RetryCallState) -> bool:
            elapsed = self.clock.now() - started
            overdrawn = elapsed + state.upcoming_sleep > self.limits.retry_seconds
            return overdrawn or self.stopping.is_set()

        def pause(seconds: float) -> None:
            self.clock.wait(seconds, self.stopping)

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda e: isinstance(e, ApiError) and again(e)),
            wait=self._pause_seconds,
            stop=is_out_of_time,
            sleep=pause,
            reraise=True,
        )
        return retrying(attempt_in_time)

    def _pause_seconds(self, state: tenacity.RetryCallState) -> float:
        """Double the pause from try to try, and never come before the server's Retry-After."""
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_seconds if isinstance(error, ApiError) else None
        return backoff_seconds(
            state.attempt_number - 1,
            self.limits.first_pause_seconds,
            self.limits.longest_pause_seconds,
            self.jitter(),
            asked,
        )


def backoff_seconds(
    tries: int, first: float, longest: float, jitter: float, asked: float | None = None
) -> float:
    """Return a pause that doubles with each try: its upper half by chance, `asked` at the least.

    `jitter` is 0 to 1; what the server asked for is exceeded by up to a tenth, so that not all who
    were asked the same come back at once.
    """
    pause = min(longest, first * 2.0 ** min(tries, 30)) * (1 + jitter) / 2
    return pause if asked is None else max(pause, asked * (1 + jitter / 10))

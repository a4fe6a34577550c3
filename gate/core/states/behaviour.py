"""What a step asks of the state that an attempt is in: one class, which each state derives from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from gate.core.attempt.state import Attempt, Step
from gate.core.attempt.transitions import Trigger
from gate.core.protocol.effects import Read
from gate.core.protocol.events import ReadBack
from gate.core.states.lines import Line
from gate.core.states.read_answers import Facts, fold_read
from gate.core.states.verdicts import Verdicts


class StateBehaviour(ABC):
    """One state of an attempt; `table.STATES` has one value of each.

    It has no fields: all that a state knows is in the attempt. A subclass overrides what differs
    from the defaults here, which ask for nothing and announce nothing.
    """

    is_final: ClassVar[bool] = False
    """Whether the ending is decided: no signal, departure, refusal or budget moves the attempt."""
    has_writes_ahead: ClassVar[bool] = False
    """Whether the leg may still send writes; a signal on the way back waits for them."""

    @abstractmethod
    def enter(self, attempt: Attempt, trigger: Trigger, verdicts: Verdicts, /) -> Step:
        """Return the attempt, whose course is in this state already, and what it asks for.

        `trigger` is what led here, `verdicts` is what was known when it fired.
        """

    @abstractmethod
    def next_trigger(self, attempt: Attempt, verdicts: Verdicts, /) -> Trigger | None:
        """Return the trigger that the facts enable, None if the state has to wait."""

    def ask(self, attempt: Attempt, /) -> Step:
        """Return what is due while the state lasts; the attempt unchanged if nothing is."""
        return attempt, ()

    def wake_times(self, _attempt: Attempt, /) -> Iterator[float]:
        """Yield when `next_trigger` or `ask` may answer otherwise (monotonic seconds).

        Times that have passed are ignored.
        """
        yield from ()

    def describe_exit(
        self, _attempt: Attempt, _trigger: Trigger, _verdicts: Verdicts, /
    ) -> Iterator[Line]:
        """Yield the timeline's lines for leaving the state by `trigger`."""
        yield from ()

    def can_read_aside(self, _attempt: Attempt, /) -> bool:
        """Tell whether a read that decides nothing would delay no write."""
        return not self.has_writes_ahead

    def fold_read(
        self, attempt: Attempt, effect: Read, answer: ReadBack, /
    ) -> tuple[Attempt, Facts]:
        """Return the attempt after an answered read, and the observations that it contains."""
        return fold_read(attempt, effect, answer)

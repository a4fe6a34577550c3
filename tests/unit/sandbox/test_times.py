"""The sandbox's timers and names: in order, cancelled without a trace, the same from one seed."""

from __future__ import annotations

import math
import weakref

from sandbox.times import Timers


def test_callbacks_come_at_their_times_and_in_the_order_asked_for() -> None:
    """One that asks for another on the way gets it, at its time."""
    timers, seen = Timers(), []

    def first() -> None:
        seen.append(("first", timers.now()))
        timers.call_later(1.0, lambda: seen.append(("later", timers.now())))

    timers.call_at(2.0, first)
    timers.call_at(2.0, lambda: seen.append(("second", timers.now())))
    timers.run_due(10.0)
    assert seen == [("first", 2.0), ("second", 2.0), ("later", 3.0)]
    assert timers.now() == 10.0
    assert timers.due_at() == math.inf


def test_a_cancelled_timer_does_not_happen_and_holds_nothing() -> None:
    """What its callback held can go at once, not only when its time would have come."""

    class Held:
        """Something large."""

        def call(self) -> None:
            """Never be called."""
            raise AssertionError

    held = Held()
    gone = weakref.ref(held)
    timers = Timers()
    timer = timers.call_later(3600.0, held.call)
    del held
    assert gone() is not None
    timer.cancel()
    assert gone() is None
    timers.run_due(7200.0)

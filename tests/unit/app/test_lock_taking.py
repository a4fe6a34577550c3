"""A lock whose taking was done and whose answer was lost is ours, and holds nobody up."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, cast

import pytest

from gate.app.locking import _Waiting
from gate.core.lock import Lock
from gate.kube.failures import Forbidden, TimedOut
from gate.kube.lease import Held, Holder, Leases
from gate.virtual_time import VirtualClock

LOCK = Lock("shop", "rollout-gate.deployment.web")
ME, OTHER = Holder("ci 1"), Holder("ci 2")


class Stored:
    """A server's Leases, which can lose an answer before or after it has done what was asked."""

    def __init__(self, holder: Holder | None = None) -> None:
        self.held = None if holder is None else Held(LOCK, "uid", "1", holder)
        self.loses: str = ""

    def read(self, _: Lock) -> Held | None:
        """Return what there is."""
        return self.held

    def create(self, _: Lock, holder: Holder, __: datetime) -> Held | None:
        """Make the Lease."""
        return self._done(Held(LOCK, "uid", "1", holder))

    def claim(self, held: Held, holder: Holder, _: datetime) -> Held:
        """Take the Lease over."""
        return self._done(replace(held, holder=holder, resource_version="2"))

    def release(self, held: Held, *_: Any) -> None:
        """Give it back."""
        self.held = replace(held, holder=Holder(""))

    def _done(self, held: Held) -> Held:
        lost, self.loses = self.loses, ""
        if lost != "request":
            self.held = held
        if lost:
            raise TimedOut("the answer was lost")
        return held


def waiting(stored: Stored) -> _Waiting:
    """Return who wants the lock."""
    return _Waiting(VirtualClock(), cast("Leases", stored), ME, own_job_at_once=False)


@pytest.mark.contract("B520")
@pytest.mark.parametrize("before", [None, Holder("")])
def test_a_lock_whose_answer_was_lost_is_read_back(before: Holder | None) -> None:
    """Made or taken over: it is ours, and we hold it."""
    stored = Stored(before)
    stored.loses = "answer"
    taken = waiting(stored).take({LOCK: stored.held})
    assert taken is not None
    assert taken[0].holder.identity == ME.identity


@pytest.mark.contract("B520")
def test_a_request_that_was_lost_is_sent_again() -> None:
    """It was not done: nobody holds it, and the next try takes it."""
    stored = Stored()
    stored.loses = "request"
    asking = waiting(stored)
    assert asking.take({LOCK: stored.held}) is None
    assert asking.take({LOCK: stored.held}) is not None


@pytest.mark.contract("B520")
def test_what_we_hold_already_is_free_to_us() -> None:
    """An earlier try of this attempt, of which nothing was heard any more; not of another one."""
    stored = Stored(ME)
    asking = waiting(stored)
    assert asking.free_at(stored.held) == asking.clock.now()
    assert asking.free_at(Stored(OTHER).held) > asking.clock.now()


def test_what_was_surely_not_done_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is one."""
    stored = Stored()

    def refused(*_: Any) -> Held:
        raise Forbidden("no")

    asking = waiting(stored)
    monkeypatch.setattr(stored, "create", refused)
    with pytest.raises(Forbidden):
        asking.take({LOCK: None})

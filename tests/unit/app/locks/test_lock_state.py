"""What `locks` says of a lock: free, held, expired, dead."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gate.app.locks.lock_state import LockState, state_of
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.lock import lock_of
from gate.core.model.lock_holder import NOBODY, Holder, Process
from gate.kube.locks.lease import DURATION_SECONDS, Held
from gate.processes import Processes

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HERE = Process("here", "boot", "namespaces", 7, 100)
DEAD = Process("here", "boot", "namespaces", 8, 100)


class ThisMachine(Processes):
    """A machine on which every other process has ended."""

    def this(self) -> Process:
        """Return a process of this machine."""
        return HERE

    def has_ended(self, process: Process) -> bool:
        """Tell of any but this one that it has."""
        return process != HERE


def state(seconds_ago: float, **changes: object) -> LockState:
    """Return the state of a lock that was renewed some seconds ago, with changes to it."""
    renewed = (NOW - timedelta(seconds=seconds_ago)).isoformat()
    held = Held(
        lock_of(deployment_ref("shop", "web")), "u1", "1", Holder("ci/7 abc"), renewed=renewed
    )
    return state_of(replace(held, **changes), NOW, ThisMachine())  # type: ignore[arg-type]


@pytest.mark.contract("B527")
def test_a_lock_has_expired_once_its_duration_has_passed() -> None:
    """Counted from its last renewal; the Lease itself says for how long."""
    assert state(DURATION_SECONDS) is LockState.HELD
    assert state(DURATION_SECONDS + 1) is LockState.EXPIRED
    assert state(DURATION_SECONDS + 1, seconds=DURATION_SECONDS + 1) is LockState.HELD
    assert state(31, seconds=30) is LockState.EXPIRED


@pytest.mark.contract("B527")
@pytest.mark.parametrize("seconds_ago", [0, 100 * DURATION_SECONDS])
def test_who_is_proven_dead_holds_nothing_however_lately_it_was_renewed(seconds_ago: int) -> None:
    """Its process was of this machine and has ended; one that runs holds until it expires."""
    assert state(seconds_ago, holder=Holder("me", process=DEAD)) is LockState.DEAD
    lives = state(seconds_ago, holder=Holder("me", process=HERE))
    assert lives is (LockState.EXPIRED if seconds_ago else LockState.HELD)


@pytest.mark.contract("B527")
@pytest.mark.parametrize("renewed", ["", "yesterday"])
def test_a_lock_without_a_time_is_held(renewed: str) -> None:
    """Somebody else may have written it: nothing shows that it has expired."""
    assert state(0, renewed=renewed) is LockState.HELD


@pytest.mark.contract("B527")
@pytest.mark.parametrize(
    ("record", "released", "process", "expected"),
    [
        ("", True, None, LockState.FREE),
        ("open", False, None, LockState.FREE),
        ("open", True, None, LockState.RELEASED),
        ("open", True, HERE, LockState.RELEASED),
        ("open", True, DEAD, LockState.FREE),
    ],
)
def test_a_lock_that_was_given_back_for_a_run_is_not_plainly_free(
    record: str, released: bool, process: Process | None, expected: LockState
) -> None:
    """That run may live and has left a record; one that has ended is no more in it."""
    holder = replace(NOBODY, process=process, was_released=released)
    assert state(10_000, holder=holder, record=record) is expected

"""The work queue: once a key, retries at the controllers' rate."""

from __future__ import annotations

from collections.abc import Callable

from sandbox.controllers.queue import Later, SyncError, WorkQueue
from sandbox.failure import ApiError, forbidden
from sandbox.times import Timers


class Syncs:
    """Remembers when a key was synced; fails as it is told to."""

    def __init__(self, timers: Timers, fails: Callable[[], Exception | None]) -> None:
        self.at: list[float] = []
        self._timers = timers
        self._fails = fails

    def __call__(self, _key: str) -> None:
        """Sync a key."""
        self.at.append(round(self._timers.now(), 4))
        failure = self._fails()
        if failure is not None:
            raise failure


def test_failed_syncs_are_retried_after_5_ms_doubling(timers: Timers) -> None:
    """The waits of one key double from 5 ms."""
    syncs = Syncs(timers, lambda: SyncError("no"))
    WorkQueue(timers, syncs).add("a")
    timers.run_due(0.1)
    waits = [
        round(later - earlier - 0.001, 4)
        for earlier, later in zip(syncs.at, syncs.at[1:], strict=False)
    ]
    assert waits == [0.005, 0.01, 0.02, 0.04]


def test_a_refusal_by_a_terminating_namespace_is_not_retried(timers: Timers) -> None:
    """Nothing can be created there any more."""

    def refusal() -> ApiError:
        error = forbidden("pods", "", "p", "because it is being terminated")
        error.details["causes"] = [{"reason": "NamespaceTerminating"}]
        return error

    syncs = Syncs(timers, refusal)
    WorkQueue(timers, syncs).add("a")
    timers.run_due(100)
    assert syncs.at == [0.001]


def test_a_sync_holds_its_key_for_its_work(timers: Timers) -> None:
    """What changes while a sync writes is one sync after it; another key does not wait."""
    syncs = Syncs(timers, lambda: None)
    queue = WorkQueue(timers, syncs, work_seconds=0.005)
    queue.add("a")
    timers.run_due(0.002)
    queue.add("a")
    queue.add("b")
    timers.run_due(1)
    assert syncs.at == [0.001, 0.003, 0.006]


def test_the_rest_of_a_sync_holds_its_key_and_can_fail(timers: Timers) -> None:
    """A sync in two parts is one: the key waits for the second, whose failure is retried.

    The second sync is the one that was added meanwhile, the third is the retry.
    """
    done: list[tuple[str, float]] = []

    def rest() -> None:
        done.append(("rest", round(timers.now(), 4)))
        if len(done) == 2:
            raise SyncError("no")

    def sync(_key: str) -> Later:
        done.append(("sync", round(timers.now(), 4)))
        return Later(0.02, rest)

    queue = WorkQueue(timers, sync)
    queue.add("a")
    timers.run_due(0.005)
    queue.add("a")
    timers.run_due(0.2)
    assert done == [
        ("sync", 0.001),
        ("rest", 0.021),
        ("sync", 0.021),
        ("rest", 0.041),
        ("sync", 0.041),
        ("rest", 0.061),
    ]

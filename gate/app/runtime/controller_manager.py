"""Checks whether the controller manager is alive, by its Lease, once a rollout stalls.

Leader election renews the Lease every 2 s (`--leader-elect-retry-period`). A Lease that cannot be
read (no permission, no such Lease) is evidence of nothing: it is not read again, and a silence that
was reported before ends. Nor is one that is older than what controllers created: they renew another
(`--leader-elect-resource-name`). The way back has rollouts of its own, which know of no earlier
silence.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from gate.clock import Clock
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.lock import Lock
from gate.core.model.moments import parse_moment
from gate.core.plan.leg import Leg
from gate.core.protocol.events import ControllersActed, ControllersSilent
from gate.core.rollout.creation_times import find_newest_creation
from gate.kube.answers.failures import ApiError
from gate.kube.client.client import Client
from gate.kube.client.repetition import Limits
from gate.kube.locks.lease import Leases

LEASE: Final = Lock("kube-system", "kube-controller-manager")
STALLED_SECONDS: Final = 10.0
"""How long nothing must have moved before the Lease is read."""
LOOK_SECONDS: Final = 10.0
SILENT_SECONDS: Final = 20.0
"""A Lease unchanged for this long is silent: a leader gives up after 10 s (renewal deadline)."""

_WATCHING: Final = (State.AWAITING, State.FOLLOWING, State.BAKING)
_LIMITS: Final = Limits(answer_seconds=5.0, retry_seconds=0.0)

Put = Callable[[ControllersSilent | ControllersActed], None]


class ControllerManagerWatch:
    """Reads the Lease every 10 s while nothing moves, as in a bake window; reports its silence.

    Failures of these reads do not count as lost contact with the server.
    """

    def __init__(self, clock: Clock, client: Client, put: Put, stopping: threading.Event) -> None:
        """Share the client's connections and pace; `run` ends once `stopping` is set."""
        alone = Client(client.connection, clock, limits=_LIMITS, stopping=stopping)
        alone.pace = client.pace
        self._clock = clock
        self._leases = Leases(alone)
        self._put = put
        self._stopping = stopping
        self._attempt: Attempt | None = None
        self._leg = Leg.FORWARD
        self._renewed = ""
        self._same_since = 0.0
        self._looked_at = 0.0
        self._is_silent = False

    def on_step(self, attempt: Attempt) -> None:
        """Take the current state of the attempt."""
        self._attempt = attempt

    def run(self) -> None:
        """Look until `stopping` is set, or until it is clear that the Lease cannot be read."""
        while not self._clock.wait(LOOK_SECONDS, self._stopping):
            attempt = self._attempt
            if attempt is None:
                continue
            if attempt.course.leg is not self._leg:
                self._leg, self._renewed, self._is_silent = attempt.course.leg, "", False
            if attempt.course.state not in _WATCHING:
                continue
            if not _is_stalled(attempt, self._clock.now()):
                self._tell(is_silent=False)
                self._renewed = ""
            elif not self._look(attempt):
                self._tell(is_silent=False)
                return

    def _look(self, attempt: Attempt) -> bool:
        """Read the Lease; False if it cannot be read, now or later.

        After a standstill of the gate it is watched again: both may run on one machine.
        """
        looked_at, self._looked_at = self._looked_at, self._clock.now()
        stood_still = self._looked_at - looked_at > SILENT_SECONDS
        try:
            held = self._leases.read(LEASE)
        except ApiError as error:
            return error.transient
        if held is None:
            return False
        now = self._clock.now()
        if held.renewed != self._renewed or (stood_still and not self._is_silent):
            self._renewed, self._same_since = held.renewed, now
        is_same = bool(held.renewed) and now - self._same_since >= SILENT_SECONDS
        self._tell(is_silent=is_same and not _is_outlived(held.renewed, attempt))
        return True

    def _tell(self, *, is_silent: bool) -> None:
        if is_silent == self._is_silent:
            return
        self._is_silent, now = is_silent, self._clock.now()
        self._put(ControllersSilent(now, self._same_since) if is_silent else ControllersActed(now))


def _is_outlived(renewed: str, attempt: Attempt) -> bool:
    """Tell whether controllers created something long after a Lease was last renewed.

    Both times are of the control plane, whose clocks may differ by less than `SILENT_SECONDS`.
    """
    renewed_at = parse_moment(renewed)
    if renewed_at is None:
        return False
    snapshots = (one.snapshot for one in attempt.workloads.rollouts.values())
    acts = (at for one in snapshots if (at := find_newest_creation(one)))
    return any((at - renewed_at).total_seconds() > SILENT_SECONDS for at in acts)


def _is_stalled(attempt: Attempt, now: float) -> bool:
    """Tell whether a workload that is still followed has not moved for `STALLED_SECONDS`.

    One that is complete counts: in a bake window none of them is to move.
    """
    waited_for = (
        one
        for ref, one in attempt.workloads.rollouts.items()
        if ref not in attempt.interference.departures
    )
    return any(now - one.progress.last_at >= STALLED_SECONDS for one in waited_for)

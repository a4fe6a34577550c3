"""Pushes the metrics of a run to a Pushgateway: one group for each workload.

A PUT replaces the whole group, so that nothing of an earlier attempt is left in it. The group of a
workload that is gone is deleted. One time limit covers all requests, whatever the server does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from gate.clock import Clock
from gate.core.frozen import dataclass
from gate.metrics.gateway_url import GatewayUrl
from gate.metrics.run import NOWHERE, Place
from gate.metrics.stale import Existing, stale_groups
from gate.side_by_side import each

PUSH_SECONDS: Final = 3.0
"""How long all requests of a run may take together."""


class NotTaken(Exception):
    """The Pushgateway did not accept a request; the message is one clean line."""


class Send(Protocol):
    """Sends one request; `NotTaken` unless it is answered with 2xx within `seconds`."""

    def __call__(self, method: str, url: str, seconds: float, body: bytes = b"") -> bytes:
        """Return the response's body."""


@dataclass(frozen=True, slots=True)
class Groups:
    """What a Pushgateway is to hold after the run.

    `texts` are the metrics of each workload, None for one that is gone. `existing` says what the
    cluster has, None if unknown.
    """

    texts: Mapping[Place, bytes | None]
    existing: Existing | None = None


@dataclass(frozen=True, slots=True)
class Pushed:
    """The result of a push.

    `problem` says why nothing or not everything was pushed, `unswept` why stale groups may remain;
    "" for none. `removed` are the workloads whose stale groups were deleted.
    """

    problem: str = ""
    unswept: str = ""
    removed: tuple[Place, ...] = ()


class Pushgateway:
    """One Pushgateway, for the end of one run."""

    def __init__(self, url: GatewayUrl, send: Send, clock: Clock) -> None:
        """Take its URL, and what sends to it."""
        self._url = url
        self._send = send
        self._clock = clock

    def push(self, groups: Groups, seconds: float = PUSH_SECONDS) -> Pushed:
        """Push within `seconds` and return the result; never raises for failures of the server."""
        late = f"there was no answer within {seconds:.1f} s"
        stages = [Pushed(late)]
        ends_at = self._clock.now() + seconds

        def count_seconds_left() -> float:
            return ends_at - self._clock.now()

        def work() -> None:
            stages.append(self._replace_groups(groups, count_seconds_left, late))
            if not stages[-1].problem:
                stages.append(self._sweep_stale_groups(groups, count_seconds_left))

        if seconds <= 0:
            return Pushed("no time is left for it")
        self._clock.wait(seconds, self._clock.start(work, "pushgateway"))
        return stages[-1]

    def _replace_groups(self, groups: Groups, left: Callable[[], float], late: str) -> Pushed:
        """Put the groups; return the result in case time runs out before the sweep."""
        try:
            self._put(groups.texts, left)
        except NotTaken as error:
            return Pushed(str(error))
        return Pushed(unswept=late if groups.existing is not None else "")

    def _put(self, texts: Mapping[Place, bytes | None], left: Callable[[], float]) -> None:
        def put(place: Place) -> None:
            text = texts[place]
            method = "DELETE" if text is None else "PUT"
            self._send(method, self._url.group(place), left(), text or b"")

        each(self._clock, put, [place for place in texts if place != NOWHERE])

    def _sweep_stale_groups(self, groups: Groups, left: Callable[[], float]) -> Pushed:
        """Delete stale groups, except those of this run."""

        def delete(place: Place) -> None:
            self._send("DELETE", self._url.group(place), left())

        if groups.existing is None:
            return Pushed()
        try:
            answer = self._send("GET", self._url.groups, left())
            found = stale_groups(answer, self._url.labels, groups.existing)
            gone = tuple(place for place in found if place not in groups.texts)
            each(self._clock, delete, gone)
        except NotTaken as error:
            return Pushed(unswept=str(error))
        except ValueError as error:
            return Pushed(unswept=f"the answer is {error}")
        return Pushed(removed=gone)

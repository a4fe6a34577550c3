"""Pushes the metrics of a run to a Pushgateway: one group for each Deployment.

A PUT replaces the whole group, so that nothing of an attempt before is left in it. The group of a
Deployment that is gone is deleted. All of it has one bound, which holds whatever the server does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gate.clock import Clock
from gate.metrics.gateway_url import GatewayUrl
from gate.metrics.run import NOWHERE, Place
from gate.metrics.stale import Existing, stale_groups
from gate.side_by_side import each

PUSH_SECONDS: Final = 3.0
"""How long all requests of a run may take together."""


class NotTaken(Exception):
    """A request that the Pushgateway did not take; the message is one clean line."""


class Send(Protocol):
    """Sends one request; `NotTaken` unless it was answered with 2xx within the seconds."""

    def __call__(self, method: str, url: str, seconds: float, body: bytes = b"") -> bytes:
        """Return the answer's body."""


@dataclass(frozen=True, slots=True)
class Groups:
    """What is to stand in a Pushgateway after the run.

    `texts` are the metrics of each Deployment, None of one that is gone. `existing` says what the
    cluster has, None where nobody knows.
    """

    texts: Mapping[Place, bytes | None]
    existing: Existing | None = None


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came of it: why nothing or not all was pushed, why stale groups may stand, "" for none.

    `removed` are the Deployments whose groups were stale.
    """

    problem: str = ""
    unswept: str = ""
    removed: tuple[Place, ...] = ()


class Pushgateway:
    """One Pushgateway, for one run's end."""

    def __init__(self, url: GatewayUrl, send: Send, clock: Clock) -> None:
        """Take where it is, and what sends to it."""
        self._url = url
        self._send = send
        self._clock = clock

    def push(self, groups: Groups, seconds: float = PUSH_SECONDS) -> Pushed:
        """Push within `seconds`, and tell what came of it; never raises for what the world does."""
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
        """Put what there is, and say how far it came if the time ends now."""
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
        """Delete what is stale, the groups of this run aside."""

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

"""A scenario while it plays: its times count from the moment at which it begins."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Final

from sandbox.api.api import Api
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.kubelet.behaviour import Clause
from sandbox.kubelet.kubelet import Kubelet
from sandbox.scenario.actions import Actor
from sandbox.scenario.scenario import Event, Measurement, Scenario
from sandbox.storage.store import Change, Key

DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Happening:
    """An event that took place; `refusal` is the API server's, empty where it obeyed."""

    at: float
    text: str
    refusal: str = ""


class Play:
    """One performance of a scenario in a sandbox; it is the kubelet's source of behaviours."""

    def __init__(
        self,
        scenario: Scenario,
        api: Api,
        kubelet: Kubelet,
        namespace: str = "default",
        *,
        outranks_annotations: bool = False,
    ) -> None:
        self.outranks_annotations = outranks_annotations
        self._scenario = scenario
        self._api = api
        self._timers = api.timers
        self._kubelet = kubelet
        self._actor = Actor(api, kubelet, namespace)
        self._started_at = 0.0
        self._zero = math.inf
        self._happened: list[Happening] = []

    @property
    def happened(self) -> tuple[Happening, ...]:
        """The events so far, with the seconds since the start."""
        return tuple(self._happened)

    @property
    def ahead(self) -> tuple[Event, ...]:
        """The events that have not taken place yet."""
        return self._scenario.events[len(self._happened) :]

    @property
    def waited_seconds(self) -> float:
        """How long it waited to begin once it was started; infinity while it waits."""
        return self._zero - self._started_at

    def start(self) -> None:
        """Let it begin now: second 0 of the scenario."""
        self._started_at = self._timers.now()
        self._kubelet.follow(self)
        self._begin()

    def start_with(self, key: Key) -> None:
        """Let it begin once the spec of an object is written next; until then nothing happens."""
        self._started_at = self._timers.now()
        self._kubelet.follow(self)

        def hear(change: Change) -> None:
            if change.key == key and _generation(change.after) > _generation(change.before):
                end()
                self._begin()

        end = self._api.store.listen(key.resource, hear)

    def _begin(self) -> None:
        self._zero = self._timers.now()
        for at in self._scenario.images.times:
            self._timers.call_at(self._zero + at, self._kubelet.reconsider)
        for event in self._scenario.events:
            self._timers.call_at(self._zero + event.at, partial(self._perform, event))

    def clauses(self, pod: JSON) -> tuple[Clause, ...]:
        """Return what a pod is asked to do now."""
        return self._scenario.images.clauses(pod, self._count_elapsed_seconds())

    def log(self, image: str) -> str:
        """Return what containers of an image write."""
        return self._scenario.images.log(image)

    def measurement(self, check: str) -> Measurement | None:
        """Return what a health check measures now; None where the scenario does not say."""
        series = self._scenario.checks.get(check)
        return series.at(self._count_elapsed_seconds()) if series else None

    def _perform(self, event: Event) -> None:
        refusal = ""
        try:
            event.action(self._actor)
        except ApiError as error:
            refusal = error.message
        self._happened.append(Happening(event.at, event.text, refusal))

    def _count_elapsed_seconds(self) -> float:
        """Return the seconds since second 0, negative infinity before it.

        They are rounded, since a sum of floats can fall short.
        """
        if self._zero == math.inf:
            return -math.inf
        return round(self._timers.now() - self._zero, DIGITS)


def _generation(body: JSON | None) -> int:
    """Return which version of its spec an object has, 0 without an object (`metadata`)."""
    return int(body["metadata"].get("generation", 0)) if body is not None else 0

"""A recording in short: what the controller said of itself, in which order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from tests.cluster.kubelet.api import JSON
from tests.conformance.recording import Recording
from tests.conformance.scenarios import NAME

Item = TypeVar("Item")
COUNTERS = (
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)
_GENERATED = re.compile(rf"{NAME}-[a-z0-9]+(-[a-z0-9]{{5}})?")


@dataclass(frozen=True, slots=True)
class Story:
    """How a Deployment went on.

    `pairs` are (generation, observedGeneration) without repetitions; `conditions` are the changes
    of its conditions as `Type=Status/Reason`, the first of each type with what the apply found.
    """

    pairs: tuple[tuple[int, int], ...]
    conditions: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"pairs": [[*pair] for pair in self.pairs], "conditions": [*self.conditions]}

    @classmethod
    def of_document(cls, document: dict[str, Any]) -> Story:
        """Return the story of `document`."""
        first_second = ((first, second) for first, second in document["pairs"])
        return cls(tuple(first_second), tuple(document["conditions"]))


def story(recording: Recording) -> Story:
    """Return how the Deployment of a recording went on."""
    versions = [*deployments(recording)]
    pairs = ((body["metadata"]["generation"], observed(body)) for body in versions)
    return Story(tuple(_without_repetitions(pairs)), tuple(_changes(versions)))


def counted(recording: Recording) -> set[str]:
    """Return the counters of the Deployment's status that were ever above 0."""
    statuses = [body.get("status", {}) for body in deployments(recording)]
    return {name for status in statuses for name in COUNTERS if status.get(name, 0) > 0}


def said(recording: Recording) -> set[tuple[str, ...]]:
    """Return what the controllers' events said, with the names of pods and ReplicaSets left out."""
    return {
        _said(line.object) for line in recording.of_kind("Event") if _by_controller(line.object)
    }


def _by_controller(event: JSON) -> bool:
    return str(event["source"].get("component")).endswith("-controller")


def _said(event: JSON) -> tuple[str, ...]:
    about, source = event["involvedObject"]["kind"], event["source"]["component"]
    message = _GENERATED.sub("NAME", event["message"])
    reporter = event.get("reportingComponent", "")
    return about, event["type"], event["reason"], source, reporter, message


def deployments(recording: Recording) -> Iterator[JSON]:
    """Yield every version of the Deployment, from what the apply returned on."""
    yield recording.applied
    yield from (line.object for line in recording.of_kind("Deployment"))


def observed(body: JSON) -> int:
    """Return the generation that the controller has observed, 0 before the first."""
    return int(body.get("status", {}).get("observedGeneration", 0))


def _without_repetitions(items: Iterable[Item]) -> Iterator[Item]:
    last: Item | None = None
    for item in items:
        if item != last:
            yield item
        last = item


def _changes(versions: Iterable[JSON]) -> Iterator[str]:
    standing: dict[str, str] = {}
    for body in versions:
        for each in body.get("status", {}).get("conditions", ()):
            condition_text = f"{each['type']}={each['status']}/{each['reason']}"
            if standing.get(each["type"]) != condition_text:
                yield condition_text
            standing[each["type"]] = condition_text
        there = {each["type"] for each in body.get("status", {}).get("conditions", ())}
        for gone in sorted(set(standing) - there):
            yield f"{gone} is gone"
            del standing[gone]

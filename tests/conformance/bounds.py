"""Whether a rollout kept to the surge and the unavailability that its strategy allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.cluster.kubelet.api import JSON
from tests.conformance.recording import Recording
from tests.conformance.summary import deployments


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many pods there may be at most, and must be available at least."""

    most: int
    least: int


def bounds(applied: JSON) -> Bounds:
    """Return the bounds of a rollout from what its apply returned.

    Shares are rounded as the controller rounds: surge up, unavailable down, one of both at least
    1. What there is too much, or not available, before the rollout begins is allowed.
    """
    wanted: int = applied["spec"]["replicas"]
    there: int = applied.get("status", {}).get("replicas", 0)
    available: int = applied.get("status", {}).get("availableReplicas", 0)
    rolling = applied["spec"]["strategy"].get("rollingUpdate")
    if rolling is None:
        return Bounds(max(wanted, there), 0)
    surge = _share(rolling["maxSurge"], wanted, math.ceil)
    unavailable = _share(rolling["maxUnavailable"], wanted, math.floor)
    least = wanted - (unavailable if surge or unavailable else 1)
    return Bounds(max(wanted + surge, there), min(available, least))


def _share(asked: int | str, of: int, rounded: Callable[[float], int]) -> int:
    if isinstance(asked, int):
        return asked
    return rounded(of * int(asked.removesuffix("%")) / 100)


def broken(recording: Recording, deleted: int = 0) -> list[str]:
    """Return what lies outside of the bounds; `deleted` pods were taken away by somebody else."""
    allowed = bounds(recording.applied)
    return [*_counters(recording, allowed, deleted), *_wanted(recording, allowed)]


def _counters(recording: Recording, allowed: Bounds, deleted: int) -> Iterator[str]:
    wanted: int = recording.applied["spec"]["replicas"]
    least = allowed.least - deleted
    for body in deployments(recording):
        status = body.get("status", {})
        every = status.get("replicas", 0)
        ready, available = status.get("readyReplicas", 0), status.get("availableReplicas", 0)
        updated = status.get("updatedReplicas", 0)
        holds = {
            f"replicas <= {allowed.most}": every <= allowed.most,
            "updated <= replicas": updated <= every,
            "available <= ready <= replicas": available <= ready <= every,
            f"available >= {least}": available >= least,
            "unavailable": 0 <= status.get("unavailableReplicas", 0) <= allowed.most - least,
            "terminating": 0 <= status.get("terminatingReplicas", 0) <= allowed.most + deleted,
            "wanted": body["spec"]["replicas"] == wanted,
        }
        version = body["metadata"]["resourceVersion"]
        yield from (f"{version}: {name}: {status}" for name, kept in holds.items() if not kept)


def _wanted(recording: Recording, allowed: Bounds) -> Iterator[str]:
    """Look at what the ReplicaSets are asked for, all of them together, at each change."""
    before = (body for body in recording.before if body["kind"] == "ReplicaSet")
    asked = {body["metadata"]["uid"]: body["spec"]["replicas"] for body in before}
    for line in recording.of_kind("ReplicaSet"):
        asked[line.object["metadata"]["uid"]] = line.object["spec"]["replicas"]
        if sum(asked.values()) > allowed.most:
            yield f"{line.object['metadata']['resourceVersion']}: {asked} are asked for"

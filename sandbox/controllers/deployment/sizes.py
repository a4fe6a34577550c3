"""How many pods a ReplicaSet gets: surge, unavailability and proportions, as plain arithmetic.

Rules of the Deployment controller (kubernetes `pkg/controller/deployment/util`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Bound = int | str | None
"""A count or a percentage, as `maxSurge` and `maxUnavailable` are written."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a rollout may go beyond its size, and below it."""

    surge: int
    unavailable: int


def limits(strategy: dict[str, Any], replicas: int) -> Limits:
    """Return what a Deployment's strategy allows; nothing where all pods are recreated."""
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return Limits(0, 0)
    rolling = strategy.get("rollingUpdate") or {}
    surge = resolve_bound(rolling.get("maxSurge"), replicas, up=True)
    unavailable = resolve_bound(rolling.get("maxUnavailable"), replicas, up=False)
    if surge == 0 and unavailable == 0:
        # Rounding made both zero, and something has to move: surge may fail by a quota.
        unavailable = 1
    return Limits(surge, min(unavailable, replicas))


def resolve_bound(bound: Bound, replicas: int, *, up: bool) -> int:
    """Return a bound as a count of pods; a percentage is rounded up or down."""
    if bound is None:
        return 0
    if isinstance(bound, int):
        return bound
    pods = int(bound.removesuffix("%")) * replicas
    return -(-pods // 100) if up else pods // 100


def new_size(*, replicas: int, surge: int, new: int, everything: int) -> int:
    """Return what the new ReplicaSet of a rolling update may grow to.

    `everything` is the size of all ReplicaSets together, the new one's of `new` with them.
    """
    room = replicas + surge - everything
    return new + min(room, replicas - new) if room > 0 else new


@dataclass(frozen=True, slots=True)
class Share:
    """A ReplicaSet that takes part in a scaling; `most_before` is its max-replicas annotation."""

    name: str
    size: int
    most_before: int | None


def proportional(shares: list[Share], *, replicas: int, surge: int, actual: int) -> dict[str, int]:
    """Return new sizes that keep the proportions; `shares` are sorted, the largest first.

    `actual` stands in for a missing annotation: the pods that the Deployment has now. What
    rounding leaves over goes to the first.
    """
    most = replicas + surge if replicas > 0 else 0
    to_add = most - sum(share.size for share in shares)
    sizes: dict[str, int] = {}
    added = 0
    for share in shares:
        part = _part(share, replicas, replicas + surge, actual)
        change = _clamp_part(part, to_add, added) if share.size else 0
        sizes[share.name] = share.size + change
        added += change
    if shares and to_add:
        first = shares[0].name
        sizes[first] = max(0, sizes[first] + to_add - added)
    return sizes


def _part(share: Share, replicas: int, most: int, actual: int) -> int:
    """Return by how much a ReplicaSet would change if only its proportion counted."""
    if replicas == 0:
        return -share.size
    before = share.most_before or actual
    return _round_half_up(share.size * most / before) - share.size if before else 0


def _clamp_part(part: int, to_add: int, added: int) -> int:
    left = to_add - added
    if left == 0 or to_add == 0:
        return 0
    return min(part, left) if to_add > 0 else max(part, left)


def _round_half_up(value: float) -> int:
    """Round half away from zero; sizes are never negative."""
    return math.floor(value + 0.5)

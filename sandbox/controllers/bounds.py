"""Bounds that are a count of pods or a percentage of them (apimachinery `util/intstr`)."""

from __future__ import annotations

Bound = int | str | None
"""A count or a percentage, as `maxSurge` and `maxUnavailable` are written."""


def resolve_bound(bound: Bound, replicas: int, *, up: bool) -> int:
    """Return a bound as a count of pods; a percentage is rounded up or down."""
    if bound is None:
        return 0
    if isinstance(bound, int):
        return bound
    pods = int(bound.removesuffix("%")) * replicas
    return -(-pods // 100) if up else pods // 100

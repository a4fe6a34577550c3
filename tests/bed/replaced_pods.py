"""Pods that the gate replaces, for their controller to make them again: evicted, or deleted."""

from __future__ import annotations

from collections.abc import Iterator

from tests.cluster.audit import Request


def replaces_pod(request: Request) -> bool:
    """Whether a write takes a pod away."""
    if request.resource != "pods":
        return False
    return request.verb == "delete" or (request.verb, request.subresource) == ("create", "eviction")


def replacement_faults(request: Request) -> Iterator[str]:
    """Find what such a write lacks: the pod's uid, since another has its name next, and grace."""
    body = request.body if isinstance(request.body, dict) else {}
    options = body if request.verb == "delete" else body.get("deleteOptions") or {}
    if not options.get("preconditions", {}).get("uid"):
        yield "no uid guards"
    if options.get("gracePeriodSeconds") == 0:
        yield "no grace in"

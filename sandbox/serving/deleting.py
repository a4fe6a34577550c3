"""How to delete: options from the query or from a body."""

from __future__ import annotations

from sandbox.api.asked import DeleteOptions
from sandbox.api.delete_options import read_options
from sandbox.json import JSON
from sandbox.serving.bodies import decoded_options
from sandbox.serving.options import number
from sandbox.serving.request import Request


def delete_options(request: Request) -> tuple[DeleteOptions, bool]:
    """Return how to delete, and whether only to try; a body outweighs the query. 400."""
    return read_options(decoded_options(request) or _from_query(request))


def _from_query(request: Request) -> JSON:
    return {
        "gracePeriodSeconds": number(request.read_parameter("gracePeriodSeconds")),
        "propagationPolicy": request.read_parameter("propagationPolicy") or None,
        "dryRun": request.all_asked("dryRun"),
        "orphanDependents": request.read_parameter("orphanDependents") or None,
    }

"""DeleteOptions as they travel in a request's body or query."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.api.asked import DeleteOptions, Propagation
from sandbox.failure import bad_request, not_served
from sandbox.json import JSON, dig
from sandbox.objects import Mismatch, decode_struct


def read_options(sent: JSON) -> tuple[DeleteOptions, bool]:
    """Return how to delete, and whether only to try; 400 for what is not understood."""
    try:
        body = decode_struct("meta/v1.DeleteOptions", sent)
    except Mismatch as error:
        raise bad_request(str(error)) from None
    dry_run = body.get("dryRun", [])
    check_dry_run(dry_run)
    asked = body.get("propagationPolicy")
    if body.get("orphanDependents") is not None:
        raise bad_request("orphanDependents is not understood: set propagationPolicy")
    if asked == "Foreground":
        raise not_served("a deletion in the foreground")
    if asked is not None and asked not in tuple(Propagation):
        raise bad_request(f"the propagationPolicy {asked!r} is none of {', '.join(Propagation)}")
    options = DeleteOptions(
        grace_seconds=body.get("gracePeriodSeconds"),
        propagation=None if asked is None else Propagation(asked),
        uid=dig(body, "preconditions", "uid"),
        resource_version=dig(body, "preconditions", "resourceVersion"),
    )
    return options, bool(dry_run)


def check_dry_run(given: Sequence[str]) -> None:
    """400 for a `dryRun` that is not `All`: nobody who means to try shall write."""
    if set(given) - {"All"}:
        raise bad_request(f"dryRun can be All alone, not {', '.join(given)}")

"""DeleteOptions as they travel: of a request's body or query, or inside of an Eviction."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.api.asked import DeleteOptions, Propagation
from sandbox.failure import FieldError, bad_request, invalid_options
from sandbox.json import JSON, dig
from sandbox.objects import Mismatch, decode_struct

KIND = "DeleteOptions"
_BOTH_SET = "orphanDependents and deletionPropagation cannot be both set"


def read_options(sent: JSON) -> tuple[DeleteOptions, bool]:
    """Return how to delete, and whether only to try; 400 for a wrong type, 422."""
    try:
        body = decode_struct("meta/v1.DeleteOptions", sent)
    except Mismatch as error:
        raise bad_request(str(error)) from None
    dry_run = body.get("dryRun", [])
    errors = [*dry_run_errors(dry_run), *_propagation_errors(body)]
    if errors:
        raise invalid_options(KIND, errors)
    options = DeleteOptions(
        grace_seconds=body.get("gracePeriodSeconds"),
        propagation=_propagation(body),
        uid=dig(body, "preconditions", "uid"),
        resource_version=dig(body, "preconditions", "resourceVersion"),
    )
    return options, bool(dry_run)


def dry_run_errors(given: Sequence[str]) -> list[FieldError]:
    """Return what is wrong with `dryRun`: only `All` is known."""
    if not given or set(given) == {"All"}:
        return []
    shown = " ".join(f'"{each}"' for each in given).replace(" ", ",")
    why = f'Unsupported value: [{shown}]: supported values: "All"'
    return [FieldError("dryRun", "FieldValueNotSupported", why)]


def _propagation_errors(body: JSON) -> Sequence[FieldError]:
    asked = body.get("propagationPolicy")
    if asked is None:
        return ()
    if body.get("orphanDependents") is not None:
        why = f'Invalid value: "{asked}": {_BOTH_SET}'
        return (FieldError("propagationPolicy", "FieldValueInvalid", why),)
    if asked in tuple(Propagation):
        return ()
    known = '"Foreground", "Background", "Orphan", "nil"'
    why = f'Unsupported value: "{asked}": supported values: {known}'
    return (FieldError("propagationPolicy", "FieldValueNotSupported", why),)


def _propagation(body: JSON) -> Propagation | None:
    asked, orphan = body.get("propagationPolicy"), body.get("orphanDependents")
    if asked is None and orphan is not None:
        return Propagation.ORPHAN if orphan else Propagation.BACKGROUND
    return None if asked is None else Propagation(asked)

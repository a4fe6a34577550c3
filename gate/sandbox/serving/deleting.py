"""How to delete: options from the query or from a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gate.sandbox.api.api import DeleteOptions, Propagation
from gate.sandbox.failure import FieldError, bad_request
from gate.sandbox.json import JSON, dig
from gate.sandbox.serving.bodies import decoded_options
from gate.sandbox.serving.decoding import go_name
from gate.sandbox.serving.options import dry_run_errors, number, refused_options
from gate.sandbox.serving.request import Request

_BOTH_SET = "orphanDependents and deletionPropagation cannot be both set"


def delete_options(request: Request) -> tuple[DeleteOptions, bool]:
    """Return how to delete, and whether only to try; a body outweighs the query. 400 and 422."""
    body = decoded_options(request) or _from_query(request)
    grace = body.get("gracePeriodSeconds")
    if grace is not None and type(grace) is not int:
        told = f"{go_name(grace)} into Go struct field DeleteOptions.gracePeriodSeconds"
        raise bad_request(f"json: cannot unmarshal {told} of type int64")
    dry_run = body.get("dryRun") or []
    errors = [*dry_run_errors(dry_run), *_propagation_errors(body)]
    if errors:
        raise refused_options("DeleteOptions", errors)
    return DeleteOptions(grace, _propagation(body), *_preconditions(body)), bool(dry_run)


def _from_query(request: Request) -> JSON:
    orphan = request.asked("orphanDependents")
    return {
        "gracePeriodSeconds": number(request.asked("gracePeriodSeconds")),
        "propagationPolicy": request.asked("propagationPolicy") or None,
        "dryRun": request.all_asked("dryRun"),
        "orphanDependents": orphan == "true" if orphan else None,
    }


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


def _preconditions(body: JSON) -> tuple[Any, Any]:
    return dig(body, "preconditions", "uid"), dig(body, "preconditions", "resourceVersion")

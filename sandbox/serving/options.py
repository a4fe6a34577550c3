"""The query parameters of the verbs, read and checked as the server's option types are.

Of a deletion the options may come in a body instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sandbox.api.asked import DeleteOptions, Propagation, Strictness
from sandbox.api.listing import ListOptions
from sandbox.failure import bad_request, not_served
from sandbox.json import JSON, dig
from sandbox.objects import Mismatch, decode_struct
from sandbox.serving.bodies import decoded_options
from sandbox.serving.request import Request
from sandbox.serving.routing import is_true

MOST_MANAGER_LETTERS = 128
STRICTNESS = ("", *(sorted(Strictness)))
_NUMBER = re.compile(r"[-+]?[0-9]+")
_INT64 = 2**63
_MOST_DIGITS = 100
"""Of a number that is looked at: more are out of range anyhow."""


def whole_number(request: Request, name: str) -> int | None:
    """Return a whole number of the query, None where it is not given; 400 for anything else."""
    return number(request.read_parameter(name))


def number(text: str) -> int | None:
    """Return a whole number, None for nothing; 400 in the words of the server's parser."""
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    if len(text) > _MOST_DIGITS or abs(int(text)) >= _INT64:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return int(text)


def list_options(request: Request) -> ListOptions:
    """Return the options of the query; 400 where a number is none."""
    initial = request.read_parameter("sendInitialEvents")
    timeout = whole_number(request, "timeoutSeconds")
    return ListOptions(
        resource_version=request.read_parameter("resourceVersion"),
        resource_version_match=request.read_parameter("resourceVersionMatch"),
        continue_token=request.read_parameter("continue"),
        send_initial_events=is_true(initial) if initial else None,
        allow_watch_bookmarks=is_true(request.read_parameter("allowWatchBookmarks")),
        timeout_seconds=float(timeout) if timeout else None,
    )


def check_write(request: Request, *, apply: bool = False) -> None:
    """400 where dryRun, fieldManager or fieldValidation is not what it may be."""
    check_dry_run(request.all_asked("dryRun"))
    manager = request.read_parameter("fieldManager")
    if not manager and apply:
        raise bad_request("an apply has to name its fieldManager")
    if len(manager) > MOST_MANAGER_LETTERS or not manager.isprintable():
        why = f"a fieldManager has at most {MOST_MANAGER_LETTERS} letters that can be printed"
        raise bad_request(why)
    validation = request.read_parameter("fieldValidation")
    if validation not in STRICTNESS:
        raise bad_request(f"the fieldValidation {validation!r} is none of {', '.join(Strictness)}")


def is_dry_run(request: Request) -> bool:
    """Whether nothing shall be kept."""
    return bool(request.all_asked("dryRun"))


def is_forced(request: Request) -> bool:
    """Whether an apply takes over fields of others."""
    return is_true(request.read_parameter("force"))


def strictness_of(request: Request) -> Strictness:
    """Return what becomes of unknown fields; the server's default is to warn."""
    return Strictness(request.read_parameter("fieldValidation") or Strictness.WARN)


def manager_of(request: Request) -> str:
    """Return the field manager: the one named, else the program of the User-Agent."""
    named = request.read_parameter("fieldManager")
    if named:
        return named
    agent = request.headers.get("user-agent", "").partition("/")[0]
    return "".join(letter for letter in agent if letter.isprintable())[:MOST_MANAGER_LETTERS]


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

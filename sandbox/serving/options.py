"""The query parameters of the verbs, read and checked as the server's option types are."""

from __future__ import annotations

import re

from sandbox.api.asked import Strictness
from sandbox.api.delete_options import check_dry_run
from sandbox.api.listing import ListOptions
from sandbox.failure import bad_request
from sandbox.serving.paths import is_true
from sandbox.serving.request import Request

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

"""The query parameters of the verbs, read and checked as the server's option types are."""

from __future__ import annotations

import re

from sandbox.api.asked import Strictness
from sandbox.api.delete_options import dry_run_errors
from sandbox.api.listing import ListOptions
from sandbox.failure import FieldError, bad_request, invalid_options
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
        limit=max(0, whole_number(request, "limit") or 0),
        continue_token=request.read_parameter("continue"),
        send_initial_events=is_true(initial) if initial else None,
        allow_watch_bookmarks=is_true(request.read_parameter("allowWatchBookmarks")),
        timeout_seconds=float(timeout) if timeout else None,
    )


def check_write(request: Request, kind: str, *, apply: bool = False) -> None:
    """Raise 422 where dryRun, fieldManager or fieldValidation is not what it may be.

    `kind` is the option type that the message names, as CreateOptions.
    """
    errors = [
        *dry_run_errors(request.all_asked("dryRun")),
        *_manager_errors(request.read_parameter("fieldManager"), required=apply),
        *_validation_errors(request.read_parameter("fieldValidation")),
    ]
    if kind == "PatchOptions" and request.read_parameter("force") and not apply:
        errors.append(FieldError("force", "FieldValueForbidden", _FORCE))
    if errors:
        raise invalid_options(kind, errors)


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


_FORCE = "Forbidden: may not be specified for non-apply patch"


def _manager_errors(manager: str, *, required: bool) -> list[FieldError]:
    field = "fieldManager"
    if not manager and required:
        why = "Required value: is required for apply patch"
        return [FieldError(field, "FieldValueRequired", why)]
    if len(manager) > MOST_MANAGER_LETTERS:
        why = f"Too long: may not be more than {MOST_MANAGER_LETTERS} bytes"
        return [FieldError(field, "FieldValueTooLong", why)]
    for position, letter in enumerate(manager):
        if not letter.isprintable():
            code = f"invalid character U+{ord(letter):04X} (at position {position})"
            shown = manager.encode("unicode_escape").decode()
            return [FieldError(field, "FieldValueInvalid", f'Invalid value: "{shown}": {code}')]
    return []


def _validation_errors(given: str) -> list[FieldError]:
    if given in STRICTNESS:
        return []
    known = ", ".join(f'"{each}"' for each in STRICTNESS)
    why = f'Unsupported value: "{given}": supported values: {known}'
    return [FieldError("fieldValidation", "FieldValueNotSupported", why)]

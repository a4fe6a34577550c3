"""Field errors in the server's words (apimachinery `util/validation/field`).

A message is the kind of error, the wrong value as Go prints it, and a detail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from sandbox.failure import FieldError

Found = list[FieldError]
"""The errors of an object so far; every check appends its own."""

NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
_HTML = {"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"}


def invalid(field: str, value: Any, detail: str) -> FieldError:
    """Return that a value is malformed."""
    return FieldError(
        field, "FieldValueInvalid", f"Invalid value: {_format_value(value)}: {detail}"
    )


def make_required_error(field: str, detail: str = "") -> FieldError:
    """Return that a value is missing."""
    more = f": {detail}" if detail else ""
    return FieldError(field, "FieldValueRequired", f"Required value{more}")


def forbidden(field: str, detail: str) -> FieldError:
    """Return that a value may not be there."""
    return FieldError(field, "FieldValueForbidden", f"Forbidden: {detail}")


def duplicate(field: str, value: Any) -> FieldError:
    """Return that a value is there twice."""
    return FieldError(field, "FieldValueDuplicate", f"Duplicate value: {_format_value(value)}")


def not_found(field: str, value: Any) -> FieldError:
    """Return that what a value names is not there."""
    return FieldError(field, "FieldValueNotFound", f"Not found: {_format_value(value)}")


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """Return that a value is none of a closed set, told in the order given."""
    listed = ", ".join(quote_text(each) for each in supported)
    message = f"Unsupported value: {_format_value(value)}: supported values: {listed}"
    return FieldError(field, "FieldValueNotSupported", message)


def too_long(field: str, limit: int) -> FieldError:
    """Return that a value has more bytes than it may."""
    message = f"Too long: may not be more than {limit} bytes"
    return FieldError(field, "FieldValueTooLong", message)


def check_at_least_zero(found: Found, field: str, value: int) -> None:
    """A number may not be negative."""
    if value < 0:
        found.append(invalid(field, value, NEGATIVE))


def check_messages(found: Found, field: str, value: Any, messages: Iterable[str]) -> None:
    """Each message of a format check is an error of its own."""
    for message in messages:
        found.append(invalid(field, value, message))


def check_required(
    found: Found, field: str, value: Any, check: Callable[[Any], Iterable[str]] = lambda _: ()
) -> None:
    """A value is there, neither empty nor 0, and in the format that `check` looks at."""
    if value:
        check_messages(found, field, value, check(value))
    else:
        found.append(make_required_error(field))


def check_one_of(found: Found, field: str, value: str, supported: Iterable[str]) -> None:
    """A value is there and is one of a closed set."""
    if not value:
        found.append(make_required_error(field))
    elif value not in supported:
        found.append(not_supported(field, value, supported))


def quote_text(text: str) -> str:
    """Return a text as Go's `%q` prints it."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_UNPRINTABLE.sub(_escape, plain)}"'


def _escape(match: re.Match[str]) -> str:
    letter = match[0]
    return _ESCAPES.get(letter, rf"\x{ord(letter):02x}")


def go_json(value: Any, *, is_map: bool = False) -> str:
    """Return a value as Go's `json.Marshal` writes it.

    The keys of a Go map are sorted; else their order, that of a struct's fields, is the caller's.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=is_map)
    return re.sub("[<>&]", lambda match: _HTML[match[0]], text)


def _format_value(value: Any) -> str:
    return quote_text(value) if isinstance(value, str) else go_json(value)

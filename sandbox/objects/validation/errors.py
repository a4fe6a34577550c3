"""Field errors in the server's words (apimachinery `util/validation/field`).

A message is the kind of error, the wrong value as Go prints it, and a detail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from sandbox.failure import FieldError
from sandbox.json import go_json

Found = list[FieldError]
"""The errors of an object so far; every check appends its own."""

NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


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


def _format_value(value: Any) -> str:
    return quote_text(value) if isinstance(value, str) else go_json(value, is_sorted=False)


Messages = tuple[str, ...]

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253
PORT_NAME_LENGTH = 15
LARGEST_PORT = 65535

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_HEADER = "[-A-Za-z0-9]+"
_PERCENT = "[0-9]+%"
LONGEST_PERCENT = 19

_LABEL_SAYS = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must"
    " start and end with an alphanumeric character"
)
_SUBDOMAIN_SAYS = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.',"
    " and must start and end with an alphanumeric character"
)
_KEY_SAYS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    " alphanumeric character"
)
_VALUE_SAYS = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.',"
    " and must start and end with an alphanumeric character"
)


def _pattern(says: str, regex: str, *examples: str) -> str:
    listed = " or ".join(f"'{each}', " for each in examples)
    return f"{says} (e.g. {listed}regex used for validation is '{regex}')"


def _at_most(length: int, unit: str = "characters") -> str:
    return f"must be no more than {length} {unit}"


@lru_cache(maxsize=4096)
def dns_label(value: str) -> Messages:
    """Check a DNS label: names of namespaces, containers, volumes."""
    said = []
    if len(value.encode()) > LABEL_LENGTH:
        said.append(_at_most(LABEL_LENGTH))
    if re.fullmatch(_LABEL, value) is None:
        dotted = re.fullmatch(_SUBDOMAIN, value) is not None
        pattern = _pattern(_LABEL_SAYS, _LABEL, "my-name", "123-abc")
        said.append("must not contain dots" if dotted else pattern)
    return tuple(said)


@lru_cache(maxsize=4096)
def dns_subdomain(value: str) -> Messages:
    """Check a DNS subdomain: names of most objects."""
    said = []
    if len(value.encode()) > SUBDOMAIN_LENGTH:
        said.append(_at_most(SUBDOMAIN_LENGTH))
    if re.fullmatch(_SUBDOMAIN, value) is None:
        said.append(_pattern(_SUBDOMAIN_SAYS, _SUBDOMAIN, "example.com"))
    return tuple(said)


@lru_cache(maxsize=4096)
def label_key(value: str) -> Messages:
    """Check a qualified name: an optional DNS prefix, a slash and a name."""
    parts = value.split("/")
    pattern = _pattern(_KEY_SAYS, _KEY, "MyName", "my.name", "123-abc")
    if len(parts) > 2:  # noqa: PLR2004 - a prefix and a name
        more = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return (f"a valid label key {pattern}{more}",)
    said = []
    if len(parts) == 2:  # noqa: PLR2004
        wrong = dns_subdomain(parts[0]) if parts[0] else ("must be non-empty",)
        said += [f"prefix part {message}" for message in wrong]
    name = parts[-1]
    if not name:
        said.append("name part must be non-empty")
    elif len(name.encode()) > LABEL_LENGTH:
        said.append(f"name part {_at_most(LABEL_LENGTH, 'bytes')}")
    if re.fullmatch(_KEY, name) is None:
        said.append(f"name part {pattern}")
    return tuple(said)


@lru_cache(maxsize=4096)
def label_value(value: str) -> Messages:
    """Check the value of a label."""
    said = []
    if len(value.encode()) > LABEL_LENGTH:
        said.append(_at_most(LABEL_LENGTH, "bytes"))
    if re.fullmatch(_VALUE, value) is None:
        said.append(_pattern(_VALUE_SAYS, _VALUE, "MyValue", "my_value", "12345"))
    return tuple(said)


def path_segment(value: str) -> Messages:
    """Check what stands between two slashes of a URL: names of RBAC objects, anything's kind."""
    if value in {".", ".."}:
        return (f"may not be '{value}'",)
    return tuple(f"may not contain '{each}'" for each in "/%" if each in value)


def mask_trailing_dash(name: str) -> str:
    """Return the prefix of a generated name as its format is checked: a last dash is no end."""
    return f"{name[:-2]}a" if len(name) > 1 and name.endswith("-") else name


@lru_cache(maxsize=1024)
def port_name(value: str) -> Messages:
    """Check the name of a port (IANA service name)."""
    said = []
    if len(value) > PORT_NAME_LENGTH:
        said.append(_at_most(PORT_NAME_LENGTH))
    if re.fullmatch("[-a-z0-9]+", value) is None:
        said.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if re.search("[a-z]", value) is None:
        said.append("must contain at least one letter (a-z)")
    if "--" in value:
        said.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        said.append("must not begin or end with a hyphen")
    return tuple(said)


def port_number(value: int) -> Messages:
    """Check the number of a port."""
    if 1 <= value <= LARGEST_PORT:
        return ()
    return (f"must be between 1 and {LARGEST_PORT}, inclusive",)


@lru_cache(maxsize=1024)
def config_key(value: str) -> Messages:
    """Check a key of a ConfigMap or Secret."""
    said = []
    if len(value) > SUBDOMAIN_LENGTH:
        said.append(_at_most(SUBDOMAIN_LENGTH))
    if re.fullmatch(_CONFIG_KEY, value) is None:
        says = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        said.append(_pattern(says, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if value in {".", ".."}:
        said.append(f"must not be '{value}'")
    elif value.startswith(".."):
        said.append("must not start with '..'")
    return tuple(said)


def header_name(value: str) -> Messages:
    """Check the name of an HTTP header."""
    if re.fullmatch(_HEADER, value):
        return ()
    says = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return (_pattern(says, _HEADER, "X-Header-Name"),)


def percent(value: str) -> Messages:
    """Check a percentage."""
    if re.fullmatch(_PERCENT, value) and len(value) <= LONGEST_PERCENT:
        return ()
    says = "a valid percent string must be a numeric string followed by an ending '%'"
    return (_pattern(says, _PERCENT, "1%", "93%"),)


@lru_cache(maxsize=1024)
def variable_name(value: str) -> Messages:
    """Check the name of an environment variable."""
    if re.fullmatch(r"[ -<>-~]*", value) is None:
        says = "a valid environment variable name must consist only of printable ASCII characters"
        return (f"{says} other than '='",)
    return ()


def check_no_backsteps(found: Found, field: str, path: str) -> None:
    """A path does not climb."""
    if ".." in path.split("/"):
        found.append(invalid(field, path, "must not contain '..'"))


def check_relative_path(found: Found, field: str, path: str) -> None:
    """A path is relative and does not climb."""
    if path.startswith("/"):
        found.append(invalid(field, path, "must be a relative path"))
    check_no_backsteps(found, field, path)

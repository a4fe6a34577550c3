"""The formats of names, labels, ports and keys, and what the server says of a wrong one.

Each check returns its messages, none where the value is good (apimachinery `util/validation` and
`api/validate/content`). Results are remembered: the same few names come again and again.
"""

from __future__ import annotations

import re
from functools import lru_cache

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

"""JSON and YAML to values; what cannot be read is said in the words of Go's parsers."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

ENDS = "unexpected end of JSON input"

_NO_VALUE = "looking for beginning of value"
_NO_KEY = "looking for beginning of object key string"
_COMPLAINTS = {
    "Expecting value": _NO_VALUE,
    "Expecting property name enclosed in double quotes": _NO_KEY,
    "Illegal trailing comma before end of object": _NO_KEY,
    "Illegal trailing comma before end of array": _NO_VALUE,
    "Expecting ':' delimiter": "after object key",
    "Extra data": "after top-level value",
}
"""What Python's parser says, and what Go's says after naming the character."""

_NAMES = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
}


def from_json(raw: bytes) -> Any:
    """Return what JSON says; raises ValueError."""
    if not raw.strip():
        raise ValueError(ENDS)
    try:
        return json.loads(raw, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError("invalid UTF-8 in string") from error
    except RecursionError as error:
        raise ValueError("exceeded max depth") from error
    except json.JSONDecodeError as error:
        raise ValueError(_complaint(error)) from error


def from_yaml(raw: bytes) -> Any:
    """Return what YAML says, in types of JSON; raises ValueError."""
    import yaml

    try:
        loaded = yaml.load(raw, _yaml_loader())  # noqa: S506 - it is a safe one
        return json.loads(json.dumps(loaded))
    except yaml.YAMLError as error:
        raise ValueError(f"error converting YAML to JSON: yaml: {_one_line(error)}") from error
    except (TypeError, RecursionError) as error:
        raise ValueError(f"error converting YAML to JSON: {_one_line(error)}") from error


def go_name(value: Any) -> str:
    """Return what Go's decoder calls a value of this type."""
    return _NAMES.get(type(value), "null")


@cache
def _yaml_loader() -> Any:
    """Return a safe loader that leaves times as they are written, as the server's does."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Safe, without timestamps."""

    Loader.yaml_implicit_resolvers = {
        letter: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
        for letter, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


def _complaint(error: json.JSONDecodeError) -> str:
    text, at = error.doc, error.pos
    if error.msg.startswith("Illegal trailing comma"):
        at += 1 + len(text[at + 1 :]) - len(text[at + 1 :].lstrip())
    if at >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return ENDS
    return f"invalid character {_quoted(text[at])} {_COMPLAINTS.get(error.msg) or _place(text, at)}"


def _place(text: str, at: int) -> str:
    is_object = text.rfind("{", 0, at) > text.rfind("[", 0, at)
    return "after object key:value pair" if is_object else "after array element"


def _quoted(letter: str) -> str:
    return {"'": r"'\''", '"': "'\"'"}.get(letter, f"'{letter}'")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"invalid character '{name[0]}' looking for beginning of value")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())

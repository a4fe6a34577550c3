"""JSON and YAML to values; what cannot be read is said in the words of Go's parsers."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import Any

ENDS = "unexpected end of JSON input"
TOO_DEEP = "exceeded max depth"
MOST_LEVELS = 200
"""No object of the API is half as deep; the server's parser would take 10 000."""

MOST_YAML_VALUES = 1_000_000
"""More than a body can hold that does not blow itself up with aliases."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

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


def from_json(raw: bytes) -> Any:
    """Return what JSON says; raises ValueError."""
    if not raw.strip():
        raise ValueError(ENDS)
    try:
        return _make_encodable(json.loads(raw, parse_constant=_refuse, parse_float=_finite), raw)
    except UnicodeDecodeError as error:
        raise ValueError("invalid UTF-8 in string") from error
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    except json.JSONDecodeError as error:
        raise ValueError(_complaint(error)) from error


def from_yaml(raw: bytes) -> Any:
    """Return what YAML says, in types of JSON; raises ValueError."""
    import yaml

    try:
        loaded = yaml.load(raw, _yaml_loader())  # noqa: S506 - it is a safe one
        if _size(loaded, {}) > MOST_YAML_VALUES:
            raise ValueError("yaml: document contains excessive aliasing")
        return from_json(json.dumps(loaded).encode())
    except yaml.YAMLError as error:
        raise ValueError(f"error converting YAML to JSON: yaml: {_one_line(error)}") from error
    except (TypeError, RecursionError) as error:
        raise ValueError(f"error converting YAML to JSON: {_one_line(error)}") from error


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
    complaint = _COMPLAINTS.get(error.msg) or _place(text, at)
    return f"invalid character {_quote_letter(text[at])} {complaint}"


def _place(text: str, at: int) -> str:
    is_object = text.rfind("{", 0, at) > text.rfind("[", 0, at)
    return "after object key:value pair" if is_object else "after array element"


def _quote_letter(letter: str) -> str:
    return {"'": r"'\''", '"': "'\"'"}.get(letter, f"'{letter}'")


def _refuse(name: str) -> Any:
    raise ValueError(f"invalid character '{name[0]}' looking for beginning of value")


def _finite(text: str) -> float:
    found = float(text)
    if math.isinf(found):
        raise ValueError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return found


def _make_encodable(value: Any, raw: bytes) -> Any:
    """Return a value that can be walked and encoded: not too deep, no half surrogate pairs."""
    if raw.count(b"[") + raw.count(b"{") > MOST_LEVELS:
        _check_depth(value, 0)
    return _replace_half_surrogates(value) if _SURROGATE.search(raw) else value


def _check_depth(value: Any, levels: int) -> None:
    if levels > MOST_LEVELS:
        raise ValueError(TOO_DEEP)
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        _check_depth(part, levels + 1)


def _replace_half_surrogates(value: Any) -> Any:
    """Return a value in which what is no character is the replacement character, as in Go."""
    if isinstance(value, dict):
        return {
            _replace_half_surrogates(key): _replace_half_surrogates(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [_replace_half_surrogates(item) for item in value]
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def _size(value: Any, known: dict[int, int]) -> int:
    """Return how many values a document has once its aliases are written out."""
    if not isinstance(value, dict | list):
        return 1
    found = known.get(id(value))
    if found is None:
        known[id(value)] = 0
        parts = value.values() if isinstance(value, dict) else value
        found = known[id(value)] = 1 + sum(_size(part, known) for part in parts)
    return found


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())

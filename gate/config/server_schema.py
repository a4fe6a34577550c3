"""The JSON Schema of `prometheus` and `services`: where secrets are, and which go together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from gate.config.access import HeaderKeys, ServerKeys, ServiceKeys
from gate.config.checks.schema import model_schemas
from gate.sources.access import HEADER_NAME, TAKEN_HEADERS

SERVER: Final = {"$ref": "#/$defs/ServerKeys"}
SERVICES: Final = {"type": "array", "items": {"$ref": "#/$defs/ServiceKeys"}}

_ONE_PLACE: Final = {"oneOf": [{"required": ["file"]}, {"required": ["variable"]}]}


def server_schemas() -> dict[str, Any]:
    """Return the definitions of a server and of a service, by their names."""
    definitions: dict[str, Any] = {"HeaderKeys": model_schemas(HeaderKeys)["HeaderKeys"]}
    definitions["HeaderKeys"] |= _ONE_PLACE
    for model in (ServerKeys, ServiceKeys):
        definitions |= model_schemas(model)
        definitions[model.__name__]["allOf"] = [*_rules()]
        definitions[model.__name__]["properties"]["headers"] |= _headers()
    return definitions


def _rules() -> Iterable[dict[str, Any]]:
    for what in ("token", "user", "password"):
        yield {"not": {"required": [f"{what}-file", f"{what}-variable"]}}
    yield {
        "if": _require_file_or_variable("user"),
        "then": _require_file_or_variable("password"),
        "else": {"not": _require_file_or_variable("password")},
    }
    yield {
        "not": {"allOf": [_require_file_or_variable("token"), _require_file_or_variable("user")]}
    }
    yield {"dependentRequired": {"cert-file": ["key-file"], "key-file": ["cert-file"]}}


def _require_file_or_variable(what: str) -> dict[str, Any]:
    return {"anyOf": [{"required": [f"{what}-file"]}, {"required": [f"{what}-variable"]}]}


def _headers() -> dict[str, Any]:
    taken = "|".join(_in_any_case(name) for name in sorted(TAKEN_HEADERS))
    names = {"pattern": f"^{HEADER_NAME.pattern}$", "not": {"pattern": f"^(?:{taken})$"}}
    values = {"$ref": "#/$defs/HeaderKeys"}
    return {"type": "object", "propertyNames": names, "additionalProperties": values}


def _in_any_case(name: str) -> str:
    return "".join(f"[{char}{char.upper()}]" if char.isalpha() else char for char in name)

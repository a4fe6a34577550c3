"""The JSON Schema of `rollout-gate.yaml`, for editors and for checks before a run."""

from __future__ import annotations

from typing import Any

from gate.config.checks.schema import checks_schema
from gate.config.server_schema import SERVER, SERVICES, server_schemas
from gate.config.settings import CONFIG_FILE, Settings, collect_settings


def schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12); the gate refuses what it refuses, and some more."""
    model = Settings.model_json_schema(by_alias=True, mode="validation")
    checks, definitions = checks_schema()
    forms = {**model["properties"], "checks": checks, "prometheus": SERVER, "services": SERVICES}
    properties = {
        item.key: {"description": item.option.help, **_form(forms[item.key])}
        for item in collect_settings().values()
        if item.option.in_file
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": CONFIG_FILE,
        "description": "Options of rollout-gate; flags and environment variables win over them.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "$defs": {**model["$defs"], **definitions, **server_schemas()},
    }


def _form(property_: dict[str, Any]) -> dict[str, Any]:
    """Drop the title, and the default: it is pydantic's view of a value, not a file's."""
    return {key: value for key, value in property_.items() if key not in ("default", "title")}

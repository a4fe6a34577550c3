"""The JSON Schema of `rollout-gate.yaml`, for editors and for checks before a run."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping
from typing import Any

from gate.config.checks.schema import checks_schema
from gate.config.option_values import declarations
from gate.config.server_schema import SERVER, SERVICES, server_schemas
from gate.config.settings import CONFIG_FILE, Settings, collect_settings


def schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12); the gate refuses what it refuses, and some more."""
    forms = {name: item.file_form for name, item in declarations(Settings).items()}
    closed_sets = {form.closed_set for form in forms.values() if form.closed_set is not None}
    checks, definitions = checks_schema()
    schemas: dict[str, Mapping[str, Any]] = {name: form.schema for name, form in forms.items()}
    schemas |= {"checks": checks, "prometheus": SERVER, "services": SERVICES}
    properties = {
        item.key: {"description": item.option.help, **schemas[item.name]}
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
        "$defs": {**_definitions(closed_sets), **definitions, **server_schemas()},
    }


def _definitions(closed_sets: set[enum.EnumType]) -> dict[str, Any]:
    """Return the definitions that the options of closed sets refer to."""
    return {
        kind.__name__: {
            "description": inspect.cleandoc(kind.__doc__ or ""),
            "enum": [*kind],
            "title": kind.__name__,
            "type": "string",
        }
        for kind in sorted(closed_sets, key=lambda kind: kind.__name__)
    }

"""The JSON Schema of the result document, made of its types."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from gate.report.result import Result

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `rollout-gate/result/v1`.

    Keys that it does not name are allowed, so that a later version may add some.
    """
    (reference,), parts = msgspec.json.schema_components([Result], ref_template="#/$defs/{name}")
    definitions = dict(sorted(parts.items()))
    return {"$schema": DIALECT, **reference, "$defs": definitions}


def schema_text() -> str:
    """Return the schema as it is published, ending in a line feed."""
    return json.dumps(result_schema(), indent=2) + "\n"

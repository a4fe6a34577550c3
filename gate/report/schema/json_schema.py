"""The JSON Schemas of the documents that commands print, made of their types."""

from __future__ import annotations

from typing import Any

import msgspec

from gate.report.schema.check_result import ChecksResult
from gate.report.schema.printed_result import PrintedResult

_TEMPLATE = "#/$defs/{name}"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `rollout-gate/result/v1`.

    Keys that it does not name are allowed, so that a later version may add some.
    """
    return _schema_of(PrintedResult)


def checks_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of `rollout-gate/checks/v1`, as open as the other."""
    return _schema_of(ChecksResult)


def _schema_of(document: type) -> dict[str, Any]:
    (reference,), parts = msgspec.json.schema_components([document], ref_template=_TEMPLATE)
    definitions = dict(sorted(parts.items()))
    return {"$schema": DIALECT, **reference, "$defs": definitions}

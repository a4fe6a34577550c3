"""The published schema is the one of the code, and is a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gate.report.schema.json_schema import checks_schema, result_schema
from gate.report.schema.result import SCHEMA

DOCS = Path(__file__).resolve().parents[4] / "docs"


@pytest.mark.contract("B187", "B456")
@pytest.mark.parametrize(
    ("name", "schema"), [("result", result_schema()), ("checks", checks_schema())]
)
def test_the_published_schema_is_the_one_of_the_code(name: str, schema: dict[str, Any]) -> None:
    """After a change of it: `rollout-gate schema NAME > docs/NAME.schema.json`."""
    published = (DOCS / f"{name}.schema.json").read_text(encoding="utf-8")
    assert published == json.dumps(schema, indent=2) + "\n"


@pytest.mark.parametrize("schema", [result_schema(), checks_schema()])
def test_every_key_is_required(schema: dict[str, Any]) -> None:
    """A reader never has to ask whether a key is there."""
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            assert sorted(definition["required"]) == sorted(definition["properties"]), name


def test_a_document_without_an_outcome_is_refused() -> None:
    """The schema is no rubber stamp."""
    validator = Draft202012Validator(result_schema())
    assert not validator.is_valid({"schema": SCHEMA})
    assert not validator.is_valid({"outcome": "rolled-back"})

"""The published schema is the one of the code, and is a schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gate.report.schema.json_schema import checks_schema, result_schema
from gate.report.schema.result import SCHEMA, Result

DOCS = Path(__file__).resolve().parents[4] / "docs"
PUBLISHED = DOCS / "result.schema.json"


@pytest.mark.contract("B187")
def test_the_published_schema_is_the_one_of_the_code() -> None:
    """After a change of the document: `rollout-gate schema result > docs/result.schema.json`."""
    published = PUBLISHED.read_text(encoding="utf-8")
    assert published == json.dumps(result_schema(), indent=2) + "\n"


@pytest.mark.contract("B456")
def test_the_published_schema_of_checks_is_the_one_of_the_code() -> None:
    """After a change of the document: `rollout-gate schema checks > docs/checks.schema.json`."""
    published = (DOCS / "checks.schema.json").read_text(encoding="utf-8")
    assert published == json.dumps(checks_schema(), indent=2) + "\n"


@pytest.mark.parametrize("schema", [result_schema(), checks_schema()])
def test_every_key_is_required(schema: dict[str, Any]) -> None:
    """A reader never has to ask whether a key is there."""
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            assert sorted(definition["required"]) == sorted(definition["properties"]), name


def test_a_typed_document_has_them_all() -> None:
    """What the type requires, the schema does."""
    definitions = result_schema()["$defs"]
    assert sorted(definitions["Result"]["required"]) == sorted(Result.__required_keys__)


def test_a_document_without_an_outcome_is_refused() -> None:
    """The schema is no rubber stamp."""
    validator = Draft202012Validator(result_schema())
    assert not validator.is_valid({"schema": SCHEMA})
    assert not validator.is_valid({"outcome": "rolled-back"})

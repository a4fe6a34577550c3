"""The published schema is the one of the code, and is a schema."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from gate.report.result import SCHEMA, Result
from gate.report.schema import result_schema, schema_text

PUBLISHED = Path(__file__).resolve().parents[3] / "docs" / "result.schema.json"


@pytest.mark.contract("B187")
def test_the_published_schema_is_the_one_of_the_code() -> None:
    """After a change of the document: `rollout-gate schema result > docs/result.schema.json`."""
    assert PUBLISHED.read_text(encoding="utf-8") == schema_text()


def test_it_is_a_valid_schema() -> None:
    """Draft 2020-12, as it says."""
    Draft202012Validator.check_schema(result_schema())


def test_every_key_is_required() -> None:
    """A reader never has to ask whether a key is there."""
    definitions = result_schema()["$defs"]
    for name, definition in definitions.items():
        if "properties" in definition:
            assert sorted(definition["required"]) == sorted(definition["properties"]), name
    assert sorted(definitions["Result"]["required"]) == sorted(Result.__required_keys__)


def test_the_schema_names_its_version() -> None:
    """A document says which schema it keeps to, and the schema admits no other."""
    assert result_schema()["$defs"]["Result"]["properties"]["schema"]["enum"] == [SCHEMA]


def test_a_document_without_an_outcome_is_refused() -> None:
    """The schema is no rubber stamp."""
    validator = Draft202012Validator(result_schema())
    assert not validator.is_valid({"schema": SCHEMA})
    assert not validator.is_valid({"outcome": "rolled-back"})

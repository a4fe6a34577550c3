"""Paths in JSON: keys and indexes, to one number or nowhere."""

from __future__ import annotations

import pytest

from gate.core.checks.json_path import number_at, parse
from tests.table import each


@each(
    ("text", "path"),
    [
        ("$.items[0].ready", ("items", 0, "ready")),
        ("ready", ("ready",)),
        ("$[\"a.b\"]['c']", ("a.b", "c")),
        ("$[2]", (2,)),
    ],
)
def test_json_paths_are_keys_and_indexes(text: str, path: tuple[str | int, ...]) -> None:
    """With or without the root's sign."""
    assert parse(text) == path


@each("text", ["", "$", "$.", "$..a", "a b", "$[*]", "$[-1]", "$a", "a[0]b"])
def test_what_is_no_json_path_is_refused(text: str) -> None:
    """No wildcards, no filters: one value, or none."""
    with pytest.raises(ValueError, match="JSON path"):
        parse(text)


@each(
    ("document", "number"),
    [({"a": [1, 2.5]}, 2.5), ({"a": [1, True]}, 1.0), ({"a": [1, "2"]}, None), ({"a": [1]}, None),
     ({"a": {"1": 2}}, None), ([], None), ({"a": [1, 10**400]}, None)],
)  # fmt: skip
def test_a_json_path_leads_to_a_number_or_nowhere(document: object, number: float | None) -> None:
    """Text that looks like a number is none."""
    assert number_at(document, ("a", 1)) == number

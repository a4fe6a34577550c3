"""Label selectors as controllers use them."""

from __future__ import annotations

import pytest

from sandbox.controllers.labels import selects
from sandbox.json import JSON

LABELS = {"app": "web", "tier": "front"}


def expression(key: str, operator: str, *values: str) -> JSON:
    """Return a selector of one expression."""
    return {"matchExpressions": [{"key": key, "operator": operator, "values": [*values]}]}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({"matchLabels": {"app": "web"}}, True),
        ({"matchLabels": {"app": "api"}}, False),
        (expression("app", "In", "web", "api"), True),
        (expression("app", "NotIn", "web"), False),
        (expression("zone", "NotIn", "a"), True),
        (expression("tier", "Exists"), True),
        (expression("zone", "Exists"), False),
        (expression("zone", "DoesNotExist"), True),
        ({"matchLabels": {"app": "web"}, **expression("tier", "In", "back")}, False),
        ({}, False),
        (None, False),
    ],
)
def test_a_selector_names_what_all_its_parts_name(selector: JSON | None, expected: bool) -> None:
    """An empty selector owns nothing, or a Deployment would own everything."""
    assert selects(selector, LABELS) is expected

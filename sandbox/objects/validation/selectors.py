"""Labels and label selectors: their format."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
)
from sandbox.objects.validation.names import label_key, label_value

SETS = ("In", "NotIn")
EXISTENCE = ("Exists", "DoesNotExist")


def check_labels(found: Found, field: str, labels: Mapping[str, str] | None) -> None:
    """Keys are qualified names, values are short."""
    for key, value in sorted((labels or {}).items()):
        check_messages(found, field, key, label_key(key))
        check_messages(found, field, value, label_value(value))


def check_selector(found: Found, field: str, selector: JSON | None) -> None:
    """A LabelSelector's labels and expressions are well formed."""
    if not selector:
        return
    check_labels(found, f"{field}.matchLabels", selector.get("matchLabels"))
    for index, expression in enumerate(selector.get("matchExpressions", ())):
        _check_expression(found, f"{field}.matchExpressions[{index}]", expression)


def _check_expression(found: Found, field: str, expression: JSON) -> None:
    values = expression.get("values", ())
    operator = expression["operator"]
    if operator in SETS:
        if not values:
            says = "must be specified when `operator` is 'In' or 'NotIn'"
            found.append(make_required_error(f"{field}.values", says))
    elif operator in EXISTENCE:
        if values:
            says = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            found.append(forbidden(f"{field}.values", says))
    else:
        found.append(invalid(f"{field}.operator", operator, "not a valid selector operator"))
    check_messages(found, f"{field}.key", expression["key"], label_key(expression["key"]))
    for index, value in enumerate(values):
        check_messages(found, f"{field}.values[{index}]", value, label_value(value))


def is_usable(selector: JSON | None) -> bool:
    """Whether a selector can be asked at all: one that is malformed cannot."""
    found: Found = []
    check_selector(found, "", selector)
    return not found


def in_go_order(selector: JSON | None) -> JSON | None:
    """Return a selector with its keys as the Go struct has them, for messages."""
    if selector is None:
        return None
    made: JSON = {}
    if labels := selector.get("matchLabels"):
        made["matchLabels"] = dict(sorted(labels.items()))
    if expressions := selector.get("matchExpressions"):
        order = ("key", "operator", "values")
        made["matchExpressions"] = [
            {key: each[key] for key in order if key in each} for each in expressions
        ]
    return made

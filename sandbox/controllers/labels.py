"""Label selectors as objects carry them: `matchLabels` and `matchExpressions`."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.json import JSON

Labels = Mapping[str, str]


def selects(selector: JSON | None, labels: Labels | None) -> bool:
    """Say whether a LabelSelector names these labels; an empty one or none names nothing.

    A controller with an empty selector would own everything; the controllers let it own nothing.
    """
    wanted = (selector or {}).get("matchLabels") or {}
    expressions = (selector or {}).get("matchExpressions") or ()
    if not wanted and not expressions:
        return False
    found = labels or {}
    return has_labels(wanted, found) and all(_holds(each, found) for each in expressions)


def has_labels(wanted: Labels, labels: Labels | None) -> bool:
    """Say whether each wanted label is there with its value."""
    found = labels or {}
    return all(found.get(name) == value for name, value in wanted.items())


def _holds(expression: JSON, labels: Labels) -> bool:
    name, values = expression["key"], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return labels.get(name) in values
        case "NotIn":
            return name not in labels or labels[name] not in values
        case "Exists":
            return name in labels
        case "DoesNotExist":
            return name not in labels
    return False

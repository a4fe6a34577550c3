"""The conditions of a status: found, left out, and set as controllers set them."""

from __future__ import annotations

from sandbox.json import JSON, dig

Conditions = list[JSON]


def conditions_of(body: JSON | None) -> Conditions:
    """Return the conditions of an object's status."""
    found: Conditions = dig(body, "status", "conditions") or []
    return found


def find(conditions: Conditions, kind: str) -> JSON | None:
    """Return the condition of a type."""
    return next((each for each in conditions if each.get("type") == kind), None)


def is_true(body: JSON | None, kind: str) -> bool:
    """Say whether an object has a condition of a type that holds."""
    found = find(conditions_of(body), kind)
    return found is not None and found.get("status") == "True"


def without(conditions: Conditions, kind: str) -> Conditions:
    """Return the conditions of other types."""
    return [each for each in conditions if each["type"] != kind]


def with_condition(conditions: Conditions, condition: JSON) -> Conditions:
    """Return the list with a condition at its end; as it is where status and reason are the same.

    `lastTransitionTime` only moves where the status does.
    """
    current = find(conditions, condition["type"])
    if current is None:
        return [*conditions, condition]
    if current["status"] == condition["status"]:
        if current.get("reason") == condition.get("reason"):
            return conditions
        condition = {**condition, "lastTransitionTime": current["lastTransitionTime"]}
    return [*without(conditions, condition["type"]), condition]

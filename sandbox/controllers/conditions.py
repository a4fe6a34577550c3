"""Conditions of a status: a list in which what changes moves to the end.

Rules of the Deployment and ReplicaSet controllers; `conditions` lists are changed by copy.
"""

from __future__ import annotations

from sandbox.json import JSON

Conditions = list[JSON]


def find(conditions: Conditions, kind: str) -> JSON | None:
    """Return the condition of a type."""
    return next((each for each in conditions if each["type"] == kind), None)


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

"""The list of conditions of a status."""

from __future__ import annotations

from sandbox.controllers.conditions import find, with_condition, without
from sandbox.json import JSON

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"


def made(kind: str, status: str, reason: str, at: str = EARLY) -> JSON:
    """Return a condition."""
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": at}


def test_what_changes_moves_to_the_end() -> None:
    """So the order tells what changed last."""
    conditions = [made("Available", "True", "A"), made("Progressing", "True", "B")]
    found = with_condition(conditions, made("Available", "False", "C", LATE))
    assert [each["type"] for each in found] == ["Progressing", "Available"]
    assert [each["type"] for each in conditions] == ["Available", "Progressing"]


def test_the_same_status_and_reason_change_nothing() -> None:
    """Neither the order nor a time."""
    conditions = [made("Available", "True", "A"), made("Progressing", "True", "B")]
    assert with_condition(conditions, made("Available", "True", "A", LATE)) is conditions


def test_another_reason_keeps_the_time_of_the_status() -> None:
    """`lastTransitionTime` is of the status."""
    found = with_condition(
        [made("Progressing", "True", "A")], made("Progressing", "True", "B", LATE)
    )
    assert [each["lastTransitionTime"] for each in found] == [EARLY]
    found = with_condition(found, made("Progressing", "False", "C", LATE))
    assert [each["lastTransitionTime"] for each in found] == [LATE]


def test_conditions_are_found_and_left_out_by_type() -> None:
    """One of each type."""
    conditions = [made("Available", "True", "A"), made("Progressing", "True", "B")]
    assert find(conditions, "Progressing") is conditions[1]
    assert find(conditions, "ReplicaFailure") is None
    assert without(conditions, "Available") == conditions[1:]

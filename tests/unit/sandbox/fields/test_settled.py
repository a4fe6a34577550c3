"""Times of ownership where nothing else moves."""

from __future__ import annotations

from sandbox.fields import keep_times_if_unchanged
from sandbox.json import JSON

LATE = "2026-01-01T00:00:09Z"


def body(*, time: str = "2026-01-01T00:00:00Z", manager: str = "ci", replicas: int = 1) -> JSON:
    """Return an object with one owner."""
    entry = {"manager": manager, "operation": "Apply", "time": time, "fieldsV1": {"f:spec": {}}}
    return {"metadata": {"managedFields": [entry]}, "spec": {"replicas": replicas}}


def test_times_stand_still_where_nothing_else_moves() -> None:
    """A write that comes to the same object is no write."""
    assert keep_times_if_unchanged(body(), body(time=LATE)) == body()


def test_what_moves_has_its_time() -> None:
    """Another value, another owner or another number of owners is a write."""
    for changed in (
        body(time=LATE, replicas=2),
        body(time=LATE, manager="bob"),
        {**body(), "metadata": {}},
        {**body(), "metadata": {"managedFields": body()["metadata"]["managedFields"] * 2}},
    ):
        assert keep_times_if_unchanged(body(), changed) is changed

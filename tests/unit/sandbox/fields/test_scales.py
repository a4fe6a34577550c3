"""Ownership by the subresource `scale`; the oddities are those of a server v1.36."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.fields import update_owners
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.schema import schema_of

SCHEMA = schema_of(BY_KEY["deployments.apps"])
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"
CONFIGURATION: JSON = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}},
}
STORED: JSON = {**CONFIGURATION, "metadata": {"name": "web", "uid": "1"}}


def created(manager: str = "alice") -> JSON:
    """Return the Deployment as a manager has created it."""
    return update_owners(None, STORED, manager, now=EARLY, schema=SCHEMA)


def write(live: JSON, manager: str, subresource: str = "", /, **spec: Any) -> JSON:
    """Return the object after a manager's update of its spec."""
    new = {**live, "spec": {**live["spec"], **spec}}
    return update_owners(live, new, manager, now=LATE, schema=SCHEMA, subresource=subresource)


def entries(body: JSON) -> list[JSON]:
    """Return the managedFields."""
    found: list[JSON] = body["metadata"].get("managedFields", [])
    return found


def owned(body: JSON, manager: str, subresource: str = "") -> JSON | None:
    """Return what a manager owns, None for nothing."""
    for entry in entries(body):
        if (entry["manager"], entry.get("subresource", "")) == (manager, subresource):
            found: JSON = entry["fieldsV1"]
            return found
    return None


@pytest.mark.parametrize(
    ("before", "after", "by_alice", "by_bob"),
    [
        (2, 3, False, True),
        (2, 0, False, False),
        (0, 2, False, True),
    ],
)
def test_a_scale_owns_replicas(before: int, after: int, by_alice: bool, by_bob: bool) -> None:
    """The number is the scaler's, without a time; a Scale does not write 0, so nobody owns it."""
    live = write(created(), "alice", replicas=before)
    body = write(live, "bob", "scale", replicas=after)
    assert ("f:replicas" in (owned(body, "alice") or {})["f:spec"]) is by_alice
    assert (owned(body, "bob", "scale") == {"f:spec": {"f:replicas": {}}}) is by_bob
    assert all("time" not in entry for entry in entries(body) if entry["manager"] == "bob")


def test_a_scale_to_the_same_number_splits_the_owners_entry() -> None:
    """The server loses the entry's identity on the way: replicas come back in one of their own."""
    body = write(created(), "bob", "scale", replicas=2)
    assert [
        (it["manager"], it.get("time"), "f:selector" in it["fieldsV1"]["f:spec"])
        for it in entries(body)
    ] == [("alice", None, False), ("alice", EARLY, True)]

"""Server-side apply; the words and figures are those of a server v1.36."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.fields import Conflict, NotTyped, apply, update_owners
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.schema import schema_of

SCHEMA = schema_of(BY_KEY["deployments.apps"])
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"
WEB: JSON = {"name": "web", "image": "shop/web:1"}


def configuration(*containers: JSON, labels: JSON | None = None, **spec: Any) -> JSON:
    """Return an applied configuration."""
    metadata: JSON = {"name": "web"}
    if labels is not None:
        metadata["labels"] = labels
    found: JSON = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata}
    if containers:
        spec["template"] = {"spec": {"containers": [*containers]}}
    return {**found, "spec": spec} if spec else found


def applied(
    live: JSON | None, body: JSON, manager: str = "ci", *, force: bool = False, now: str = LATE
) -> JSON:
    """Apply, and let the object have the uid that a stored one has."""
    found = apply(live, body, manager, force=force, now=now, schema=SCHEMA)
    return {**found, "metadata": {"uid": "1", **found["metadata"]}}


def first(body: JSON, manager: str = "ci") -> JSON:
    """Return an object that an apply has created."""
    return applied(None, body, manager, now=EARLY)


def edited(live: JSON, manager: str, **spec: Any) -> JSON:
    """Return the object after an update of its spec."""
    new = {**live, "spec": {**live["spec"], **spec}}
    return update_owners(live, new, manager, now=EARLY, schema=SCHEMA)


def owned(body: JSON, manager: str) -> JSON | None:
    """Return what a manager owns, None for nothing."""
    found = [it["fieldsV1"] for it in entries(body) if it["manager"] == manager]
    return found[0] if found else None


def entries(body: JSON) -> list[JSON]:
    """Return the managedFields."""
    found: list[JSON] = body["metadata"].get("managedFields", [])
    return found


def containers(body: JSON) -> list[JSON]:
    """Return the pod template's containers."""
    found: list[JSON] = body["spec"]["template"]["spec"]["containers"]
    return found


def test_nulls_are_owned_and_take_away() -> None:
    """A null that is applied is a value: it conflicts, and is owned."""
    live = edited(first(configuration(WEB)), "alice", replicas=2)
    with pytest.raises(Conflict):
        applied(live, configuration(replicas=None))
    body = applied(live, configuration(replicas=None), force=True)
    assert body["spec"]["replicas"] is None
    assert owned(body, "ci") == {"f:spec": {"f:replicas": {}}}


NAMES = st.sampled_from("abc")
CONFIGURATIONS = st.builds(
    lambda names, spec, labels: configuration(
        *[{"name": name, "image": image} for name, image in names.items()], labels=labels, **spec
    ),
    st.dictionaries(NAMES, st.sampled_from("12"), max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            "replicas": st.integers(0, 2),
            "paused": st.booleans(),
            "strategy": st.sampled_from([{"type": "Recreate"}, {"rollingUpdate": {"maxSurge": 1}}]),
        },
    ),
    st.dictionaries(NAMES, st.sampled_from("12"), max_size=2),
)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["x", "y"]), CONFIGURATIONS), max_size=4), CONFIGURATIONS)
def test_an_apply_by_force_has_its_way(others: list[tuple[str, JSON]], last: JSON) -> None:
    """Whatever was there, all that is applied is there now, and to apply it again is nothing."""
    live: JSON | None = None
    for manager, config in others:
        live = applied(live, config, manager, force=True)
    before = copy.deepcopy((live, last))
    body = applied(live, last, force=True)
    assert (live, last) == before
    assert _holds(body, last)
    again = apply(body, last, "ci", force=False, now="2030-01-01T00:00:00Z", schema=SCHEMA)
    assert again == body


def _holds(value: Any, part: Any) -> bool:
    """Tell whether all of a configuration is in a value."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            _holds(value.get(key), it) for key, it in part.items()
        )
    if isinstance(part, list):
        by_name = {item["name"]: item for item in value}
        return all(_holds(by_name.get(item["name"]), item) for item in part)
    return bool(value == part)


@settings(max_examples=30)
@given(CONFIGURATIONS, CONFIGURATIONS)
def test_an_applier_that_leaves_leaves_no_trace(mine: JSON, theirs: JSON) -> None:
    """Apply beside somebody, then nothing: what is left is what the other applied."""
    alone = applied(None, theirs, "bob", now=EARLY)
    both = applied(alone, mine, force=True)
    after = applied(applied(both, theirs, "bob", force=True), configuration())
    assert _without_empty(after.get("spec", {})) == _without_empty(alone.get("spec", {}))
    assert owned(after, "ci") is None


def _without_empty(value: Any) -> Any:
    """Return a value without what the server would not write: nulls and what is empty."""
    if isinstance(value, dict):
        parts = {key: _without_empty(part) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part not in (None, {}, [])}
    if isinstance(value, list):
        return sorted((_without_empty(item) for item in value), key=str)
    return value


def test_nothing_is_applied_onto_what_cannot_be_told_apart() -> None:
    """The error names the list of the live object."""
    kind: JSON = {"apiVersion": "v1", "kind": "ServiceAccount"}
    live = {**kind, "metadata": {"name": "s", "namespace": "default"}, "secrets": [{}]}
    schema = schema_of(BY_KEY["serviceaccounts"])
    with pytest.raises(NotTyped) as caught:
        apply(live, {**kind, "metadata": {"name": "s"}}, "ci", force=False, now=LATE, schema=schema)
    assert str(caught.value) == (
        "failed to create manager for existing fields: failed to convert new object"
        " (default/s; /v1, Kind=ServiceAccount) to smd typed: .secrets: element 0: associative list"
        ' with keys has an element that omits all key fields ["name"] (and doesn\'t have default'
        " values for any key fields)"
    )

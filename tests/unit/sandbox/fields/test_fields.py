"""Who owns which field: applies, conflicts, updates and scales, as on a server v1.36."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.fields import Conflict, NotTyped, apply, update_owners
from sandbox.json import JSON, dig
from sandbox.kinds import BY_KEY
from sandbox.schema import schema_of

SCHEMA = schema_of(BY_KEY["deployments.apps"])
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
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


def write(live: JSON, manager: str, subresource: str = "", /, **spec: Any) -> JSON:
    """Return the object after a manager's update of its spec."""
    new = {**live, "spec": {**live["spec"], **spec}}
    return update_owners(live, new, manager, now=LATE, schema=SCHEMA, subresource=subresource)


def created(manager: str = "alice") -> JSON:
    """Return the Deployment as a manager has created it."""
    spec: JSON = {
        "replicas": 2,
        "progressDeadlineSeconds": 600,
        "selector": {"matchLabels": {"app": "web"}},
    }
    body = {**configuration(WEB, **spec), "metadata": {"name": "web", "uid": "1"}}
    return update_owners(None, body, manager, now=EARLY, schema=SCHEMA)


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


def test_nulls_are_owned_and_take_away() -> None:
    """A null that is applied is a value: it conflicts, and is owned."""
    live = write(first(configuration(WEB)), "alice", replicas=2)
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


def test_kubectl_inherits_what_it_applied_from_the_clients_side() -> None:
    """Conflicts with values that the annotation still vouches for are none, for kubectl alone."""
    annotation = json.dumps(configuration(WEB, replicas=2))
    live = {
        **configuration(WEB, replicas=2),
        "metadata": {"annotations": {LAST_APPLIED: annotation}},
    }
    live = update_owners(None, live, "kubectl-client-side-apply", now=EARLY, schema=SCHEMA)
    live["metadata"]["uid"] = "1"
    config = configuration({**WEB, "image": "<2>"}, replicas=2)
    with pytest.raises(Conflict):
        applied(live, config, "ci")
    body = applied(live, config, "kubectl")
    assert dig(body, "metadata", "annotations", LAST_APPLIED) == (
        '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":2,'
        '"template":{"spec":{"containers":[{"image":"\\u003c2\\u003e","name":"web"}]}}}}\n'
    )
    with pytest.raises(Conflict) as error:
        applied(write(live, "alice", replicas=5), configuration(WEB, replicas=3), "kubectl")
    assert [one.field for one in error.value.conflicts] == [".spec.replicas"]


def vouched(live: JSON, annotation: str) -> JSON:
    """Return what kubectl conflicts with, where the live object has this annotation."""
    annotations = {LAST_APPLIED: annotation}
    body = {**live, "metadata": {**live["metadata"], "annotations": annotations}}
    with pytest.raises(Conflict) as error:
        applied(body, configuration(replicas=3), "kubectl")
    return error.value.refusal().details


@pytest.mark.parametrize(
    "annotation",
    [
        "",
        "{",
        "[]",
        json.dumps({**configuration(replicas=2), "apiVersion": "extensions/v1beta1"}),
        json.dumps(configuration(replicas=1)),
    ],
    ids=["empty", "broken", "no object", "another version", "another value"],
)
def test_an_annotation_that_vouches_for_nothing_is_none(annotation: str) -> None:
    """Kubectl inherits what its annotation says and the object still has."""
    live = write(first(configuration(WEB)), "kubectl-client-side-apply", replicas=2)
    assert [cause["field"] for cause in vouched(live, annotation)["causes"]] == [".spec.replicas"]


@pytest.mark.parametrize(
    ("before", "after", "by_alice", "by_bob"),
    [(2, 3, False, True), (2, 0, False, False), (0, 2, False, True)],
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


def _with_entries(body: JSON, sent: Any) -> JSON:
    return {**body, "metadata": {**body["metadata"], "managedFields": sent}}


@pytest.mark.parametrize("sent", [[{}], []])
def test_managed_fields_can_be_reset(sent: list[JSON]) -> None:
    """An empty list or one empty entry clears them."""
    body = update_owners(created(), _with_entries(created(), sent), "bob", now=LATE, schema=SCHEMA)
    assert not entries(body)


def test_managed_fields_by_hand_are_honoured() -> None:
    """What a client sends counts, in the server's form; unreadable ones do not."""
    fields: JSON = {"f:spec": {"f:selector": {"f:matchLabels": {}}, "f:replicas": {".": {}}}}
    hand = {**entries(created())[0], "manager": "ci", "operation": "Apply", "fieldsV1": fields}
    body = update_owners(
        created(), _with_entries(created(), [hand]), "bob", now=LATE, schema=SCHEMA
    )
    expected: JSON = {"f:spec": {"f:replicas": {}, "f:selector": {}}}
    assert entries(body) == [{**hand, "fieldsV1": expected}]
    broken = {**hand, "operation": "Steal"}
    body = update_owners(
        created(), _with_entries(created(), [broken]), "bob", now=LATE, schema=SCHEMA
    )
    assert entries(body) == entries(created())


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "replicas": st.integers(0, 3),
        "paused": st.just(True),
        "minReadySeconds": st.integers(1, 2),
        "strategy": st.sampled_from([{"type": "Recreate"}, {"type": "RollingUpdate"}]),
    },
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["alice", "bob", "ci"]), VALUES), max_size=6))
def test_every_updated_field_has_one_owner(writes: list[tuple[str, JSON]]) -> None:
    """Updates alone never share a leaf, and nothing given is changed by them."""
    body = created()
    for manager, spec in writes:
        before = copy.deepcopy(body)
        after = write(body, manager, **spec)
        assert body == before
        body = after
    for field in ("f:replicas", "f:paused", "f:minReadySeconds"):
        owners = [it for it in entries(body) if field in it["fieldsV1"].get("f:spec", {})]
        assert len(owners) == (field.removeprefix("f:") in body["spec"])


def test_nobody_owns_what_cannot_be_told_apart() -> None:
    """An item of a keyed list without its key: the server gives up on managedFields."""
    schema = schema_of(BY_KEY["serviceaccounts"])
    live = update_owners(None, {"metadata": {"name": "s"}}, "ci", now=EARLY, schema=schema)
    new = {"metadata": {"name": "s", "labels": {"a": "b"}}, "secrets": [{}]}
    for before in (None, live):
        assert update_owners(before, new, "ci", now=LATE, schema=schema) == new

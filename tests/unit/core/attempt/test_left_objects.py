"""An object as it is found at the end, compared with what was left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.last_look import Finding, FindingKind, LeftObject, compare
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref

AS_WRITTEN = Finding(FindingKind.AS_WRITTEN)
DELETED = Finding(FindingKind.DELETED)


def deleting(live: LiveObject, *finalizers: str) -> LiveObject:
    """Return an object whose deletion waits for finalizers."""
    body = live.body.thaw()
    metadata = {**body["metadata"], "deletionTimestamp": "2026-11-22T10:00:00Z"}
    metadata |= {"finalizers": list(finalizers)} if finalizers else {}
    return replace(live, body=Body.of({**body, "metadata": metadata}), resource_version="99999")


def live(
    managed: list[dict[str, Any]], data: dict[str, Any] | None = None, **over: Any
) -> LiveObject:
    """Return a ConfigMap as a read gives it."""
    metadata = {"name": "settings", "namespace": "shop"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data or {}}
    fields = {"managedFields": managed}
    given = {"uid": "u", "resource_version": "1", "body": Body.of(body), **over}
    return LiveObject(Ref("v1", "ConfigMap", "shop", "settings"), managed=Body.of(fields), **given)


def entry(manager: str, *keys: str, operation: str = "Apply", time: str = "1") -> dict[str, Any]:
    """Return an entry of managed fields that owns keys of `data`."""
    owned: dict[str, Any] = {"f:data": {f"f:{key}": {} for key in keys}}
    return {"manager": manager, "operation": operation, "time": time, "fieldsV1": owned}


OURS = entry("rollout-gate", "a", "b")
WRITTEN = live([OURS], {"a": "1", "b": "2"})


@pytest.mark.contract("B49")
@pytest.mark.parametrize(
    ("now", "found"),
    [
        (live([OURS], {"a": "1", "b": "2", "c": "3"}), AS_WRITTEN),
        (
            live([entry("rollout-gate", "a")], {"a": "1"}),
            Finding(FindingKind.CHANGED, (), ("data.b",)),
        ),
        (
            live([entry("rollout-gate", "a", "b", time="2")], {"a": "1", "b": "x"}),
            Finding(FindingKind.CHANGED, ("rollout-gate",), ("data.b",)),
        ),
        (
            live([OURS, entry("labeller", "c")], {"a": "1", "b": "x"}),
            Finding(FindingKind.CHANGED, (), ("data.b",)),
        ),
        (
            live(
                [
                    entry("rollout-gate", "a"),
                    entry("one", "b"),
                    entry("two", "b", operation="Update"),
                ],
                {"a": "1", "b": "x"},
            ),
            Finding(FindingKind.CHANGED, ("one", "two"), ("data.b",)),
        ),
    ],
    ids=["added-to", "removed", "same-manager", "no-owner-tells", "two-owners"],
)
def test_who_changed_it_is_named_only_where_the_object_says_so(
    now: LiveObject, found: Finding
) -> None:
    """A field that is gone has no owner, and a bystander is not blamed."""
    assert compare(LeftObject(WRITTEN), Known(now)) == found


@pytest.mark.contract("B49", "B143")
def test_an_item_of_a_list_is_found_without_a_key_that_the_server_defaults() -> None:
    """A Service's port is restored as it was applied, without its protocol."""

    def service(port: int, *managed: dict[str, Any]) -> LiveObject:
        ports = [{"port": port, "protocol": "TCP", "targetPort": 8080}]
        body = Body.of({"kind": "Service", "metadata": {}, "spec": {"ports": ports}})
        return live([*managed], body=body)

    def owner(manager: str, port: int) -> dict[str, Any]:
        item: dict[str, Any] = {
            f'k:{{"port":{port},"protocol":"TCP"}}': {"f:port": {}, "f:targetPort": {}}
        }
        owned = {"f:spec": {"f:ports": item}}
        return {"manager": manager, "operation": "Apply", "fieldsV1": owned}

    ours = owner("rollout-gate", 80)
    sent = Body.of({"spec": {"ports": [{"port": 80, "targetPort": 8080}]}})
    left = LeftObject(service(80, ours), sent)
    path = 'spec.ports[port=80,protocol="TCP"]'
    assert compare(left, Known(service(80, ours))) == AS_WRITTEN
    theirs = compare(left, Known(service(9090, owner("mesh", 9090))))
    assert theirs == Finding(FindingKind.CHANGED, ("mesh",), (path,))
    altered = LeftObject(service(9090, ours), sent)
    never = compare(altered, Known(service(9090, ours)))
    assert never == Finding(FindingKind.NOT_AS_SENT, (), (path,))


@pytest.mark.contract("B49")
def test_an_object_without_managed_fields_is_compared_whole() -> None:
    """Some servers keep none: then all of it counts."""
    left = LeftObject(live([], {"a": "1"}))
    assert compare(left, Known(live([], {"a": "1"}, resource_version="2"))) == AS_WRITTEN
    changed = compare(left, Known(live([], {"a": "2"}, resource_version="2")))
    assert changed == Finding(FindingKind.CHANGED)


@pytest.mark.contract("B49", "B176")
def test_names_that_could_not_be_printed_come_escaped() -> None:
    """A finalizer or a manager is text of others."""
    finding = compare(LeftObject(WRITTEN), Known(deleting(WRITTEN, "a\u202eb")))
    assert finding == Finding(FindingKind.BEING_DELETED, finalizers=('"a\\u202eb"',))
    assert compare(LeftObject(WRITTEN), Absent()) == DELETED

"""Who owns which fields: what a way back restores, what others lose, what an apply cannot undo."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.ssa.field_set import paths, union
from gate.core.ssa.held_fields import release
from gate.core.ssa.irreversible_changes import why_irreversible
from gate.core.ssa.managed_fields import (
    managers_of,
    owned_fields,
    owners_of,
    restoration,
    take_over,
)

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
WEB = 'k:{"name":"web"}'
A, B = 'k:{"name":"A"}', 'k:{"name":"B"}'
ITEM: dict[str, Any] = {".": {}, "f:name": {}, "f:value": {}}


def entry(manager: str, operation: str, fields: dict[str, Any], **more: str) -> dict[str, Any]:
    """Make an entry of managed fields."""
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "apps/v1",
        "time": "2026-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **more,
    }


def container(**fields: Any) -> dict[str, Any]:
    """Make the tree of a Deployment's fields with those of the container `web`."""
    web = {".": {}, "f:name": {}, **{f"f:{name}": inner for name, inner in fields.items()}}
    return {"f:spec": {"f:template": {"f:spec": {"f:containers": {WEB: web}}}}}


def deployment(image: str = "web:1", *, env: str = "AB", **more: Any) -> dict[str, Any]:
    """Make a live Deployment."""
    variables = [{"name": name, "value": "1"} for name in env]
    web = {"name": "web", "image": image, "env": variables, "imagePullPolicy": "Always"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "u",
            "resourceVersion": "7",
            "annotations": {LAST_APPLIED: "{}", "theirs": "x"},
        },
        "spec": {"replicas": 2, "template": {"spec": {"containers": [web]}}, **more},
        "status": {"replicas": 2},
    }


OURS = entry("rollout-gate", "Apply", container(image={}, env={A: ITEM, B: ITEM}))
OURS["fieldsV1"]["f:spec"]["f:replicas"] = {}
KUBECTL = entry(
    "kubectl-client-side-apply",
    "Update",
    {
        "f:metadata": {"f:annotations": {".": {}, f"f:{LAST_APPLIED}": {}}},
        **container(image={}, env={".": {}, A: ITEM, B: ITEM}, imagePullPolicy={}),
    },
    time="2026-01-02T00:00:00Z",
)
SCALED = entry("hpa", "Update", {"f:spec": {"f:replicas": {}}}, subresource="scale")
STATUS = entry("kcm", "Update", {"f:status": {"f:replicas": {}}}, subresource="status")


@pytest.mark.contract("B60")
def test_owned_fields_are_those_of_our_apply() -> None:
    """What others own, and what we own through an update or a subresource, is not applied."""
    update = entry("rollout-gate", "Update", {"f:spec": {"f:paused": {}}})
    scale = entry("rollout-gate", "Apply", {"f:spec": {"f:replicas": {}}}, subresource="scale")
    assert owned_fields([update, scale, STATUS, KUBECTL, OURS]) == OURS["fieldsV1"]
    assert owned_fields([update, scale, STATUS]) is None
    assert owned_fields([entry("rollout-gate", "Apply", {})]) is None


def test_a_map_that_others_filled_is_owned_merely_as_such() -> None:
    """Of `resources: {}` and `annotations: {}` of ours, what others put in them stays theirs."""
    ours = entry("rollout-gate", "Apply", container(resources={}, args={}))
    theirs = entry("kubectl-set", "Update", container(resources={"f:limits": {"f:cpu": {}}}))
    shared = entry("other", "Apply", container(args={}))
    expected = container(resources={".": {}}, args={})
    assert owned_fields([theirs, ours, shared]) == expected


@pytest.mark.contract("B67")
def test_other_managers_are_named_with_their_fields() -> None:
    """Each manager comes with the fields it shares, subresources included; we do not."""
    edit = entry("kubectl-edit", "Update", container(image={}, workingDir={}))
    assert managers_of([OURS, SCALED, edit, STATUS], OURS["fieldsV1"]) == {
        "hpa": ("spec.replicas",),
        "kubectl-edit": (
            'spec.template.spec.containers[name="web"].name',
            'spec.template.spec.containers[name="web"].image',
        ),
    }


@pytest.mark.contract("B71")
def test_owners_of_replicas_are_found_through_the_scale_subresource() -> None:
    """An autoscaler owns `spec.replicas` by an entry of the subresource `scale`."""
    owners = owners_of([OURS, SCALED, STATUS, KUBECTL], ("spec", "replicas"))
    assert owners == (("rollout-gate", "Apply"), ("hpa", "Update"))
    assert owners_of([STATUS], ("spec", "replicas")) == ()


@pytest.mark.contract("B62")
def test_what_kubectl_applied_becomes_ours() -> None:
    """The entry of client-side apply becomes ours as it is; all others stay as they are."""
    taken = take_over([SCALED, KUBECTL, STATUS])
    ours = {**KUBECTL, "manager": "rollout-gate", "operation": "Apply"}
    assert taken == [ours, SCALED, STATUS]


@pytest.mark.contract("B65")
def test_taking_over_again_unites_with_what_we_own() -> None:
    """After a later `kubectl apply` its fields join ours, at the latest time."""
    taken = take_over([OURS, KUBECTL])
    assert taken == [
        {**OURS, "time": KUBECTL["time"], "fieldsV1": union(OURS["fieldsV1"], KUBECTL["fieldsV1"])}
    ]


@pytest.mark.contract("B69")
def test_a_named_manager_is_taken_over_whatever_its_operation() -> None:
    """`--take-over` moves updates and applies of that manager, and of no other."""
    apply = entry("ci", "Apply", {"f:spec": {"f:paused": {}}})
    update = entry("ci", "Update", {"f:spec": {"f:minReadySeconds": {}}})
    scale = entry("ci", "Update", {"f:spec": {"f:replicas": {}}}, subresource="scale")
    other = entry("helm", "Update", {"f:spec": {"f:paused": {}}})
    assert take_over([apply, update, scale, other]) is None
    taken = take_over([apply, update, scale, other], named=["ci"])
    assert taken is not None
    assert paths(taken[0]["fieldsV1"]) == ("spec.paused", "spec.minReadySeconds")
    assert taken[1:] == [scale, other]


@pytest.mark.contract("B61")
@pytest.mark.parametrize(
    ("manager", "operation", "is_taken"),
    [
        ("kubectl", "Apply", True),
        ("kubectl-last-applied", "Apply", True),
        ("kubectl", "Update", False),
        ("kubectl-client-side-apply", "Apply", False),
        ("other", "Apply", False),
    ],
)
def test_what_kubectl_applied_on_the_server_is_taken(
    manager: str, operation: str, is_taken: bool
) -> None:
    """Its applies are; an update under its name is no apply, and another name is on purpose."""
    theirs = entry(manager, operation, {"f:spec": {"f:paused": {}}})
    assert take_over([theirs]) == ([{**theirs, "manager": OURS["manager"]}] if is_taken else None)


@pytest.mark.contract("B61", "B133")
def test_string_data_is_taken_as_the_data_that_is_kept() -> None:
    """A key that the next manifest leaves out goes then: the server never stores `stringData`."""
    mixed: dict[str, Any] = {"f:stringData": {"f:a": {}}, "f:data": {"f:b": {}}}
    (taken,) = take_over([entry("kubectl", "Apply", mixed)]) or []
    assert taken["fieldsV1"] == {"f:data": {"f:a": {}, "f:b": {}}}


def test_entries_of_another_version_find_no_heir() -> None:
    """Paths of another apiVersion mean another schema: the entry goes, its fields do not move."""
    old = entry(
        "kubectl-create",
        "Update",
        {"f:spec": {"f:rollbackTo": {}}},
        apiVersion="apps/v1beta1",
        time="2025-01-01T00:00:00Z",
    )
    taken = take_over([old, KUBECTL])
    assert taken == [{**KUBECTL, "manager": "rollout-gate", "operation": "Apply"}]


IDENTITY: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
}


@pytest.mark.contract("B128")
def test_a_rollback_applies_what_we_had_applied_before() -> None:
    """The body is our fields at their values of before, with no more of identity than a name."""
    after = [entry("rollout-gate", "Apply", container(image={}, command={}))]
    body = restoration(deployment(), [OURS, SCALED, STATUS], after, forced=False)
    web = {
        "name": "web",
        "image": "web:1",
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}],
    }
    assert body == {
        **IDENTITY,
        "spec": {"replicas": 2, "template": {"spec": {"containers": [web]}}},
    }


@pytest.mark.contract("B69")
def test_a_rollback_after_taking_over_a_named_manager_restores_its_fields() -> None:
    """A manager whose entry is gone with our apply had its fields moved to us."""
    edit = entry("kubectl-edit", "Update", container(image={}))
    body = restoration(deployment("hot"), [edit], [OURS], forced=False)
    (web,) = body["spec"]["template"]["spec"]["containers"]
    assert web == {"name": "web", "image": "hot"}


@pytest.mark.contract("B70")
def test_a_forced_apply_gives_back_what_it_took() -> None:
    """Fields taken by force come with their values of before; what nobody had owned does not."""
    before = [
        entry("rollout-gate", "Apply", container(env={A: ITEM})),
        entry("kubectl-set", "Update", container(image={}, stdin={})),
    ]
    after = [
        entry("rollout-gate", "Apply", container(env={A: ITEM}, image={}, imagePullPolicy={})),
        entry("kubectl-set", "Update", container(stdin={})),
    ]
    forced = restoration(deployment("hot"), before, after, forced=True)
    (web,) = forced["spec"]["template"]["spec"]["containers"]
    assert web == {"name": "web", "env": [{"name": "A", "value": "1"}], "image": "hot"}
    unforced = restoration(deployment("hot"), before, after, forced=False)
    assert "image" not in unforced["spec"]["template"]["spec"]["containers"][0]


def test_fields_of_another_version_are_restored_whole() -> None:
    """Paths of another apiVersion do not fit the body that was read: all of it comes back."""
    live = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "labels": {"a": "b"}},
        "spec": {"metrics": [{"type": "Resource"}]},
        "status": {"currentReplicas": 1},
    }
    old = entry(
        "rollout-gate",
        "Apply",
        {"f:spec": {"f:targetCPUUtilizationPercentage": {}}},
        apiVersion="autoscaling/v1",
    )
    body = restoration(live, [old], [OURS], forced=False)
    metadata = {"name": "web", "namespace": "shop", "labels": {"a": "b"}}
    assert body == {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata,
        "spec": live["spec"],
    }


ANNOTATED: dict[str, Any] = {"f:annotations": {".": {}, "f:a": {}}}


@pytest.mark.contract("B1651")
def test_a_map_is_lost_with_the_last_field_in_it() -> None:
    """Else its owner would be in conflict with whoever fills it again."""
    theirs = entry("kubectl", "Update", {**ANNOTATED, "f:labels": {".": {}, "f:a": {}, "f:b": {}}})
    lost: dict[str, Any] = {"f:annotations": {"f:a": {}}, "f:labels": {"f:a": {}}}
    assert release([theirs], lost, "ours") == [
        entry("kubectl", "Update", {"f:labels": {".": {}, "f:b": {}}})
    ]


@pytest.mark.contract("B1651")
def test_what_is_ours_or_written_through_a_subresource_is_not_lost() -> None:
    """Nothing is sent where nobody else owns anything of it."""
    owned: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    kept = [
        entry("ours", "Update", owned),
        entry("autoscaler", "Update", owned, subresource="scale"),
    ]
    assert release(kept, owned, "ours") is None
    assert release([*kept, entry("kubectl", "Update", owned)], owned, "ours") == kept


JSON = dict[str, Any]


def of(api_version: str, kind: str, **parts: Any) -> JSON:
    """Return an object."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **parts}


def claim(storage: str = "1Gi", **spec: Any) -> JSON:
    """Return a claim for storage."""
    requests = {"requests": {"storage": storage}}
    return of("v1", "PersistentVolumeClaim", spec={"resources": requests, **spec})


def job(image: str = "a", *, suspend: bool = False) -> JSON:
    """Return a Job."""
    template = {"spec": {"containers": [{"name": "a", "image": image}]}}
    return of("batch/v1", "Job", spec={"suspend": suspend, "template": template})


def pod(image: str = "a", **spec: Any) -> JSON:
    """Return a Pod."""
    return of("v1", "Pod", spec={"containers": [{"name": "a", "image": image}], **spec})


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (of("v1", "ConfigMap"), of("v1", "ConfigMap", immutable=True), "immutable"),
        (of("v1", "Secret", immutable=False), of("v1", "Secret", immutable=True), "immutable"),
        (claim(), claim("2Gi"), "shrink"),
        (claim(), claim(storageClassName="fast"), "spec.storageClassName"),
        (claim(), claim(volumeName="pv"), "spec.volumeName"),
        (claim(), claim(volumeAttributesClassName="x"), "spec.volumeAttributesClassName"),
        (job(suspend=True), job("b"), "suspended"),
        (pod(), pod(activeDeadlineSeconds=9), "images"),
        (pod(schedulingGates=[{"name": "a/b"}]), pod(), "images"),
    ],
)
def test_one_way_changes_are_told(before: JSON, after: JSON, word: str) -> None:
    """With why, in words."""
    assert word in why_irreversible(before, after)


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (of("v1", "ConfigMap", data={"a": "1"}), of("v1", "ConfigMap", data={"a": "2"})),
        (of("v1", "Secret", immutable=True), of("v1", "Secret", immutable=True)),
        (claim(storageClassName="a"), claim(storageClassName="a")),
        (job(), job()),
        (job(suspend=True), job("b", suspend=True)),
        (pod("a"), pod("b", nodeName="node")),
        (of("example.com/v1", "ConfigMap"), of("example.com/v1", "ConfigMap", immutable=True)),
        (of("v1", "Service", spec={"type": "ClusterIP"}), of("v1", "Service", spec={})),
    ],
)
def test_all_else_goes_back(before: JSON, after: JSON) -> None:
    """Also a kind of another group that is merely called the same."""
    assert not why_irreversible(before, after)

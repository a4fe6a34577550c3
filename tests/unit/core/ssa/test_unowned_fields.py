"""What becomes ours before an apply, so that the apply removes it; and what it may not touch."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.ssa.field_set import union
from gate.core.ssa.unions import (
    UNIONS,
    excluded_members,
    value_at,
    with_allocations,
    with_unions,
    without_unions,
)
from gate.core.ssa.unowned_fields import add_claims, claims_for_apply, claims_for_return

Fields = dict[str, Any]
ROLLING = {"maxSurge": "25%", "maxUnavailable": "25%"}
MEMBER: Fields = {"f:rollingUpdate": {"f:maxSurge": {}, "f:maxUnavailable": {}}}
NAMES = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}


def deployment(strategy: object = None, **template: object) -> dict[str, Any]:
    """Return a Deployment with this strategy and this pod spec."""
    spec: dict[str, Any] = {"replicas": 2, "template": {"spec": template}}
    if strategy is not None:
        spec["strategy"] = strategy
    return {**NAMES, "spec": spec}


def owned(fields: Fields, manager: str = "rollout-gate", operation: str = "Apply") -> Fields:
    """Return an entry of managed fields."""
    names = {"manager": manager, "operation": operation, "apiVersion": "apps/v1"}
    return {**names, "fieldsType": "FieldsV1", "fieldsV1": fields}


def in_strategy(inner: Fields) -> Fields:
    """Return fields of a Deployment's strategy."""
    return {"f:spec": {"f:strategy": inner}}


def in_pod(inner: Fields) -> Fields:
    """Return fields of a Deployment's pod spec."""
    return {"f:spec": {"f:template": {"f:spec": inner}}}


@pytest.mark.contract("B148")
@pytest.mark.parametrize("kind", [kind for _, kind in UNIONS])
def test_a_type_excludes_the_member_of_another(kind: str) -> None:
    """Named by its path; the default type, and one beside the member itself, exclude nothing."""
    ((path, member),) = [(one.path, one.member) for one in UNIONS["apps/v1", kind]]
    body = {"apiVersion": "apps/v1", "kind": kind}

    def excluded(sent: object) -> tuple[tuple[str, ...], ...]:
        return excluded_members({**body, "spec": {path[1]: sent}})

    assert excluded({"type": "Other"}) == ((*path, member),)
    assert excluded({"type": "RollingUpdate"}) == ()
    assert excluded({"type": "Other", member: {}}) == ()
    assert excluded_members({**body, "spec": {}}) == ()


@pytest.mark.contract("B148")
def test_an_apply_claims_what_the_server_had_defaulted() -> None:
    """The member that nobody owns; nothing where it is not there."""
    live = deployment({"type": "RollingUpdate", "rollingUpdate": ROLLING})
    recreate = deployment({"type": "Recreate"})
    assert claims_for_apply(recreate, live, [owned({})]) == in_strategy(MEMBER)
    assert claims_for_apply(recreate, recreate, [owned({})]) is None
    assert claims_for_apply(deployment(), live, [owned({})]) is None


@pytest.mark.contract("B148", "B67")
def test_an_apply_claims_nothing_of_others() -> None:
    """A parameter that somebody else set is theirs: the server says so."""
    live = deployment({"type": "RollingUpdate", "rollingUpdate": ROLLING})
    theirs = owned(in_strategy({"f:rollingUpdate": {"f:maxSurge": {}}}), "them", "Update")
    claims = claims_for_apply(deployment({"type": "Recreate"}), live, [theirs])
    assert claims == in_strategy({"f:rollingUpdate": {"f:maxUnavailable": {}}})


@pytest.mark.contract("B148")
def test_a_way_back_claims_what_came_with_the_version_that_failed() -> None:
    """Defaults beside a field that stays; those inside a field of ours go with it."""
    before = deployment({"type": "Recreate"}, dnsPolicy="ClusterFirst")
    after = deployment(
        {"type": "RollingUpdate", "rollingUpdate": ROLLING},
        dnsPolicy="ClusterFirst",
        serviceAccountName="x",
        serviceAccount="x",
        readinessProbe={"httpGet": {"port": 80, "scheme": "HTTP"}},
    )
    probe: Fields = {"f:readinessProbe": {"f:httpGet": {"f:port": {}}}}
    ours = union(in_strategy({"f:type": {}}), in_pod({"f:serviceAccountName": {}, **probe}))
    assert ours is not None
    claims = claims_for_return(before, after, [owned(dict(ours))], deployment({"type": "Recreate"}))
    assert claims == union(in_strategy(MEMBER), in_pod({"f:serviceAccount": {}}))


@pytest.mark.contract("B148", "B128")
def test_a_way_back_claims_nothing_that_others_own() -> None:
    """What a controller or a person added since stays; so does all where nobody is known."""
    before, after = deployment(), deployment()
    after["metadata"] = {"name": "web", "annotations": {"theirs": "x", "nobodys": "y"}}
    theirs = owned({"f:metadata": {"f:annotations": {"f:theirs": {}}}}, "them", "Update")
    ours = owned({"f:spec": {"f:replicas": {}}})
    claims = claims_for_return(before, after, [ours, theirs], before)
    assert claims == {"f:metadata": {"f:annotations": {"f:nobodys": {}}}}
    assert claims_for_return(before, after, [theirs], before) is None
    other = {**after, "apiVersion": "apps/v1beta1"}
    assert claims_for_return(before, other, [ours], before) is None


@pytest.mark.contract("B148")
def test_claims_join_our_entry_once() -> None:
    """Other entries stay; where we had none, one is made; where all is ours, nothing is sent."""
    claims = in_strategy(MEMBER)
    ours, theirs = owned({"f:spec": {"f:replicas": {}}}), owned({"f:x": {}}, "them")
    grown = add_claims([theirs, ours], claims, "apps/v1")
    assert grown == [theirs, {**ours, "fieldsV1": union(ours["fieldsV1"], claims)}]
    assert add_claims(grown, claims, "apps/v1") is None
    assert add_claims([theirs], claims, "apps/v1") == [owned(claims), theirs]


def service(**spec: object) -> dict[str, Any]:
    """Return a Service."""
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": spec}


@pytest.mark.contract("B148")
def test_a_service_is_sent_the_addresses_that_it_lost() -> None:
    """Those alone; what our apply left, and other kinds, are sent as they are."""
    had = [{"port": 80, "protocol": "TCP", "nodePort": 30001}, {"port": 81, "nodePort": 30002}]
    has = [{"port": 80, "protocol": "TCP"}, {"port": 81, "nodePort": 30002}]
    before = service(clusterIP="10.0.0.1", ipFamilyPolicy="SingleStack", ports=had)
    after = service(ipFamilyPolicy="SingleStack", ports=has)
    restored = service(type="NodePort", ports=[{"port": 80}, {"port": 81}])
    assert with_allocations(restored, before, after) == service(
        type="NodePort", clusterIP="10.0.0.1", ports=[{"port": 80, "nodePort": 30001}, {"port": 81}]
    )
    assert with_allocations(restored, before, before) == restored
    assert with_allocations(NAMES, deployment(), deployment({})) == NAMES


@pytest.mark.contract("B148", "B5")
def test_a_dry_run_is_without_the_union_and_completed_by_it() -> None:
    """What a dry run cannot try is left out of it, and put into its answer."""
    body = deployment({"type": "Recreate"})
    assert without_unions(body) == deployment()
    answer = deployment({"type": "RollingUpdate", "rollingUpdate": ROLLING})
    assert with_unions(answer, body) == body
    assert value_at(answer, ("spec", "strategy", "type")) == "RollingUpdate"


@pytest.mark.contract("B148")
def test_items_of_lists_are_claimed_by_their_keys() -> None:
    """An injected container goes as an item; a default in one that stays, as a field."""
    key = 'k:{"containerPort":80,"protocol":"TCP"}'
    port = {"containerPort": 80, "protocol": "TCP"}
    before = deployment(containers=[{"name": "web", "ports": [port]}])
    after = deployment(
        containers=[
            {"name": "web", "ports": [{**port, "hostPort": 80}]},
            {"name": "mesh", "image": "mesh"},
        ]
    )
    web: Fields = {".": {}, "f:ports": {key: {".": {}, "f:containerPort": {}}}}
    ours = owned(in_pod({"f:containers": {'k:{"name":"web"}': web}}))
    restored = deployment(containers=[{"name": "web", "ports": [{"containerPort": 80}]}])
    assert claims_for_return(before, after, [ours], restored) == in_pod(
        {
            "f:containers": {
                'k:{"name":"web"}': {"f:ports": {key: {"f:hostPort": {}}}},
                'k:{"name":"mesh"}': {".": {}, "f:name": {}, "f:image": {}},
            }
        }
    )

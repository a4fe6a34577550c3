"""What the status of an object says of whether it is ready, and what it needs of the others."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.model.objects import Ref
from gate.core.model.readiness import ReadinessKind
from gate.core.plan.phases import Phase, find_needs, order_by_phase
from gate.core.readiness.object_needs import find_own_needs
from gate.core.readiness.rules import readiness_of
from tests.table import each

READY, NOT_YET, FAILED, UNJUDGED = (
    ReadinessKind.READY,
    ReadinessKind.NOT_YET,
    ReadinessKind.FAILED,
    ReadinessKind.UNJUDGED,
)
CUSTOM = ("example.com/v1", "Widget")
DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
API_SERVICE = ("apiregistration.k8s.io/v1", "APIService")
CLAIM = ("v1", "PersistentVolumeClaim")
INGRESS = ("networking.k8s.io/v1", "Ingress")
WEBHOOKS = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
BALANCED = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}


def condition(kind: str, status: str, **more: Any) -> dict[str, Any]:
    """Return a status with one condition."""
    return {"conditions": [{"type": kind, "status": status, **more}]}


def conditions(*found: dict[str, Any]) -> dict[str, Any]:
    """Return a status with the conditions of several."""
    return {"conditions": [one for each in found for one in each["conditions"]]}


STALLED = condition("Stalled", "True", reason="X")
BALANCING = ("v1", "Service", {"type": "LoadBalancer"})


@pytest.mark.contract("B986", "B987", "B988")
@each(
    ("kind", "status", "expected", "why"),
    [
        (CUSTOM, None, UNJUDGED, ""),
        (CUSTOM, condition("Synced", "True"), UNJUDGED, ""),
        (CUSTOM, condition("Ready", "True"), READY, ""),
        (
            CUSTOM,
            condition("Ready", "False", reason="NoKey", message="secret a is missing"),
            NOT_YET,
            "Ready is False: NoKey: secret a is missing",
        ),
        (CUSTOM, condition("Ready", "Unknown"), NOT_YET, "Ready is Unknown"),
        (
            CUSTOM,
            condition("Ready", "True", observedGeneration=2),
            NOT_YET,
            "its condition Ready is about an earlier generation",
        ),
        (
            CUSTOM,
            {"observedGeneration": 2, **STALLED},
            NOT_YET,
            "its controller has not observed the latest change",
        ),
        (
            CUSTOM,
            conditions(condition("Ready", "True"), condition("Reconciling", "True")),
            NOT_YET,
            "Reconciling is True",
        ),
        (
            CUSTOM,
            conditions(condition("Reconciling", "True"), STALLED),
            FAILED,
            "Stalled is True: X",
        ),
        (DEFINITION, {}, NOT_YET, "it is not established yet"),
        (
            DEFINITION,
            condition("Established", "False", reason="Installing"),
            NOT_YET,
            "Established is False: Installing",
        ),
        (DEFINITION, condition("Established", "True"), READY, ""),
        (
            DEFINITION,
            conditions(condition("NamesAccepted", "False"), condition("Established", "False")),
            FAILED,
            "NamesAccepted is False",
        ),
        (API_SERVICE, {}, NOT_YET, "it is not available yet"),
        (API_SERVICE, condition("Available", "True"), READY, ""),
        (("v1", "Namespace"), {"phase": "Active"}, READY, ""),
        (CLAIM, {"phase": "Pending"}, NOT_YET, "its phase is Pending"),
        (CLAIM, {"phase": "Bound"}, READY, ""),
        (CLAIM, {"phase": "Lost"}, FAILED, "its phase is Lost"),
        (("v1", "Service"), {"loadBalancer": {}}, UNJUDGED, ""),
        (BALANCING, {"loadBalancer": {}}, NOT_YET, "its load balancer has no address yet"),
        (BALANCING, BALANCED, READY, ""),
        (INGRESS, {"loadBalancer": {}}, UNJUDGED, ""),
        (INGRESS, BALANCED, READY, ""),
        (("v1", "Pod"), {"phase": "Pending"}, NOT_YET, "its phase is Pending"),
        (("v1", "Pod"), {"phase": "Running", **condition("Ready", "True")}, READY, ""),
        (
            ("v1", "Pod"),
            {"phase": "Failed", "reason": "Evicted"},
            FAILED,
            "its phase is Failed: Evicted",
        ),
        (CUSTOM, {"conditions": [3, {"type": 4}, {}]}, UNJUDGED, ""),
        (CUSTOM, {"conditions": {"type": "Ready"}}, UNJUDGED, ""),
    ],
)
def test_readiness_follows_the_status(
    kind: tuple[Any, ...], status: Any, expected: ReadinessKind, why: str
) -> None:
    """Ready, not yet and failed are told apart; where nothing says so, nothing is claimed."""
    api_version, name, *spec = kind
    body = {
        "apiVersion": api_version,
        "kind": name,
        "metadata": {"name": "one", "generation": 3},
        "spec": spec[0] if spec else {},
        "status": status,
    }
    found = readiness_of(body)
    assert (found.kind, found.why) == (expected, why)
    gone = {**body["metadata"], "deletionTimestamp": "2026-11-23T22:00:00Z"}
    going = readiness_of({**body, "metadata": gone})
    assert (going.kind, going.why) == (UNJUDGED, "it is being deleted")


@pytest.mark.contract("B986")
def test_a_webhook_waits_for_its_certificate_where_an_injector_brings_it() -> None:
    """Without such an annotation there is nothing to wait for."""
    api_version, kind = WEBHOOKS
    body: dict[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": {}}
    body["webhooks"] = [{"name": "a.example.com", "clientConfig": {}}]
    assert readiness_of(body).kind is UNJUDGED
    body["metadata"] = {"annotations": {"cert-manager.io/inject-ca-from": "shop/ca"}}
    assert readiness_of(body).why == "webhook a.example.com has no caBundle yet"
    body["webhooks"][0]["clientConfig"] = {"caBundle": "eA=="}
    assert readiness_of(body).kind is READY


NAMESPACE = Ref("v1", "Namespace", "", "shop")
CRD = Ref("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com")
WIDGET = Ref("example.com/v1", "Widget", "shop", "one")
METRIC = Ref("metrics.example.com/v1", "Metric", "other", "one")
API = Ref("apiregistration.k8s.io/v1", "APIService", "", "v1.metrics.example.com")
BACKEND = Ref("v1", "Service", "metrics", "server")
BODIES: dict[Ref, dict[str, Any]] = {
    NAMESPACE: {},
    CRD: {"spec": {"group": "example.com", "names": {"kind": "Widget"}}},
    WIDGET: {},
    METRIC: {},
    API: {
        "spec": {
            "group": "metrics.example.com",
            "version": "v1",
            "service": {"namespace": "metrics", "name": "server"},
        }
    },
}


@pytest.mark.contract("B982")
def test_objects_need_their_definition_their_namespace_and_their_api() -> None:
    """An API that the manifest itself serves is none to wait for: it is there only later."""
    assert find_own_needs(BODIES) == {WIDGET: (NAMESPACE, CRD), METRIC: (API,)}
    assert METRIC not in find_own_needs({**BODIES, BACKEND: {}})


@pytest.mark.contract("B980", "B982")
def test_what_is_needed_is_written_first() -> None:
    """An APIService stands behind everything in the order of application; what is last, stays so.

    A workload that comes before the others holds up all behind it, but not what stands before.
    """
    first, web, last = (Ref("apps/v1", "Deployment", "shop", name) for name in "abc")
    phases = {first: Phase.BEFORE, web: Phase.MAIN, last: Phase.AFTER}
    own = find_own_needs(BODIES)
    order = order_by_phase((last, NAMESPACE, METRIC, first, WIDGET, web, API), phases, own)
    assert order == (NAMESPACE, API, METRIC, first, WIDGET, web, last)
    assert find_needs(order, phases, own) == {
        NAMESPACE: (),
        API: (),
        METRIC: (API,),
        first: (),
        WIDGET: (NAMESPACE, first),
        web: (first,),
        last: (first, web),
    }

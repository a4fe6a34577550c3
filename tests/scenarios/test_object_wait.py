"""Objects beside the workloads that have to be ready: an apply waits for them once all else is."""

from __future__ import annotations

import json
import signal

import pytest

from tests.bed.expectations import assert_runs, assert_verified
from tests.bed.scene import Scene, service, web
from tests.cluster.kubelet.api import JSON

ADDRESS: JSON = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}}


def balancer() -> JSON:
    """Return a Service with a load balancer."""
    body = service()
    return {**body, "spec": {**body["spec"], "type": "LoadBalancer"}}


def claim() -> JSON:
    """Return a claim that nobody binds."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": spec,
    }


@pytest.mark.contract("B986")
def test_an_apply_ends_once_the_load_balancer_has_an_address(scene: Scene) -> None:
    """The Deployment was complete before; the report comes after the address."""
    scene.serve(web())
    with scene.applying(balancer(), web(2)) as running:
        running.wait_for_line("awaiting +waiting for service/web .its load balancer has no address")
        scene.objects.patch("services", "web", ADDRESS, subresource="status")
        running.wait_for_line("ready +service/web is ready")
        assert_verified(running.wait())


@pytest.mark.contract("B987", "B988")
def test_a_load_balancer_without_an_address_takes_the_apply_back(scene: Scene) -> None:
    """With the version that ran well; who asks for workloads alone has both stay."""
    scene.serve(web())
    bodies = (balancer(), web(2))
    result = scene.apply(*bodies, flags=("--wait-for-timeout", "2s"))
    assert result.exit_code == 4, str(result)
    found = json.loads(result.stdout)
    assert found["reason"] == "ObjectNotReady"
    assert found["message"].startswith("service/web is not ready after 2 s: its load balancer")
    assert_runs(scene.objects, "shop/web:1")
    assert_verified(scene.apply(*bodies, flags=("--wait-for", "workloads")))


@pytest.mark.contract("B1233")
def test_what_is_not_ready_any_more_is_waited_for_again(scene: Scene) -> None:
    """A load balancer that loses its address during the window gets it back."""
    scene.serve(web())
    with scene.applying(balancer(), web(2), flags=("--bake", "5s")) as running:
        running.wait_for_line("awaiting +waiting for service/web")
        scene.objects.patch("services", "web", ADDRESS, subresource="status")
        running.wait_for_line("baking +")
        none = {"status": {"loadBalancer": {"ingress": None}}}
        scene.objects.patch("services", "web", none, subresource="status")
        again = r" ([5-9]|\d\d+)\.\ds +awaiting +waiting for service/web .its load balancer"
        running.wait_for_line(again)
        scene.objects.patch("services", "web", ADDRESS, subresource="status")
        assert_verified(running.wait())


@pytest.mark.contract("B985")
def test_a_signal_ends_the_wait_for_objects(scene: Scene) -> None:
    """What was written stays, as after any rollout that nothing was found against."""
    scene.serve(web())
    with scene.applying(balancer(), web(2)) as running:
        running.wait_for_line("awaiting +waiting for service/web")
        running.send(signal.SIGTERM)
        assert running.wait().exit_code == 128 + signal.SIGTERM


@pytest.mark.contract("B989", "B992")
def test_a_claim_stays_where_created_objects_are_deleted(scene: Scene) -> None:
    """It may hold data by then; the report names it."""
    scene.serve(web())
    bodies = (claim(), service(), web(2, behaviour="crash"))
    result = scene.apply(*bodies, flags=("--prune-created",))
    assert result.exit_code == 4, str(result)
    warnings = json.loads(result.stdout)["warnings"]
    kept = "persistentvolumeclaim/data was not deleted: its data could be deleted with it"
    assert kept in warnings
    assert scene.objects.find("services", "web") is None

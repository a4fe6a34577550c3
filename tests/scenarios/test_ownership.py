"""Who owns which field: conflicts, taking over, autoscalers, and tools that manage Deployments."""

from __future__ import annotations

import json

import pytest

from tests.bed.expectations import (
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.scene import OURS, Scene, autoscaler, secret, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.scenarios.versions import DOCUMENT

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def variables(live: JSON) -> dict[str, str]:
    """Return the environment of the first container."""
    container = live["spec"]["template"]["spec"]["containers"][0]
    return {each["name"]: each["value"] for each in container.get("env", [])}


def managers(live: JSON) -> set[tuple[str, str]]:
    """Return who owns fields, status and scale aside, as (manager, operation)."""
    entries = live["metadata"]["managedFields"]
    return {(each["manager"], each["operation"]) for each in entries if "subresource" not in each}


@pytest.mark.fault(42)
@pytest.mark.contract("B67")
def test_a_hot_fix_by_hand_is_not_overwritten(scene: Scene) -> None:
    """A conflict names each field, its manager and the flag that settles it; nothing is written."""
    scene.serve(web())
    scene.kubectl("set", "image", "deployment/web", "web=shop/web:hotfix", check=True)
    scene.objects.wait_complete("web")
    result = scene.apply(web(2))
    field = '.spec.template.spec.containers[name="web"].image'
    assert_refused(result, "Conflict", field, "kubectl-set")
    assert "--take-over kubectl-set" in result.stderr
    assert "--force-conflicts" in result.stderr
    assert_runs(scene.objects, "shop/web:hotfix", revision=2)


@pytest.mark.fault(42)
@pytest.mark.contract("B67")
def test_a_secret_of_somebody_else_is_not_overwritten(scene: Scene) -> None:
    """Keys that another manager gave as text are its own, although the server encodes them."""
    path = scene.manifest(secret("theirs"))
    scene.kubectl("apply", "--server-side", "--field-manager=vault", "-f", path, check=True)
    before = scene.objects.get("secrets", "keys")["data"]
    result = scene.apply(secret())
    assert_refused(result, "Conflict", "secret/keys", "vault")
    assert "--take-over vault; or overwrite them this once: add --force-" in result.stderr
    assert scene.objects.get("secrets", "keys")["data"] == before


@pytest.mark.contract("B70", "B128")
def test_a_forced_version_that_fails_gives_back_the_hot_fix(scene: Scene) -> None:
    """The rollback restores the values that the force took from others."""
    scene.serve(web())
    scene.kubectl("set", "image", "deployment/web", "web=shop/web:hotfix", check=True)
    scene.objects.wait_complete("web")
    result = scene.apply(web(2, behaviour="crash=0.1"), flags=["--force-conflicts"])
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:hotfix")


@pytest.mark.contract("B61", "B62", "B65")
def test_the_first_run_after_kubectl_apply_takes_over(scene: Scene, audit: Trail) -> None:
    """Over a Deployment of `kubectl apply` no flag is needed, and removed fields really go."""
    before = web(env={"PASSWORD": "x", "MODE": "one"})
    scene.kubectl("apply", "-f", scene.manifest(before), check=True)
    scene.objects.wait_complete("web")
    after = web(2)
    result = scene.apply(after)
    assert_verified(result)
    live = assert_runs(scene.objects, "shop/web:2", revision=2)
    assert "MODE" not in variables(live)
    assert managers(live) - {("kube-controller-manager", "Update")} == {(OURS, "Apply")}
    last_applied = json.loads(live["metadata"]["annotations"][LAST_APPLIED])
    assert last_applied["spec"] == after["spec"]
    moved = [each for each in audit.requests().writes() if isinstance(each.body, list)]
    assert len(moved) == 1
    assert moved[0].answer is not None
    assert moved[0].answer["metadata"]["generation"] == 1


@pytest.mark.contract("B60", "B61", "B62", "B65")
@pytest.mark.parametrize("began", ["--server-side", longer("client side")])
def test_what_kubectl_applied_on_the_server_is_taken_over(scene: Scene, began: str) -> None:
    """No flag is needed over `kubectl apply --server-side`, also where it had followed a plain one.

    Removed fields go, of a Secret's `stringData` too, and a rollback brings them back.
    """
    before = (web(env={"PASSWORD": "x", "MODE": "one"}), two_keys())
    path = scene.manifest(*before)
    if began == "client side":
        scene.kubectl("apply", "-f", path, check=True)
    scene.kubectl("apply", "--server-side", "-f", path, check=True)
    scene.objects.wait_complete("web")
    assert_rolled_back(scene.apply(web("bad", behaviour="crash=0.1"), secret()), "CrashLoop")
    assert variables(assert_runs(scene.objects, "shop/web:1"))["MODE"] == "one"
    assert set(scene.objects.get("secrets", "keys")["data"]) == {"key", "OLD"}
    assert_verified(scene.apply(web(2), secret()))
    live = assert_runs(scene.objects, "shop/web:2")
    assert "MODE" not in variables(live)
    assert managers(live) - {("kube-controller-manager", "Update")} == {(OURS, "Apply")}
    assert set(scene.objects.get("secrets", "keys")["data"]) == {"key"}


def two_keys() -> JSON:
    """Return the Secret of the shop with a key more."""
    body = secret()
    return {**body, "stringData": {**body["stringData"], "OLD": "x"}}


@pytest.mark.contract("B73")
def test_a_merge_that_the_server_cannot_do_is_refused(scene: Scene, audit: Trail) -> None:
    """Duplicate names that client-side apply let in are refused with the server's words, once."""
    twice = web()
    container = twice["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": "MODE", "value": value} for value in ("one", "two")]
    scene.kubectl("apply", "-f", scene.manifest(twice), check=True)
    scene.objects.wait_complete("web")
    result = scene.apply(twice)
    assert_refused(result, "Rejected", "MODE")
    asked = [each for each in audit.requests() if each.is_dry_run]
    assert len(asked) == 1
    assert_runs(scene.objects, "shop/web:1", revision=1)


@pytest.mark.fault(33)
@pytest.mark.contract("B71", "B128")
def test_an_autoscaler_keeps_its_replicas(scene: Scene) -> None:
    """Where the autoscaler owns replicas, the manifest's are left out: 4 stay 4, on both ways."""
    scene.serve(web(), autoscaler())
    scene.change_as("kube-controller-manager", {"spec": {"replicas": 4}}, "scale")
    scene.objects.wait_complete("web")
    result = scene.apply(web(2))
    assert_verified(result)
    assert warned(result, "replicas", "autoscaler")
    assert_runs(scene.objects, "shop/web:2", replicas=4)
    assert_rolled_back(scene.apply(web(3, behaviour="crash=0.1")), "CrashLoop")
    assert_runs(scene.objects, "shop/web:2", replicas=4)


HELM = {"annotations": {"meta.helm.sh/release-name": "shop"}}
ARGO_CD = {"annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}}
FLUX = {"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}


@pytest.mark.contract("B10", "B36")
@pytest.mark.parametrize(
    ("marks", "evidence"),
    [
        (HELM, "meta.helm.sh/release-name=shop"),
        (ARGO_CD, "argocd.argoproj.io/tracking-id=shop"),
        (FLUX, "kustomize.toolkit.fluxcd.io/name=shop"),
    ],
)
def test_what_another_tool_manages_is_refused_and_can_be_verified(
    scene: Scene, marks: dict[str, dict[str, str]], evidence: str
) -> None:
    """Helm, Argo CD and Flux leave their marks: `apply` names them and `verify` judges."""
    scene.kubectl("apply", "--server-side", "-f", scene.manifest(web(**marks)), check=True)
    scene.objects.wait_complete("web")
    result = scene.apply(web(2))
    assert_refused(result, "GitOpsManaged", evidence)
    assert "rollout-gate verify web" in result.stderr
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]
    verified = scene.gate("verify", "web", *DOCUMENT)
    assert_verified(verified)


@pytest.mark.contract("B1421")
def test_what_kubectl_owns_as_well_is_kept_and_not_called_restored(scene: Scene) -> None:
    """Of the ConfigMap only kubectl's annotation could go back: its data is that of the failure."""
    scene.kubectl("apply", "-f", scene.manifest(settings("one"), web()), check=True)
    scene.objects.wait_complete("web")
    with scene.applying(settings("two"), web(2, behaviour="never-ready")) as running:
        running.wait_for_line("applied +deployment/web")
        scene.apply_as("somebody", settings("two"))
        result = running.wait()
    [item] = [one for one in result.document["objects"] if one["name"] == "settings"]
    assert item["action"] == "kept"
    told = [one["message"] for one in result.document["timeline"] if one["event"] == "kept"]
    assert told == ["configmap/settings kept"]

"""`resume` and `restart` ask the server for their way back, as an apply does."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.scene import Scene, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import CRASH, DOCUMENT, KEEP, keep_a_bad_version, mode

ALLOWED = ("--allow-irreversible", *DOCUMENT)


def set_image_while_paused(scene: Scene) -> None:
    """Verify v1, then let somebody pause it and set an image that is theirs from then on."""
    assert_verified(scene.apply(web()))
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    scene.change_as("kubectl-patch", {"spec": {"template": template_of(web(2, behaviour=CRASH))}})


def template_of(deployment: JSON) -> JSON:
    """Return the pod template of a manifest."""
    template: JSON = deployment["spec"]["template"]
    return template


@pytest.mark.contract("B765")
def test_a_resume_that_could_not_be_taken_back_is_refused(scene: Scene) -> None:
    """Somebody else owns the image: a return would be a conflict, known before the first write."""
    set_image_while_paused(scene)
    result = scene.gate("resume", "web", *DOCUMENT)
    assert_refused(result, "Irreversible", "deployment/web", "kubectl-patch")
    assert scene.objects.get("deployments", "web")["spec"]["paused"]
    allowed = scene.gate("resume", "web", *ALLOWED)
    assert warned(allowed, "a failure cannot take deployment/web back", "kubectl-patch")
    assert_ended(allowed, 5, "rollback-failed", "CrashLoop")


@pytest.mark.contract("B765")
def test_a_resume_that_returns_to_nothing_is_not_refused(scene: Scene) -> None:
    """With `--on-failure keep` there is no way back that could be refused."""
    set_image_while_paused(scene)
    kept = scene.gate("resume", "web", *KEEP, *DOCUMENT)
    assert_ended(kept, 6, "failed", "CrashLoop")


@pytest.mark.contract("B765")
def test_a_restart_beside_what_became_immutable_is_refused(scene: Scene) -> None:
    """A failure would return the ConfigMap, too, which the server does not take."""
    keep_a_bad_version(scene, {**settings("nine"), "immutable": True})
    result = scene.gate("restart", "web", *DOCUMENT)
    assert_refused(result, "Irreversible", "configmap/settings", "immutable")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:9"]
    allowed = scene.gate("restart", "web", *ALLOWED)
    assert_ended(allowed, 5, "rollback-failed", "CrashLoop")


@pytest.mark.contract("B765", "B140")
def test_a_restart_leaves_to_others_what_is_theirs_of_configuration(scene: Scene) -> None:
    """What somebody else has changed of it is no reason to refuse: it stays."""
    keep_a_bad_version(scene)
    scene.objects.patch("configmaps", "settings", {"data": {"mode": "theirs"}})
    result = scene.gate("restart", "web", *DOCUMENT)
    assert_rolled_back(result, "CrashLoop")
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "theirs"


@pytest.mark.contract("B765", "B196")
@pytest.mark.parametrize("by", ["gate", "kubectl"])
def test_a_restart_of_what_serves_is_not_refused(scene: Scene, by: str) -> None:
    """Also where `kubectl rollout restart` or another restart came before."""
    assert_verified(scene.apply(settings("one"), web()))
    if by == "kubectl":
        at = {"kubectl.kubernetes.io/restartedAt": "2020-01-01T00:00:00Z"}
        patch: JSON = {"spec": {"template": {"metadata": {"annotations": at}}}}
        scene.change_as("kubectl-rollout", patch)
        scene.objects.wait_complete("web")
    else:
        assert_verified(scene.gate("restart", "web", *DOCUMENT))
    assert scene.gate("restart", "web", *DOCUMENT).exit_code == 0

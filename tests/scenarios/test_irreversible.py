"""What cannot be taken back: refused before the first write, and undone as the refusal advises."""

from __future__ import annotations

import shlex

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
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    KEEP,
    history_rows,
    keep_a_bad_version,
    mode,
    undo,
    verify_versions,
)

pytestmark = pytest.mark.sandbox_only("what is refused and advised is the same on any cluster")

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


def leave_immutable(scene: Scene, *versions: int) -> None:
    """Verify versions, then fail one that leaves its ConfigMap immutable."""
    for version in versions:
        assert_verified(scene.apply(settings(str(version)), web(version)))
    frozen = {**settings("9"), "immutable": True}
    flags = ["--allow-irreversible"]
    failed = scene.apply(frozen, web(9, behaviour=CRASH), flags=flags)
    assert_ended(failed, 5, "rollback-failed", "CrashLoop", running="baseline")


@pytest.mark.contract("B798", "B721")
def test_history_marks_no_undo_over_what_became_immutable(scene: Scene) -> None:
    """The configuration of what runs cannot be restored by a write."""
    leave_immutable(scene, 1, 2)
    rows = history_rows(scene)
    (marked,) = [row for row in rows if row["undo_returns"]]
    assert (marked["running"], marked["undo_lacks"]) == (True, ["configmap/settings"])
    shown = scene.gate("history", "web").stdout
    assert "undo would return here" not in shown


@pytest.mark.contract("B798", "B753")
@pytest.mark.parametrize("versions", [(1,), (1, 2)])
def test_a_refused_undo_names_the_deletion_that_lets_it_work(
    scene: Scene, versions: tuple[int, ...]
) -> None:
    """What is deleted is created again, with what runs: the undo goes back no further."""
    leave_immutable(scene, *versions)
    refused = undo(scene)
    assert_refused(refused, "SetIncomplete", "configmap/settings is immutable now")
    (hint,) = [line for line in refused.stderr.splitlines() if line.startswith("hint: ")]
    delete, again = (part.split(": ", 1)[1] for part in hint.removeprefix("hint: ").split("; "))
    assert shlex.split(delete)[:3] == ["kubectl", "delete", "configmap/settings"]
    scene.objects.delete("configmaps", "settings")
    words = shlex.split(again)
    assert words[0] == "rollout-gate"
    assert_verified(scene.gate(*words[1:], *DOCUMENT), "NoChange")
    assert_runs(scene.objects, f"shop/web:{versions[-1]}")
    assert mode(scene) == str(versions[-1])


@pytest.mark.contract("B798", "B786")
def test_what_somebody_made_immutable_is_refused_alike(scene: Scene) -> None:
    """In mid-flight: the attempt had written it, and cannot take it back."""
    verify_versions(scene, 1, 2)
    with scene.applying(settings("9"), web(9, behaviour="crash=1")) as running:
        running.wait_for_line(UNDER_WAY)
        scene.objects.patch("configmaps", "settings", {"immutable": True})
        assert running.wait().exit_code == 5
    refused = undo(scene)
    assert_refused(refused, "SetIncomplete", "configmap/settings is immutable now")
    scene.objects.delete("configmaps", "settings")
    assert_verified(undo(scene), "NoChange")
    assert_runs(scene.objects, "shop/web:2")
    assert mode(scene) == "2"


def reading(body: JSON, name: str) -> JSON:
    """Let the pods of a Deployment read a ConfigMap."""
    (container,) = body["spec"]["template"]["spec"]["containers"]
    container["envFrom"] = [{"configMapRef": {"name": name}}]
    return body


@pytest.mark.contract("B798", "B703")
def test_an_undo_brings_back_what_the_pods_that_run_refer_to(scene: Scene) -> None:
    """Somebody deleted it: the next pod could not start, whichever version is meant."""
    for version in (1, 2):
        body = reading(web(version), "settings")
        assert_verified(scene.apply(settings(str(version)), body))
    scene.objects.delete("configmaps", "settings")
    result = undo(scene)
    assert_verified(result, "NoChange")
    assert "which runs, with its configuration" in result.stderr
    assert mode(scene) == "2"


@pytest.mark.contract("B798", "B703")
def test_an_undo_leaves_what_runs_where_something_older_is_gone(scene: Scene) -> None:
    """A ConfigMap of the version before was cleaned away: it comes back with that version."""
    assert_verified(scene.apply(settings("1"), web()))
    assert_verified(scene.apply(web(2)))
    scene.objects.delete("configmaps", "settings")
    assert_verified(undo(scene))
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "1"


@pytest.mark.contract("B798", "B703")
def test_a_secret_that_is_gone_is_said_to_be_gone(scene: Scene) -> None:
    """What it was is not kept: that is the reason, not a change of somebody else."""
    assert_verified(scene.apply(secret("one-value"), web()))
    frozen = {**secret("two-value"), "immutable": True}
    flags = ["--allow-irreversible"]
    failed = scene.apply(frozen, web(9, behaviour=CRASH), flags=flags)
    assert failed.exit_code == 5, str(failed)
    scene.objects.delete("secrets", "keys")
    refused = undo(scene)
    assert_refused(refused, "SetIncomplete", "secret/keys is gone, and its content at that time")


@pytest.mark.contract("B798", "B1913")
def test_an_undo_after_a_rollback_does_not_lead_to_what_failed(scene: Scene) -> None:
    """Whoever meant to undo version 2 learns that this was done, and by which manifest to go on."""
    assert_verified(scene.apply(web()))
    assert_rolled_back(scene.apply(web(2, behaviour=CRASH)), "CrashLoop")
    refused = undo(scene)
    assert_refused(refused, "NoBaseline", "revision 2 (shop/web:2): it failed")
    assert "hint: deployment/web was rolled back already, from shop/web:2 at" in refused.stderr
    runs = "(CrashLoop): revision 3 (shop/web:1) runs since; "
    assert f"{runs}apply the manifest of the version that should run" in refused.stderr
    assert "--to-revision" not in refused.stderr

"""What serves is called so, and what to do next works: no `undo` is advised that is refused."""

from __future__ import annotations

import shlex

import pytest

from tests.bed.expectations import assert_refused, assert_runs, assert_verified, images, warned
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON, STRATEGIC_PATCH
from tests.scenarios.versions import (
    CRASH,
    DOCUMENT,
    KEEP,
    apply_and_keep,
    history_rows,
    mode,
    one_line,
    report,
    undo,
)

pytestmark = pytest.mark.sandbox_only("what is advised and then done is the same on any cluster")

DOUBT = ("--smoke-test", "sh -c 'exit 75'")
KEPT = "--keep-verified-secrets"


@pytest.mark.contract("B1022")
@pytest.mark.parametrize("versions", [1, 2])
def test_verify_advises_no_undo_where_there_is_one_revision(scene: Scene, versions: int) -> None:
    """It would be refused: `history` shows what there is."""
    for version in range(1, versions + 1):
        assert_verified(scene.apply(web(version)))
    text = scene.gate("verify", "web", "--smoke-test", "false").stdout
    assert ("rollout-gate undo web" in text) is (versions > 1)
    assert ("rollout-gate history web" in text) is (versions == 1)
    assert undo(scene).exit_code == (0 if versions > 1 else 3)


def advised(scene: Scene, result: Result) -> tuple[str, list[str]]:
    """Return what a person reads of a result, and the words of the undo that it advises."""
    shown = report(scene, result)
    lines = [shlex.split(line) for line in shown.splitlines() if line.startswith(" " * 14)]
    (words,) = [words for words in lines if words[:2] == ["rollout-gate", "undo"]]
    return shown, words[1:]


def verify_two(scene: Scene, *flags: str) -> str:
    """Verify two versions with their Secrets; return the manifest of the second."""
    assert_verified(scene.apply(secret("b25l"), web(), flags=flags))
    second = scene.manifest(secret("dHdv"), web(2))
    assert_verified(scene.gate("apply", "-f", second, *flags, *DOCUMENT))
    return str(second)


@pytest.mark.contract("B766")
@pytest.mark.parametrize(("flags", "code"), [(DOUBT, 7), (KEEP, 6)], ids=["doubt", "keep"])
def test_an_undo_that_would_be_refused_is_not_advised(
    scene: Scene, flags: tuple[str, ...], code: int
) -> None:
    """The Secret changed with the version, and what it was was not kept: both other ways work."""
    second = verify_two(scene)
    behaviour = CRASH if code == 6 else "ready=0"
    result = scene.apply(secret("dGhyZWU="), web(3, behaviour=behaviour), flags=flags)
    assert result.exit_code == code, str(result)
    shown, words = advised(scene, result)
    assert "apply its manifest, since undo cannot restore secret/keys" in " ".join(shown.split())
    assert KEPT in shown
    assert "--deployment-only" in words
    if code == 6:
        assert advised(scene, scene.gate("verify", "web", *DOCUMENT))[1] == words
    plain = [word for word in words if word != "--deployment-only"]
    refused = scene.gate(*plain, *DOCUMENT)
    assert_refused(refused, "SetIncomplete", "secret/keys has changed since", "was not kept")
    assert "somebody else" not in refused.stderr
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:2")
    again = scene.gate("apply", "-f", second, *DOCUMENT)
    assert again.exit_code == 0, str(again)


@pytest.mark.contract("B766")
@pytest.mark.parametrize("flags", [(KEPT,), ()], ids=["kept", "not changed"])
def test_an_undo_that_works_is_advised(scene: Scene, flags: tuple[str, ...]) -> None:
    """The Secret is kept beside the lock, or did not change."""
    verify_two(scene, *flags)
    value = "dGhyZWU=" if flags else "dHdv"
    result = scene.apply(secret(value), web(3, behaviour=CRASH), flags=[*KEEP, *flags])
    _, words = advised(scene, result)
    assert "--deployment-only" not in words
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B766", "B703")
def test_a_refusal_blames_somebody_else_for_their_change_alone(scene: Scene) -> None:
    """The Secret is our own apply's, the ConfigMap is not."""
    assert_verified(scene.apply(settings("one"), secret("b25l"), web()))
    assert_verified(scene.apply(settings("two"), secret("dHdv"), web(2)))
    scene.apply_as("kubectl", settings("hot"))
    result = undo(scene)
    assert_refused(result, "SetIncomplete")
    (line,) = [one for one in result.stderr.splitlines() if one.startswith("error: ")]
    assert "secret/keys has changed since, and its content at that time was not kept" in line
    assert "configmap/settings was changed since by somebody else" in line


@pytest.mark.contract("B869")
@pytest.mark.parametrize("is_remembered", [True, False])
def test_without_a_lock_no_undo_of_the_configuration_is_advised(
    scene: Scene, *, is_remembered: bool
) -> None:
    """Nobody wrote down what it was: the pod template alone is advised, and that works."""
    flags = () if is_remembered else ("--no-lock",)
    assert_verified(scene.apply(settings("one"), web(), flags=flags))
    kept = ("--no-lock", *KEEP)
    result = scene.apply(settings("two"), web(2, behaviour=CRASH), flags=kept)
    shown, words = advised(scene, result)
    said = " ".join(shown.split())
    assert "apply its manifest, since undo cannot restore configmap/settings" in said
    assert "with configmap/settings left as it is now" in said
    assert words[:2] == ["undo", "web"]
    assert "--deployment-only" in words
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "two"


@pytest.mark.contract("B869")
def test_without_a_lock_an_undo_of_the_deployment_is_advised_and_works(scene: Scene) -> None:
    """Nothing beside it was changed; what is new beside it is left."""
    assert_verified(scene.apply(settings("one"), web(), flags=["--no-lock"]))
    new = secret("b25l")
    bad = scene.apply(settings("one"), new, web(2, behaviour=CRASH), flags=("--no-lock", *KEEP))
    _, words = advised(scene, bad)
    assert "--deployment-only" not in words
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B869", "B766")
def test_of_what_no_gate_verified_no_undo_of_the_configuration_is_advised(scene: Scene) -> None:
    """An undo returns only its pod template: the advice says what that leaves."""
    scene.serve(settings("one"), web())
    shown, words = advised(scene, scene.apply(settings("two"), web(2, behaviour=CRASH), flags=KEEP))
    assert "undo cannot restore configmap/settings" in " ".join(shown.split())
    assert "--deployment-only" in words
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1307")
def test_verify_advises_the_pod_template_alone_of_what_no_gate_verified(scene: Scene) -> None:
    """What it refers to is named, since an undo leaves it as it is now."""
    old, new = web(), web(2, behaviour=CRASH)
    for body in (old, new):
        (container,) = body["spec"]["template"]["spec"]["containers"]
        container["envFrom"] = [{"configMapRef": {"name": "settings"}}]
    scene.apply_as("kubectl", settings("one"))
    scene.apply_as("kubectl", old)
    scene.wait_done("deployments", "web")
    scene.apply_as("kubectl", settings("two"))
    scene.apply_as("kubectl", new)
    shown, words = advised(scene, scene.gate("verify", "web", *DOCUMENT))
    said = " ".join(shown.split())
    assert "apply its manifest, since undo cannot restore configmap/settings" in said
    assert "with configmap/settings left as it is now" in said
    assert "--deployment-only" in words
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")
    assert mode(scene) == "two"


@pytest.mark.contract("B870")
def test_a_refused_undo_advises_no_template_that_is_gone(scene: Scene) -> None:
    """Somebody deleted the Deployment, and its ReplicaSets went with it."""
    assert_verified(scene.apply(web()))
    scene.objects.delete("deployments", "web")
    assert_verified(scene.apply(web(2)))
    refused = undo(scene)
    assert_refused(refused, "SetIncomplete", "deployment/web")
    assert "--deployment-only" not in refused.stderr
    assert "apply the manifest of that version" in refused.stderr


@pytest.mark.contract("B871", "B798")
def test_verify_advises_no_undo_over_what_became_immutable(scene: Scene) -> None:
    """Somebody froze the ConfigMap of a version that crashes now: no undo writes to it."""
    assert_verified(scene.apply(settings("one"), web()))
    apply_and_keep(scene, settings("two"), web(2, behaviour=CRASH))
    scene.objects.patch("configmaps", "settings", {"immutable": True})
    verified = scene.gate("verify", "web", *DOCUMENT)
    assert warned(verified, "configmap/settings is immutable now", "delete it first")
    shown, words = advised(scene, verified)
    assert "undo cannot restore configmap/settings" in " ".join(shown.split())
    assert "--deployment-only" in words
    plain = [word for word in words if word != "--deployment-only"]
    assert_refused(scene.gate(*plain, *DOCUMENT), "SetIncomplete", "immutable now")
    assert_verified(scene.gate(*words, *DOCUMENT))


@pytest.mark.contract("B1600", "B766")
@pytest.mark.parametrize("latest", ["two", "three"])
def test_the_advised_undo_leaves_another_its_configuration(scene: Scene, latest: str) -> None:
    """Whole where the settings can go to what web needs, else of the pod template alone."""
    assert_verified(scene.apply(settings("one"), web(name="api")))
    assert_verified(scene.apply(settings("two"), web()))
    bad = scene.apply(settings(latest), web(2, name="api", behaviour=CRASH), flags=KEEP)
    shown, words = advised(scene, bad)
    alone = latest == "two"
    assert ("undo cannot restore configmap/settings" in " ".join(shown.split())) is alone
    assert ("--deployment-only" in words) is alone
    again, same = advised(scene, scene.gate("verify", "api", *DOCUMENT))
    assert (same, "undo cannot restore" in again) == (words, alone)
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert images(scene.objects.get("deployments", "api")) == ["shop/api:1"]
    assert mode(scene) == "two"


def change(scene: Scene, *versions: int) -> None:
    """Bring versions by kubectl, one after the other, each to its end."""
    for version in versions:
        scene.apply_as("kubectl", web(version))
        scene.wait_done("deployments", "web")


def crash(scene: Scene, version: int) -> None:
    """Bring a version by kubectl whose first pod crashes, so that the old ones stay."""
    generation = scene.apply_as("kubectl", web(version, behaviour=CRASH))["metadata"]["generation"]

    def has_a_pod(live: JSON) -> bool:
        status = live["status"]
        return status["observedGeneration"] >= generation and bool(status.get("updatedReplicas"))

    scene.objects.wait_for("deployments", "web", has_a_pod)


def verify_one_serve_another(scene: Scene) -> None:
    """Verify v1 with the gate, then bring v2 and v3 by kubectl, and v4, which crashes."""
    assert_verified(scene.apply(web()))
    change(scene, 2, 3)
    crash(scene, 4)


@pytest.mark.contract("B1660")
@pytest.mark.parametrize("command", ["verify", "apply"])
def test_what_was_verified_last_is_not_called_what_served(scene: Scene, command: str) -> None:
    """Both are named, with the undo that goes to each; the one to what serves goes there."""
    verify_one_serve_another(scene)
    if command == "verify":
        result = scene.gate("verify", "web", *DOCUMENT)
    else:
        flags = (*KEEP, "--force-conflicts")
        result = scene.apply(web(5, behaviour=CRASH), flags=flags)
    assert result.exit_code == 6, str(result)
    baseline = result.document["workloads"][0]["baseline"]
    assert (baseline["revision"], baseline["served"]) == (1, False)
    shown = report(scene, result)
    assert "before    revision" not in shown
    assert "served before" not in one_line(shown)
    assert "serves    revision 3, shop/web:3, with 2 of 2 pods" in shown
    assert "verified  revision 1, shop/web:1" in shown
    assert "to return to what serves, revision 3, shop/web:3, with 2 of 2 pods" in one_line(shown)
    assert "to return to the last other verified version" in one_line(shown)
    lines = [shlex.split(line) for line in shown.splitlines()]
    to_serving, to_verified = [words[1:] for words in lines if words[1:2] == ["undo"]]
    assert ("3" in to_serving, "1" in to_verified) == (True, True)
    assert_verified(scene.gate(*to_serving, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:3")


@pytest.mark.contract("B1660")
def test_what_was_verified_and_serves_is_what_served_before(scene: Scene) -> None:
    """There is one version to return to, and one undo."""
    assert_verified(scene.apply(web()))
    crash(scene, 2)
    result = scene.gate("verify", "web", *DOCUMENT)
    assert result.document["workloads"][0]["baseline"]["served"] is True
    shown = report(scene, result)
    assert "before    revision 1, shop/web:1" in shown
    assert "to return to the version that served before" in one_line(shown)
    assert shown.count("rollout-gate undo") == 1


@pytest.mark.contract("B1661")
def test_before_the_first_write_it_is_said_what_serves_until_then(scene: Scene) -> None:
    """The failure still returns to what was verified."""
    verify_one_serve_another(scene)
    flags = ("--force-conflicts", "--dry-run", *DOCUMENT)
    tried = scene.gate("apply", "-f", scene.manifest(web(5)), *flags)
    said = (
        "what is live does not serve, so a failure returns to the last verified revision 1"
        " (shop/web:1); revision 3 (shop/web:3) serves until then"
    )
    assert said in tried.stderr


@pytest.mark.contract("B1662")
def test_an_undo_past_what_serves_warns_and_names_the_other_undo(scene: Scene) -> None:
    """It goes to what was verified all the same; who names a revision is told nothing."""
    verify_one_serve_another(scene)
    tried = undo(scene, "--dry-run", "--force-conflicts")
    found = "revision 3 (shop/web:3) was found serving, with 2 of 2 pods"
    assert warned(tried, f"{found}: this undo replaces it by revision 1 (shop/web:1)")
    (line,) = (one for one in tried.stderr.splitlines() if found in one)
    words = shlex.split(line.partition("to return to it instead: rollout-gate ")[2])
    assert words[:4] == ["undo", "web", "--to-revision", "3"]
    named = scene.gate(*words, *DOCUMENT)
    assert_verified(named)
    assert not warned(named, "was found serving")
    assert_runs(scene.objects, "shop/web:3")


@pytest.mark.contract("B1663")
@pytest.mark.parametrize("serves", [True, False])
def test_what_serves_was_not_returned_from(scene: Scene, *, serves: bool) -> None:
    """A bad version brought again is no return, unless it serves as well."""
    change(scene, 1, 2, 1)
    bring_bad = crash if serves else change
    bring_bad(scene, 3)
    change(scene, 1)
    bring_bad(scene, 3)
    (marked,) = [one["images"] for one in history_rows(scene) if one["undo_returns"]] or [[]]
    result = undo(scene, "--force-conflicts")
    assert_verified(result)
    assert ("is a return from it" in result.stderr) is not serves
    assert_runs(scene.objects, "shop/web:1" if serves else "shop/web:2")
    assert marked == (["shop/web:1"] if serves else [])


@pytest.mark.contract("B1666")
def test_to_resume_what_is_not_paused_takes_nothing_back(scene: Scene) -> None:
    """It says so as an apply does that changes nothing."""
    assert_verified(scene.apply(web()))
    said = "revision 1 (shop/web:1) runs, and nothing changes: a failure takes nothing back"
    for words in (("resume", "web"), ("apply", "-f", scene.manifest(web()))):
        result = scene.gate(*words, *DOCUMENT)
        assert_verified(result, "NoChange")
        assert said in result.stderr


@pytest.mark.contract("B1937", "B1938")
def test_a_refused_undo_advises_no_revision_that_nobody_judged(scene: Scene) -> None:
    """Others set a variable in mid-flight: what failed then is the revision that made of it.

    The one that the run's own write had made has no judgement, though its image is that which
    crashed. The variable stays, so that to return to revision 1 takes its fields over.
    """
    assert_verified(scene.apply(settings("one"), web()))
    path = scene.manifest(settings("two"), web(2, behaviour=CRASH))
    with scene.gate.start("apply", "-f", path) as running:
        running.wait_for_line("following")
        variable = {"name": "web", "env": [{"name": "A", "value": "b"}]}
        patch = {"spec": {"template": {"spec": {"containers": [variable]}}}}
        query = "?fieldManager=kubectl-set"
        scene.objects.patch("deployments", "web", patch, STRATEGIC_PATCH, query=query)
        query = "?fieldManager=kubectl-patch"
        scene.objects.patch("configmaps", "settings", {"data": {"mode": "other"}}, query=query)
        assert running.wait().exit_code == 4
    again = scene.apply(settings("one"), web(), flags=("--take-over", "kubectl-patch"))
    assert again.exit_code == 0, str(again)
    refused = undo(scene)
    assert_refused(refused, "SetIncomplete")
    assert "--to-revision" not in refused.stderr
    assert "hint: apply the manifest of that version" in refused.stderr
    refused = undo(scene, "--deployment-only")
    assert_refused(refused, "Conflict", "fields that others own")
    hint = one_line(refused.stderr).partition("to remove them: rollout-gate ")[2]
    words = hint.partition(" -n ")[0].split()
    assert words == ["undo", "web", "--deployment-only", "--take-over", "kubectl-set"]
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:1")

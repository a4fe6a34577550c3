"""Ways back, and what a failure does instead where it was told to or has nowhere to go."""

from __future__ import annotations

import pytest

from gate.cli.exit_codes import MEANINGS
from gate.core.model.outcome import Outcome
from gate.report.formats.outputs import outputs
from tests.bed.bed import Bed
from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    images,
    warned,
)
from tests.bed.invariants import CANARY
from tests.bed.scene import Scene, quota, service, settings, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.played.bed import PlayedUsers
from tests.scenarios.versions import CRASH, keep_a_bad_version, mode, one_line, report

DAY_SECONDS = 86_400.0


@pytest.mark.contract("B26", "B136")
def test_a_first_deployment_that_fails_is_kept(scene: Scene) -> None:
    """Where nothing served before, the bad version stays, and the end says so."""
    result = scene.apply(web(behaviour=CRASH))
    ended = assert_ended(result, 6, "failed", "CrashLoop", running="new", cause="CrashLoop")
    assert ended["baseline"] is None
    assert result.document["rollback"] is None
    live = scene.objects.get("deployments", "web")
    assert (images(live), live["spec"]["replicas"]) == (["shop/web:1"], 2)


@pytest.mark.contract("B136")
def test_a_first_deployment_that_is_deleted_with_all_else_leaves_nothing(scene: Scene) -> None:
    """All is as before, 4: the row, the outputs and the table of codes say that nothing runs."""
    flags = ["--on-first-failure", "delete", "--prune-created"]
    result = scene.apply(settings("one"), web(behaviour=CRASH), flags=flags)
    assert_ended(result, 4, "rolled-back", "CrashLoop", running="other", cause="CrashLoop")
    assert scene.objects.find("deployments", "web") is None
    assert scene.objects.find("configmaps", "settings") is None
    assert outputs(result.document)["rolled-back"] == "true"
    shown = one_line(report(scene, result))
    assert "this run had created it, and it was deleted" in shown
    assert "runs no pod" in shown
    assert "or nothing, if nothing ran before" in MEANINGS[Outcome.ROLLED_BACK][0]


@pytest.mark.contract("B1360")
@pytest.mark.parametrize("policy", ["keep", "scale-to-zero", "delete"])
def test_configuration_that_was_there_stays_beside_a_first_version_that_stays(
    scene: Scene, policy: str
) -> None:
    """The first version needs it; once that is deleted, nothing does, and it goes back."""
    assert_verified(scene.apply(settings("one"), web()))
    flags = ["--on-first-failure", policy]
    result = scene.apply(settings("two"), web(name="first", behaviour=CRASH), flags=flags)
    goes_back = policy == "delete"
    assert (result.exit_code, mode(scene)) == (6, "one" if goes_back else "two"), str(result)
    assert warned(result, "configmap/settings keeps what this run wrote") is not goes_back
    assert (scene.objects.find("deployments", "first") is None) is goes_back
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B136", "B144", "B1312")
def test_what_a_finalizer_holds_is_not_taken_back(scene: Scene) -> None:
    """The garbage collector leaves the pods of an owner that still exists: 6, and they run on."""
    held = web(behaviour=CRASH)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    flags = ["--on-first-failure", "delete", "--prune-created"]
    result = scene.apply(settings("one"), held, flags=flags)
    assert_ended(result, 6, "failed", "CrashLoop", running="new")
    shown = one_line(report(scene, result))
    assert "the Deployment is being deleted" in shown
    assert "it waits for the finalizer example.com/hold" in shown
    assert "runs revision 1, shop/web:1" in shown
    scene.objects.patch("deployments", "web", {"metadata": {"finalizers": None}})


@pytest.mark.contract("B700", "B133", "B538")
def test_a_failure_after_a_kept_failure_returns_to_the_verified_set(scene: Scene) -> None:
    """Back to v1 with the configuration of v1, not with that of the bad version in between."""
    keep_a_bad_version(scene)
    result = scene.apply(settings("two"), web(2, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert mode(scene) == "one"
    live = assert_runs(scene.objects, "shop/web:1")
    env = live["spec"]["template"]["spec"]["containers"][0]["env"]
    assert env == [{"name": "PASSWORD", "value": CANARY}]
    assert "with it returns, as it was verified: configmap/settings" in result.stderr
    assert_verified(scene.apply(settings("three"), web(3)))


@pytest.mark.contract("B138")
@pytest.mark.sandbox_only("two days of waiting")
@pytest.mark.parametrize(("days", "goes_back"), [("1", False), longer("3", True)])
def test_a_failure_returns_to_no_version_of_long_ago(
    scene: Scene, bed: Bed, days: str, goes_back: bool
) -> None:
    """It is kept then, and said before the first write."""
    assert isinstance(bed.users, PlayedUsers)
    scene.serve(web())
    bed.users.played.clock.wait(2 * DAY_SECONDS)
    flags = ("--rollback-max-age-days", days)
    result = scene.apply(web(2, behaviour=CRASH), flags=flags)
    if goes_back:
        assert_rolled_back(result, "CrashLoop")
    else:
        assert_ended(result, 6, "failed", "CrashLoop", cause="CrashLoop")
        assert result.document["rollback"] is None
    assert warned(result, "2 days old, and the limit is 1") != goes_back


@pytest.mark.contract("B1278", "B34")
def test_an_observer_only_tells_all_that_would_have_gone_back(scene: Scene) -> None:
    """Both failed, and the configuration was changed with them: 0, and all of it stays."""
    scene.serve(settings("one"), web(), web(name="api"))
    bad = (settings("two"), web(2, behaviour=CRASH), web(2, name="api", behaviour=CRASH))
    result = scene.apply(*bad, flags=["--observe"])
    assert_ended(result, 0, "observed", "CrashLoop")
    # Whichever fails first is named first.
    said = {
        f"would have rolled back deployment/{first} to revision 1, and deployment/{other},"
        " configmap/settings because CrashLoop"
        for first, other in (("api", "web"), ("web", "api"))
    }
    assert any(one in result.document["message"] for one in said), str(result)
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]
    assert mode(scene) == "two"


IN_DOUBT = ("--smoke-test", "sh -c 'exit 75'", "--bake", "2s")
BAD = ("--smoke-test", "false", "--bake", "2s")


@pytest.mark.contract("B34")
@pytest.mark.parametrize("stood", [True, False], ids=["changed", "new"])
@pytest.mark.parametrize(
    ("flags", "changed", "new"),
    [
        (("--smoke-test", "true", "--bake", "2s"), "been verified: ", "been verified: "),
        ((), "been applied: ", "been applied: "),
        (IN_DOUBT, "been kept as inconclusive because", "been kept as inconclusive because"),
        (BAD, "rolled back configmap/settings because", "failed (there was nothing to return to)"),
        (
            (*BAD, "--prune-created"),
            "rolled back configmap/settings because",
            "deleted configmap/settings because",
        ),
        (
            (*BAD, "--on-failure", "keep"),
            "failed (--on-failure keep)",
            "failed (--on-failure keep)",
        ),
        (
            (*IN_DOUBT, "--on-inconclusive", "rollback"),
            "rolled back configmap/settings because",
            "failed (there was nothing to return to)",
        ),
    ],
    ids=["good", "unchecked", "in-doubt", "bad", "pruned", "kept", "doubt-is-failure"],
)
def test_an_observer_of_configuration_tells_what_the_same_run_does(
    scene: Scene, flags: tuple[str, ...], changed: str, new: str, *, stood: bool
) -> None:
    """There is no Deployment to name; what would have gone back is what goes back without it."""
    if stood:
        assert scene.apply(settings("one")).exit_code == 0
    result = scene.apply(settings("two"), flags=[*flags, "--observe"])
    assert (result.exit_code, result.document["outcome"]) == (0, "observed"), str(result)
    expected = f"would have {changed if stood else new}"
    assert result.document["message"].startswith(expected), result.document["message"]
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "two"}


@pytest.mark.contract("B133", "B724")
def test_configuration_that_goes_back_alone_is_not_called_verified(scene: Scene) -> None:
    """No Deployment says that what came back works."""
    assert scene.apply(settings("one")).exit_code == 0
    result = scene.apply(settings("two"), flags=BAD)
    assert (result.exit_code, result.document["outcome"]) == (4, "rolled-back"), str(result)
    assert result.document["rollback"]["verified"] is False
    shown = report(scene, result)
    assert "configuration alone after" in shown
    assert "verified" not in shown


@pytest.mark.long
@pytest.mark.contract("B134")
@pytest.mark.parametrize("prunes", [False, True])
def test_created_objects_go_only_when_asked(scene: Scene, audit: Trail, prunes: bool) -> None:
    """What the attempt created stays; with --prune-created it goes last, in reverse order."""
    scene.serve(web())
    flags = ["--prune-created"] if prunes else []
    result = scene.apply(settings(), service(), web(2, behaviour=CRASH), flags=flags)
    assert_rolled_back(result, "CrashLoop")
    actions = {each["kind"]: each["action"] for each in result.document["objects"]}
    fate = "deleted" if prunes else "kept"
    assert actions == {"ConfigMap": fate, "Service": fate, "Deployment": "restored"}
    for resource, name in (("configmaps", "settings"), ("services", "web")):
        assert bool(scene.objects.find(resource, name)) is not prunes
    written = [each for each in audit.requests().of_objects().writes() if each.succeeded]
    created = [each.resource for each in written if each.code == 201]
    deleted = [each.resource for each in written if each.verb == "delete"]
    assert deleted == (created[::-1] if prunes else [])
    assert [each.resource for each in written[: 4 if prunes else None]][-1] == "deployments"


@pytest.mark.long
@pytest.mark.fault(25)
@pytest.mark.contract("B25", "B137")
def test_a_way_back_that_cannot_be_verified_fails(scene: Scene) -> None:
    """Where the baseline's pods cannot start any more, the code is 5 when its own budget ends."""
    strategy = {"type": "Recreate"}
    scene.serve(web(strategy=strategy))
    bad = web(2, strategy=strategy, behaviour=CRASH)
    with scene.applying(bad, flags=["--rollback-timeout", "4s"]) as running:
        scene.objects.wait("pods", lambda pods: _count(pods, "shop/web:2") == 2)
        scene.objects.create("resourcequotas", quota({"pods": "0"}))
        result = running.wait()
    ended = assert_ended(result, 5, "rollback-failed", "CrashLoop", cause="CrashLoop")
    assert "PodCreateDenied" in {cause["reason"] for cause in ended["causes"]}
    assert result.document["rollback"]["verified"] is False
    live = scene.objects.get("deployments", "web")
    assert images(live) == ["shop/web:1"]
    assert not live["status"].get("availableReplicas")


def _count(pods: list[JSON], image: str) -> int:
    return sum(pod["spec"]["containers"][0]["image"] == image for pod in pods)


@pytest.mark.fault(39)
@pytest.mark.contract("B141")
def test_a_baseline_whose_replica_set_is_gone_comes_back(scene: Scene) -> None:
    """With revisionHistoryLimit 0 the old ReplicaSet goes; its template still comes back."""
    strategy = {"type": "Recreate"}
    before = scene.serve(web(strategy=strategy, revisionHistoryLimit=0))
    [old] = scene.objects.list_all("replicasets")

    def is_gone(found: list[JSON]) -> bool:
        return old["metadata"]["uid"] not in {each["metadata"]["uid"] for each in found}

    bad = web(2, strategy=strategy, revisionHistoryLimit=0, behaviour="ready-then-crash=1")
    with scene.applying(bad, flags=["--bake", "30"]) as running:
        scene.objects.wait("replicasets", is_gone)
        result = running.wait()
    assert (result.exit_code, result.document["outcome"]) == (4, "rolled-back"), str(result)
    live = assert_runs(scene.objects, "shop/web:1")
    assert live["spec"]["template"] == before["spec"]["template"]


@pytest.mark.contract("B1863")
@pytest.mark.parametrize("again", [1, 2])
def test_a_first_version_of_an_earlier_run_is_not_deleted(scene: Scene, again: int) -> None:
    """Neither by the same apply with the flag, nor by one of another version that fails, too."""
    assert_ended(scene.apply(web(behaviour=CRASH)), 6, "failed", "CrashLoop")
    flags = ("--on-first-failure", "delete")
    assert_ended(scene.apply(web(again, behaviour=CRASH), flags=flags), 6, "failed", "CrashLoop")
    assert scene.objects.find("deployments", "web") is not None


@pytest.mark.sandbox_only("a real controller takes a moment to scale the new pods away")
@pytest.mark.contract("B1862")
def test_a_way_back_to_pods_that_still_serve_is_verified_at_once(scene: Scene) -> None:
    """No seconds are told where there are none."""
    assert_verified(scene.apply(web()))
    result = scene.apply(web(2, behaviour="never-ready", progress_deadline_seconds=5))
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded")
    assert ", verified at once\n" in report(scene, result)

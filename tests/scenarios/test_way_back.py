"""A failure takes back the exact object: unions of fields, what is allocated, fields of others."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

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
from tests.bed.owners import disown, whole
from tests.bed.quotas import enforce
from tests.bed.scene import Scene, quota, secret, service, settings, web
from tests.cluster import manifests
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON
from tests.long import longer
from tests.scenarios.versions import CRASH, DOCUMENT, KEEP, report

BOTH = (("configmaps", "settings"), ("deployments", "web"))
STRATEGIES: dict[str, JSON | None] = {
    "absent": None,
    "rolling": {"type": "RollingUpdate"},
    "surge": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
    "recreate": {"type": "Recreate"},
}


@pytest.mark.contract("B61", "B149")
@pytest.mark.parametrize("kept", [False, True], ids=["as-before", "last-verified"])
def test_an_object_whose_owners_were_removed_returns_all_the_same(scene: Scene, kept: bool) -> None:
    """What only the bad version had goes, too: nothing conflicts with `before-first-apply`."""
    bare = {key: value for key, value in settings("one").items() if key != "data"}
    strategy = STRATEGIES["absent" if kept else "recreate"]
    assert_verified(scene.apply(settings("one"), web(strategy=strategy)))
    found = [whole(scene.objects, *each) for each in BOTH]
    if kept:
        bad = scene.apply({**bare, "data": {"nine": "9"}}, web(9, behaviour=CRASH), flags=KEEP)
        assert_ended(bad, 6, "failed", "CrashLoop")
    with scene.applying({**bare, "data": {"two": "2"}}, web(2, behaviour="crash=5")) as running:
        running.wait_for_line(UNDER_WAY)
        for resource, name in BOTH:
            disown(scene.objects, resource, name)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert [whole(scene.objects, *each) for each in BOTH] == found
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B148", "B120")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("recreate", "rolling"),
        ("recreate", "absent"),
        ("absent", "recreate"),
        longer("rolling", "recreate"),
        longer("surge", "recreate"),
        longer("recreate", "surge"),
        longer("surge", "absent"),
    ],
)
def test_any_strategy_goes_out_and_back(
    scene: Scene, audit: Trail, before: str, after: str
) -> None:
    """The Deployment is as before to the field, and its old ReplicaSet serves again."""
    scene.serve(web(strategy=STRATEGIES[before]))
    found = whole(scene.objects, "deployments", "web")
    result = scene.apply(web(2, strategy=STRATEGIES[after], behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert whole(scene.objects, "deployments", "web") == found
    assert_runs(scene.objects, "shop/web:1")
    sent = audit.requests().writes().of(resource="deployments")
    applies = [each for each in sent if isinstance(each.body, dict)]
    assert [each.code for each in applies] == [200, 200], "out and back, nothing was refused"


@pytest.mark.contract("B148", "B146", "B700")
@pytest.mark.parametrize("after", ["absent", "recreate", longer("surge")])
def test_a_verified_strategy_is_returned_to_over_a_kept_failure(scene: Scene, after: str) -> None:
    """The way back to Recreate is free though what runs has a rolling update of the server's."""
    assert_verified(scene.apply(web(strategy=STRATEGIES["recreate"])))
    keep = ("--on-failure", "keep")
    kept = scene.apply(web(9, strategy=STRATEGIES["absent"], behaviour=CRASH), flags=keep)
    assert_ended(kept, 6, "failed", "CrashLoop")
    bad = web(2, strategy=STRATEGIES[after], behaviour=CRASH)
    assert_rolled_back(scene.apply(bad), "CrashLoop")
    assert assert_runs(scene.objects, "shop/web:1")["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.contract("B148")
@pytest.mark.parametrize(
    ("before", "after"), [("NodePort", "ClusterIP"), longer("ClusterIP", "NodePort")]
)
def test_a_service_has_its_ports_again(scene: Scene, before: str, after: str) -> None:
    """A node port that the change of type gave up is the same one again."""
    was, becomes = service(), service()
    was["spec"]["type"], becomes["spec"]["type"] = before, after
    scene.serve(web(), was)
    spec = scene.objects.get("services", "web")["spec"]
    assert_rolled_back(scene.apply(web(2, behaviour=CRASH), becomes), "CrashLoop")
    assert scene.objects.get("services", "web")["spec"] == spec


@pytest.mark.contract("B148")
def test_a_service_account_that_only_the_failed_version_had_is_gone(scene: Scene) -> None:
    """Its deprecated twin, which nobody owns, would bring it back."""
    scene.serve(web())
    found = whole(scene.objects, "deployments", "web")
    bad = web(2, behaviour=CRASH)
    bad["spec"]["template"]["spec"]["serviceAccountName"] = "default"
    assert_rolled_back(scene.apply(bad), "CrashLoop")
    assert whole(scene.objects, "deployments", "web") == found


def immutable(body: JSON) -> JSON:
    """Return a ConfigMap or Secret that cannot be changed any more."""
    return {**body, "immutable": True}


@pytest.mark.contract("B146")
@pytest.mark.parametrize(
    ("before", "after"),
    [(settings(), immutable(settings("two"))), longer(secret(), immutable(secret()))],
)
def test_what_could_not_return_is_refused(scene: Scene, before: JSON, after: JSON) -> None:
    """Before the first write, with the object, why, and the flag that allows it."""
    scene.serve(web(), before)
    result = scene.apply(web(2, behaviour=CRASH), after)
    name = f"{before['kind'].lower()}/{before['metadata']['name']}"
    assert_refused(result, "Irreversible", name, "immutable")
    assert "--allow-irreversible" in result.stderr
    assert_runs(scene.objects, "shop/web:1", revision=1)


@pytest.mark.contract("B147", "B25")
def test_what_is_allowed_not_to_return_is_named_and_ends_as_failed(scene: Scene) -> None:
    """The Deployment returns, the ConfigMap does not: 5, and never 4."""
    scene.serve(web(), settings("one"))
    bad = [web(2, behaviour=CRASH), immutable(settings("two"))]
    result = scene.apply(*bad, flags=["--allow-irreversible"])
    assert_ended(result, 5, "rollback-failed", "CrashLoop", running="baseline")
    assert warned(result, "configmap/settings", "could not be restored", "immutable")
    irreversible = {each["name"]: each["irreversible"] for each in result.document["objects"]}
    assert "immutable" in irreversible["settings"]
    assert not irreversible["web"]
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B753", "B786")
@pytest.mark.parametrize(
    ("by", "flags", "code"),
    [
        ("us", ["--allow-irreversible"], 5),
        ("us", ["--on-failure", "keep"], 6),
        ("others", ["--on-failure", "rollback"], 5),
        longer("others", ["--on-failure", "keep"], 6),
    ],
)
@pytest.mark.parametrize("kind", ["configmaps", longer("secrets")])
def test_the_advice_for_what_became_immutable_works_as_printed(
    scene: Scene, by: str, flags: Sequence[str], code: int, kind: str
) -> None:
    """With a bad version, or meanwhile: no apply and no undo until the object is gone."""
    of_kind = {"configmaps": settings, "secrets": secret}[kind]
    name = of_kind()["metadata"]["name"]
    good = scene.manifest(web(), of_kind("b25l"))
    assert_verified(scene.gate("apply", "-f", good, "--output", "json"))
    bad = of_kind("dHdv") if by == "others" else immutable(of_kind("dHdv"))
    with scene.applying(web(2, behaviour="crash=1"), bad, flags=flags) as running:
        if by == "others":
            running.wait_for_line(UNDER_WAY)
            scene.objects.patch(kind, name, {"immutable": True})
        result = running.wait()
    assert result.exit_code == code, str(result)
    assert scene.gate("apply", "-f", good).exit_code == 3
    shown = report(scene, result)
    assert "rollout-gate undo" not in shown
    lines = [shlex.split(line) for line in shown.splitlines() if line.startswith(" " * 14)]
    (delete,) = [words for words in lines if words[:2] == ["kubectl", "delete"]]
    (apply,) = [words for words in lines if words[:2] == ["rollout-gate", "apply"]]
    assert delete[2:5] == [f"{kind.removesuffix('s')}/{name}", "-n", scene.objects.namespace]
    scene.objects.delete(kind, name)
    again = scene.gate(*[good if word == "PATH" else word for word in apply[1:]])
    assert again.exit_code == 0, str(again)
    assert_runs(scene.objects, "shop/web:1")
    assert "immutable" not in scene.objects.get(kind, name)


@pytest.mark.contract("B140", "B133")
@pytest.mark.parametrize("theirs", ["changed", "added", longer("removed")])
def test_a_foreign_key_leaves_the_others_to_return(scene: Scene, theirs: str) -> None:
    """One key of a ConfigMap has become somebody else's; all others are as before."""
    before = {"mode": "one", "level": "1", "gone": "x"}
    scene.serve(web(), manifests.config_map("settings", before))
    bad = manifests.config_map("settings", {"mode": "two", "level": "2", "new": "added"})
    deployment = web(2, behaviour="never-ready", progress_deadline_seconds=6)
    with scene.applying(deployment, bad) as running:
        scene.objects.wait_for("deployments", "web", lambda live: images(live) == ["shop/web:2"])
        changes: dict[str, JSON] = {
            "changed": {"level": "9"},
            "added": {"more": "9"},
            "removed": {"level": None},
        }
        scene.objects.patch("configmaps", "settings", {"data": changes[theirs]})
        result = running.wait()
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded", running="baseline")
    expected: JSON = {**before, **changes[theirs]}
    data = {key: value for key, value in expected.items() if value is not None}
    assert scene.objects.get("configmaps", "settings")["data"] == data
    assert warned(result, "data.more" if theirs == "added" else "data.level")
    actions = {each["kind"]: each["action"] for each in result.document["objects"]}
    assert actions == {"ConfigMap": "restored", "Deployment": "restored"}


@pytest.mark.contract("B140")
def test_a_field_that_others_added_to_a_workload_is_named(scene: Scene) -> None:
    """No manifest of ours has it: it stays, and whoever reads the report knows of it."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="crash=5")) as running:
        running.wait_for_line(UNDER_WAY)
        theirs = {"metadata": {"labels": {"team": "a"}}, "spec": {"revisionHistoryLimit": 7}}
        scene.objects.patch("deployments", "web", theirs)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert scene.objects.get("deployments", "web")["spec"]["revisionHistoryLimit"] == 7
    assert warned(result, "metadata.labels.team", "spec.revisionHistoryLimit")


@pytest.mark.contract("B711", "B146", "B147")
def test_an_undo_that_could_not_be_taken_back_is_refused(scene: Scene) -> None:
    """v1's ConfigMap was immutable, v2's is not: no failure of the undo could make it so again."""
    assert_verified(scene.apply(immutable(settings("one")), web()))
    scene.objects.delete("configmaps", "settings")
    assert_verified(scene.apply(settings("two"), web(2)))
    undo = ("undo", "web", "--output", "json")
    result = scene.gate(*undo)
    assert_refused(result, "Irreversible", "configmap/settings", "immutable")
    assert "--allow-irreversible; or return the pod template alone: --deployment-only" in (
        result.stderr
    )
    assert "a failure of this undo returns to revision 2 (shop/web:2)" not in result.stderr
    assert_runs(scene.objects, "shop/web:2")
    result = scene.gate(*undo, "--allow-irreversible")
    assert_verified(result)
    assert "a failure of this undo returns to revision 2 (shop/web:2)" in result.stderr
    assert scene.objects.get("configmaps", "settings")["immutable"] is True


def serve_without_one(scene: Scene) -> None:
    """Serve three of four pods: a quota has no room for the other one."""
    scene.serve(web(replicas=4))
    enforce(scene.objects, quota({"pods": "3"}))
    scene.objects.delete("pods", scene.objects.list_all("pods", "app=web")[0]["metadata"]["name"])
    three = {"availableReplicas": 3, "replicas": 3}
    scene.objects.wait_for("deployments", "web", lambda one: three.items() <= one["status"].items())


@pytest.mark.contract("B1584", "B1565")
@pytest.mark.parametrize("enough", [(), longer(("--require", "3"))])
def test_a_pod_that_was_missing_before_is_missing_on_the_way_back_too(
    scene: Scene, enough: tuple[str, ...]
) -> None:
    """It is no success without it, and no harm of this run: the reason says how many there were."""
    serve_without_one(scene)
    flags = ("--progress-deadline", "5s", "--rollback-timeout", "8s", *enough)
    result = scene.apply(web(2, replicas=4), flags=flags)
    ended = assert_ended(
        result, 5, "rollback-failed", "ProgressDeadlineExceeded", running="baseline"
    )
    assert ended["message"].endswith(
        "3 of 4 old pods available; before this run 3 of 4 were, so that no fewer serve than then"
    ), str(result)


@pytest.mark.contract("B1584")
@pytest.mark.sandbox_only("what is said of what a dead gate left is the same on any cluster")
def test_a_recovery_does_not_say_how_many_pods_there_were(scene: Scene) -> None:
    """What it finds is what the dead gate had left, and not what was before that."""
    serve_without_one(scene)
    flags = ("--progress-deadline", "5s")
    with scene.applying(web(2, replicas=4), flags=flags) as running:
        running.wait_for_line("restored +deployment/web", 120.0)
        running.kill()
    three = {"availableReplicas": 3, "updatedReplicas": 3}
    scene.objects.wait_for("deployments", "web", lambda one: three.items() <= one["status"].items())
    result = scene.gate("recover", "web", "--rollback-timeout", "8s", *DOCUMENT)
    ended = assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded")
    assert "3 of 4" in ended["message"], str(result)
    assert "before this run" not in ended["message"], str(result)

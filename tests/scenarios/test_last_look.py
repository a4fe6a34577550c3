"""What others make of the objects of an attempt and their owners, and what its end says of it."""

from __future__ import annotations

import signal

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    warned,
)
from tests.bed.interrupting import UNDER_WAY
from tests.bed.owners import disown, whole
from tests.bed.policies import Policies
from tests.bed.scene import MERGE_PATCH, Scene, service, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.long import longer
from tests.played.gate import PlayedGate
from tests.scenarios.killing import kill_apply, recover
from tests.scenarios.test_object_wait import ADDRESS, balancer

HOLD = "example.com/hold"
SLOW = "ready=3"


def found(result: Result, kind: str = "ConfigMap") -> tuple[str, JSON]:
    """Return what was done to the object of a kind, and how it stood at the end."""
    (item,) = (each for each in result.document["objects"] if each["kind"] == kind)
    return item["action"], item["at_end"]


def wait_for_mode(objects: Objects, value: str) -> None:
    """Wait until the ConfigMap has a value."""
    objects.wait_for("configmaps", "settings", lambda live: live["data"] == {"mode": value})


def edit_as(scene: Scene, manager: str, resource: str, name: str, patch: JSON) -> None:
    """Merge a patch under a field manager's name."""
    path = f"{scene.objects.path(resource, name)}?fieldManager={manager}"
    scene.client.json("PATCH", path, patch, MERGE_PATCH)


@pytest.mark.contract("B49", "B51", "B175")
@pytest.mark.parametrize(
    ("how", "action", "state", "said"),
    [
        ("deleted", "gone", "deleted", "somebody else deleted it"),
        longer("changed", "changed", "changed", "kubectl-edit changed data.mode"),
        longer("recreated", "changed", "recreated", "created it again"),
    ],
)
def test_a_good_version_whose_configuration_goes_away(
    scene: Scene, how: str, action: str, state: str, said: str
) -> None:
    """The Deployment runs what was applied: 0, and the verdict names the ConfigMap."""
    scene.serve(web(), settings("one"))
    with scene.applying(settings("two"), web(2, behaviour=SLOW)) as running:
        wait_for_mode(scene.objects, "two")
        if how == "changed":
            edit_as(scene, "kubectl-edit", "configmaps", "settings", {"data": {"mode": "three"}})
        else:
            scene.objects.delete("configmaps", "settings")
        if how == "recreated":
            scene.objects.create("configmaps", settings("three"))
        result = running.wait()
    assert_verified(result)
    did, at_end = found(result)
    assert (did, at_end["state"]) == (action, state)
    assert said in result.document["warnings"][0]
    assert said in result.stderr


@pytest.mark.contract("B143", "B175")
def test_somebody_changes_what_was_restored(scene: Scene) -> None:
    """The Service that they made of it stands, and is named with who did it: 4."""
    strategy = {"type": "Recreate"}
    scene.serve(web(strategy=strategy, behaviour=SLOW), service(80))
    bad = web(2, strategy=strategy, behaviour="crash=0.1")
    with scene.applying(service(8080), bad) as running:
        scene.objects.wait_for("services", "web", lambda live: _port(live) == 8080)
        scene.objects.wait_for("services", "web", lambda live: _port(live) == 80)
        ports = {"spec": {"ports": [{"port": 9090, "targetPort": 8080}]}}
        edit_as(scene, "mesh", "services", "web", ports)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    action, at_end = found(result, "Service")
    assert (action, at_end["state"]) == ("restored", "changed")
    assert warned(result, "service/web is not as this run restored it: mesh changed spec.ports")
    assert _port(scene.objects.get("services", "web")) == 9090


def _port(live: JSON) -> int:
    return int(live["spec"]["ports"][0]["port"])


@pytest.mark.newest_only("it serves no MutatingAdmissionPolicy of version v1")
@pytest.mark.contract("B143")
def test_a_mutating_hand_keeps_a_restoration_from_taking_effect(
    scene: Scene, policies: Policies
) -> None:
    """What was sent never stood: 5, with the field and the likely reason."""
    scene.serve(web(), settings("one"))
    bad = web(2, behaviour="never-ready", progress_deadline_seconds=6)
    with scene.applying(settings("two"), bad) as running:
        wait_for_mode(scene.objects, "two")
        with policies.pinning("mode", "pinned"):
            result = running.wait()
    ended = assert_ended(result, 5, "rollback-failed", "ProgressDeadlineExceeded")
    assert "NotRestored" in {cause["reason"] for cause in ended["causes"]}
    assert ended["outcome"] == "rolled-back"
    assert found(result)[1]["state"] == "not-as-sent"
    assert warned(result, "configmap/settings was not restored", "data.mode")
    assert result.document["rollback"]["verified"] is False


@pytest.mark.contract("B145", "B27")
@pytest.mark.parametrize("how", ["changed", longer("deleted")])
def test_what_this_run_wrote_is_left_under_somebody_elses_deployment(
    scene: Scene, how: str
) -> None:
    """Exit 8 names the ConfigMap that nobody took back, and what to do."""
    scene.serve(web(), settings("one"))
    with scene.applying(settings("two"), web(2, behaviour="never-ready")) as running:
        scene.objects.wait("replicasets", lambda found: len(found) == 2)
        if how == "changed":
            scene.change(web(3))
        else:
            scene.objects.delete("deployments", "web")
        result = running.wait()
    assert (result.exit_code, result.document["outcome"]) == (8, "superseded"), str(result)
    assert found(result)[1]["state"] == "as-written"
    assert warned(result, "configmap/settings still has what this run wrote", "deployment/web")
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "two"}


@pytest.mark.contract("B1860", "B49")
def test_what_was_not_read_again_after_a_signal_is_said_to_be_unknown(scene: Scene) -> None:
    """A Service that they deleted was created by this run: what became of it nobody has seen."""
    with scene.applying(service(80), web(behaviour="ready=60")) as running:
        running.wait_for_line("following replicaset/web")
        scene.objects.delete("services", "web")
        running.send(signal.SIGTERM)
        result = running.wait()
    assert_ended(result, 143, "interrupted", "Interrupted")
    action, at_end = found(result, "Service")
    assert (action, at_end["state"]) == ("created", "unread")
    unknown = "service/web was not read again after the last write of this run"
    assert warned(result, unknown, "changed or deleted it since is not known")
    assert not warned(result, "deployment/web was not read again")


@pytest.mark.contract("B1860")
def test_what_was_seen_to_be_gone_before_a_signal_is_gone(scene: Scene) -> None:
    """All that is waited for is read in rounds: when the second is ready, the first was seen."""
    scene.serve(web())
    others = [
        {**balancer(), "metadata": {"name": name}} for name in ("one-round", "another", "last")
    ]
    with scene.applying(balancer(), *others, web(2)) as running:
        running.wait_for_line("awaiting +waiting for ")
        scene.objects.delete("services", "web")
        for name in ("one-round", "another"):
            scene.objects.patch("services", name, ADDRESS, subresource="status")
            running.wait_for_line(f"ready +service/{name} is ready")
        running.send(signal.SIGTERM)
        result = running.wait()
    assert_ended(result, 143, "interrupted", "Interrupted")
    told = {item["name"]: item for item in result.document["objects"] if item["kind"] == "Service"}
    assert (told["web"]["action"], told["last"]["action"]) == ("gone", "created"), str(result)
    (unknown,) = [one for one in result.document["warnings"] if "not read again" in one]
    assert "service/last" in unknown
    assert "service/web" not in unknown


SLOW_CRASH = "crash=5"
BOTH = (("configmaps", "settings"), ("deployments", "web"))
LABELS = {"metadata": {"labels": {"theirs": "1"}}}


def failing() -> tuple[JSON, JSON]:
    """Return a configuration and a crashing Deployment with fields that only they have."""
    bad = web(2, behaviour=SLOW_CRASH)
    bad["metadata"]["labels"] = {"bad": "1"}
    bad["spec"]["minReadySeconds"] = 2
    return {**settings("one"), "data": {"mode": "two", "more": "2"}}, bad


@pytest.mark.contract("B149", "B52", "B75")
def test_a_scale_beside_removed_owners_stays_and_the_rest_returns(scene: Scene) -> None:
    """The version and its configuration are those of before, with the pods that were asked for."""
    assert_verified(scene.apply(settings("one"), web()))
    found = [whole(scene.objects, *each) for each in BOTH]
    with scene.applying(*failing()) as running:
        running.wait_for_line(UNDER_WAY)
        disown(scene.objects, "deployments", "web")
        scene.change_as("kubectl", {"spec": {"replicas": 3}}, "scale")
        scene.change_as("kubectl", LABELS)
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    live = assert_runs(scene.objects, "shop/web:1", replicas=3)
    assert live["spec"]["template"] == found[1]["spec"]["template"], str(result)
    assert live["metadata"]["labels"] == {"theirs": "1"}, str(result)
    assert "minReadySeconds" not in live["spec"], str(result)
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "one"}


@pytest.mark.sandbox_only("minutes of waiting")
@pytest.mark.contract("B149", "B531")
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("both", [False, True])
def test_recover_brings_back_a_deployment_whose_owners_were_removed(
    scene: Scene, program: PlayedGate, both: bool, scaled: bool
) -> None:
    """What only the killed version had goes, and one version's pods have its configuration."""
    assert_verified(scene.apply(settings("one"), web()))
    found = [whole(scene.objects, *each) for each in BOTH]
    kill_apply(scene, program, *failing())
    for resource, name in BOTH if both else BOTH[1:]:
        disown(scene.objects, resource, name)
    if scaled:
        scene.change_as("kubectl", {"spec": {"replicas": 3}}, "scale")
    assert_ended(recover(scene, "web"), 4, "rolled-back", "Interrupted", running="baseline")
    assert_runs(scene.objects, "shop/web:1", replicas=3 if scaled else 2)
    if not scaled:
        assert [whole(scene.objects, *each) for each in BOTH] == found


@pytest.mark.contract("B149", "B140")
def test_a_value_beside_removed_owners_stays_and_is_named_of_its_object(scene: Scene) -> None:
    """The configuration's key is theirs; the Deployment beside it left nothing to anybody."""
    assert_verified(scene.apply(settings("one"), web()))
    with scene.applying(*failing()) as running:
        running.wait_for_line(UNDER_WAY)
        disown(scene.objects, "configmaps", "settings")
        scene.objects.patch("configmaps", "settings", {"data": {"mode": "theirs"}})
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    assert scene.objects.get("configmaps", "settings")["data"] == {"mode": "theirs"}
    left = [line for line in result.stderr.splitlines() if " dropped " in line]
    assert left, str(result)
    assert all("configmap/settings: left as " in line for line in left), str(result)


@pytest.mark.contract("B149")
def test_an_apply_of_somebody_else_after_the_owners_went_is_no_obstacle(scene: Scene) -> None:
    """The server has made `before-first-apply` the owner of the rest by then."""
    assert_verified(scene.apply(settings("one"), web()))
    label = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", **LABELS["metadata"]},
    }
    with scene.applying(*failing()) as running:
        running.wait_for_line(UNDER_WAY)
        disown(scene.objects, "deployments", "web")
        scene.apply_as("labeller", {**label, "spec": {}})
        result = running.wait()
    assert_rolled_back(result, "CrashLoop")
    live = assert_runs(scene.objects, "shop/web:1")
    assert live["metadata"]["labels"] == {"theirs": "1"}, str(result)
    assert "minReadySeconds" not in live["spec"], str(result)

"""Somebody else changes things in mid-flight: the gate goes on, steps back, or ends as it must."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_refused,
    assert_rolled_back,
    assert_runs,
    assert_verified,
    changes,
    images,
    warned,
)
from tests.bed.history import version_of
from tests.bed.jobs import entry, job
from tests.bed.pods import running_pods
from tests.bed.scene import Scene, service, settings, template_annotation, web
from tests.cluster.audit import Trail
from tests.cluster.kubelet.api import JSON, STRATEGIC_PATCH
from tests.cluster.objects import Objects
from tests.long import longer
from tests.scenarios.killing import die_at, recover
from tests.scenarios.versions import one_line, report
from tests.scenarios.walked import DEPLOYMENT, STATEFUL_SET, Walked

MADE_AGAIN = pytest.mark.sandbox_only("on a real control plane the gate may end between the two")


with_replicas = pytest.mark.parametrize(
    "kind", [DEPLOYMENT, STATEFUL_SET], ids=lambda kind: kind.name
)


def seen(objects: Objects, image: str = "shop/web:2") -> JSON:
    """Wait for a pod with this image, and so for the apply to be under way; return the pod."""

    def is_meant(pod: JSON) -> bool:
        return bool(pod["spec"]["containers"][0]["image"] == image)

    pods = objects.wait("pods", lambda pods: any(map(is_meant, pods)))
    return next(filter(is_meant, pods))


@pytest.mark.fault(33)
@pytest.mark.contract("B27", "B59", "B124")
@with_replicas
def test_an_edit_of_the_template_supersedes(scene: Scene, audit: Trail, kind: Walked) -> None:
    """Somebody else's image is live: the gate ends with 8 and writes nothing over it."""
    scene.serve(kind.version(1))
    with scene.applying(kind.version(2, "crash=3")) as running:
        seen(scene.objects, kind.image(2))
        scene.apply_as("team", kind.version(3))
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded", running="other")
    assert images(scene.objects.get(kind.resource, kind.name)) == [kind.image(3)]
    assert changes(audit) == [f"patch {kind.resource}/{kind.name}"]


IN_THE_POD = {"env": [{"name": "THEIRS", "value": "1"}], "name": "web"}
VALUES = {
    "template": {"template": {"spec": {"containers": [IN_THE_POD]}}},
    "beside": {"revisionHistoryLimit": 3},
}


@pytest.mark.contract("B896", "B1919")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("pruning", [(), ("--prune-created",)])
def test_a_first_deployment_with_a_value_of_others_is_not_deleted(
    scene: Scene, pruning: tuple[str, ...], value: str, *, is_dead: bool
) -> None:
    """What --on-first-failure delete would take along is left, with its configuration: 8."""
    flags = ["--on-first-failure", "delete", *pruning]
    with scene.applying(settings(), web(behaviour="crash=1"), flags=flags) as running:
        running.wait_for_line("1 restart")  # a second at least after its creation
        if is_dead:
            running.kill()
        path = f"{scene.objects.path('deployments', 'web')}?fieldManager=kubectl-patch"
        scene.client.json("PATCH", path, {"spec": VALUES[value]}, STRATEGIC_PATCH)
        scene.objects.patch("configmaps", "settings", {"data": {"theirs": "1"}})
        result = recover(scene, "web") if is_dead else running.wait()
    assert_ended(result, 8, "superseded", "Superseded")
    spec = scene.objects.get("deployments", "web")["spec"]
    [container] = spec["template"]["spec"]["containers"]
    theirs = {"name": "THEIRS", "value": "1"} in container["env"]
    assert {"template": theirs, "beside": spec["revisionHistoryLimit"] == 3}[value]
    assert scene.objects.find("configmaps", "settings") is not None
    shown = report(scene, result)
    assert "somebody else changed it before the rollback was written" in shown
    assert "changed" not in {one["action"] for one in result.document["objects"]}


@pytest.mark.contract("B896", "B1919")
@pytest.mark.parametrize("is_dead", [False, True], ids=["run", "recover"])
def test_a_first_deployment_that_others_restarted_or_scaled_is_deleted(
    scene: Scene, *, is_dead: bool
) -> None:
    """Neither makes it theirs: nothing is lost with it."""
    flags = ["--on-first-failure", "delete"]
    with scene.applying(web(behaviour="crash=1"), flags=flags) as running:
        running.wait_for_line("1 restart")  # a second at least after its creation
        if is_dead:
            running.kill()
        scene.change_as("kubectl-rollout", template_annotation("restartedAt", "now"))
        scene.change_as("kubectl", {"spec": {"replicas": 3}}, "scale")
        result = recover(scene, "web") if is_dead else running.wait()
    assert_ended(result, 6, "failed", "CrashLoop", cause="CrashLoop")
    assert scene.objects.find("deployments", "web") is None


@pytest.mark.contract("B911")
def test_the_apply_that_is_advised_after_a_superseded_one_is_not_refused(scene: Scene) -> None:
    """Without the flags it would be: whoever changed the image owns it now."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="never-ready")) as running:
        seen(scene.objects)
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)
        result = running.wait()
    assert_ended(result, 8, "superseded", "Superseded", running="other")
    shown = report(scene, result)
    advised = shown.partition("with this run's other flags added:")[2].splitlines()[1].split()
    assert advised[:3] == ["rollout-gate", "apply", "-f"], shown
    assert advised[-2:] == ["--take-over", "kubectl-set"], shown
    assert_refused(scene.apply(web(4)), "Conflict", "kubectl-set")
    assert_verified(scene.apply(web(4), flags=advised[-2:]))


@pytest.mark.contract("B127")
@pytest.mark.parametrize("comes_back", [False, pytest.param(True, marks=MADE_AGAIN)])
@with_replicas
def test_a_workload_that_is_deleted_stays_deleted(
    scene: Scene, audit: Trail, kind: Walked, comes_back: bool
) -> None:
    """Deleted, or deleted and made again: the gate ends with 8 and does not create it."""
    body = kind.version(2, "never-ready")
    scene.serve(kind.version(1))
    with scene.applying(body) as running:
        seen(scene.objects, kind.image(2))
        scene.objects.delete(kind.resource, kind.name)
        if comes_back:
            scene.objects.create(kind.resource, body)
        result = running.wait()
    assert_ended(result, 8, "superseded", "Deleted")
    is_found = result.document["objects"][0]["at_end"]["state"] == "recreated"
    assert is_found is comes_back
    made_again = " and created again" if comes_back else ""
    assert result.document["message"] == f"the {body['kind']} was deleted{made_again}"
    shown = report(scene, result)
    assert ("it was deleted" in shown) is not comes_back
    assert ("was deleted and made again by somebody else" in shown) is comes_back
    assert (scene.objects.find(kind.resource, kind.name) is not None) is comes_back
    assert changes(audit) == [f"patch {kind.resource}/{kind.name}"]


@pytest.mark.contract("B770")
def test_a_deployment_that_waits_for_a_finalizer_is_not_gone(scene: Scene) -> None:
    """Its pods run on: the report says so, and that an apply is refused until it is gone."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="never-ready")) as running:
        seen(scene.objects)
        hold = {"metadata": {"finalizers": ["rollout-gate.test/hold"]}}
        scene.objects.patch("deployments", "web", hold)
        scene.objects.delete("deployments", "web")
        result = running.wait()
    assert_ended(result, 8, "superseded", "Deleted")
    shown = one_line(report(scene, result))
    scene.objects.patch("deployments", "web", {"metadata": {"finalizers": None}})
    deletion = result.document["deployments"][0]["deletion"]
    assert (deletion["done"], deletion["finalizers"]) == (False, ["rollout-gate.test/hold"])
    assert deletion["pods"] >= 2
    assert "somebody else is deleting deployment/web" in shown
    assert "still there; it is being deleted and waits for rollout-gate.test/hold" in shown
    assert "kubectl wait --for=delete deployment/web" in shown
    assert "runs nothing" not in shown


@pytest.mark.contract("B770")
def test_pods_that_a_deletion_left_are_not_called_nothing(scene: Scene) -> None:
    """`--cascade=orphan` takes the Deployment alone: what runs is not known, and said so."""
    scene.serve(web())
    with scene.applying(web(2, behaviour="never-ready")) as running:
        seen(scene.objects)
        scene.objects.delete("deployments", "web", propagation="Orphan")
        result = running.wait()
    assert_ended(result, 8, "superseded", "Deleted")
    shown = one_line(report(scene, result))
    assert result.document["deployments"][0]["deletion"]["pods"] >= 2
    assert result.document["deployments"][0]["running"] != "none"
    assert "of its pods were still there" in shown
    assert "runs nothing" not in shown


@pytest.mark.contract("B1544")
def test_a_recovery_does_not_say_what_runs_of_what_it_found_gone(scene: Scene) -> None:
    """Its pods all run on: nobody told the gate whose they were."""
    assert_verified(scene.apply(web(), web(name="api", behaviour="ready=3")))
    die_at(scene, "failed", web(2, behaviour="crash=0.1"), web(2, name="api"))
    scene.objects.delete("deployments", "api", propagation="Orphan")
    scene.objects.wait("deployments", lambda found: len(found) == 1)
    result = scene.gate("recover", "web", "--output", "json")
    assert result.exit_code == 8, str(result)
    running_pods(scene, "shop/api:2", 2)
    shown = one_line(report(scene, result))
    assert "it was deleted, and its pods were not seen" in shown
    assert "no pod of it was left" not in shown
    assert "runs nothing" not in shown


@pytest.mark.contract("B771", "B788")
@pytest.mark.parametrize("is_held", [True, longer(False)])
def test_a_namespace_that_goes_in_mid_flight_is_named(
    scene: Scene, namespace: str, is_held: bool
) -> None:
    """Everything in it goes: an apply into it is nothing to advise."""
    scene.serve(web(), settings("one"))
    with scene.applying(settings("two"), web(2, behaviour="never-ready")) as running:
        seen(scene.objects)
        holder = {"name": "holder", "finalizers": ["rollout-gate.test/hold"]}
        if is_held:
            scene.objects.create("configmaps", {"metadata": holder})
        scene.objects.delete("namespaces", namespace)
        result = running.wait()
    if is_held:
        scene.objects.patch("configmaps", "holder", {"metadata": {"finalizers": None}})
    assert_ended(result, 8, "superseded", "Deleted")
    shown = one_line(report(scene, result))
    assert f"somebody deleted namespace {namespace}, and everything in it goes with it" in shown
    assert "apply again" not in shown
    assert not warned(result, "not given back")
    assert not warned(result, "not remembered")
    assert "apply again" not in shown


@pytest.mark.contract("B1277", "B771")
@pytest.mark.sandbox_only("on a real control plane the gate may have ended before the deletion")
def test_a_job_that_went_with_its_namespace_is_said_to_have_run(
    scene: Scene, namespace: str
) -> None:
    """Its failure made the run go back, which met the deletion: what it did stays."""
    scene.serve(settings("one"), web())
    with scene.applying(settings("two"), job(behaviour="crash=1;code=3"), web(2)) as running:
        running.wait_for_line("rollback ")
        scene.objects.delete("namespaces", namespace)
        scene.objects.delete("jobs", "migrate")
        scene.objects.delete("deployments", "web")
        result = running.wait()
    assert result.exit_code == 8, str(result)
    assert entry(result, "migrate")["lasting_effect"] == "what the Job did"
    shown = one_line(report(scene, result))
    assert "JobFailed ran shop/migrate:1" in shown
    assert f"somebody deleted namespace {namespace}, and everything in it goes with it" in shown
    for untrue in ("has not run", "runs as soon as it can", "apply again", "kubectl logs"):
        assert untrue not in shown


@pytest.mark.fault(33)
@pytest.mark.contract("B110")
def test_a_pause_in_mid_flight_is_respected(scene: Scene) -> None:
    """Paused by somebody, the deadline does not run; the total ends it with Paused and no write."""
    scene.serve(web())
    with scene.applying(
        web(2, behaviour="never-ready", progress_deadline_seconds=3), flags=["--timeout", "10"]
    ) as running:
        seen(scene.objects)
        scene.kubectl("rollout", "pause", "deployment/web", check=True)
        paused = version_of(scene.objects.get("deployments", "web"))
        result = running.wait()
    assert_ended(result, 6, "failed", "Paused")
    live = scene.objects.get("deployments", "web")
    assert version_of(live) >= paused
    assert (images(live), live["spec"]["paused"]) == (["shop/web:2"], True)


@pytest.mark.contract("B7")
def test_a_paused_deployment_is_refused(scene: Scene) -> None:
    """Somebody paused it for a reason: nothing is written."""
    scene.serve(web())
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    assert_refused(scene.apply(web(2)), "Paused", "web", "paused")
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:1"]


@pytest.mark.contract("B8", "B120")
@pytest.mark.parametrize("paused_by", ["kubectl", longer("gate")])
def test_a_resumed_deployment_goes_back_unpaused(scene: Scene, paused_by: str) -> None:
    """A pause that came back with the template would keep the old pods away for good."""
    by_recreation = {"strategy": {"type": "Recreate"}}
    scene.serve(web(**by_recreation))
    if paused_by == "gate":
        assert scene.gate("pause", "web").exit_code == 0
    else:
        scene.kubectl("rollout", "pause", "deployment/web", check=True)
    bad = web(2, behaviour="crash=0.1", **by_recreation)
    result = scene.apply(bad, flags=["--resume", "--rollback-timeout", "60"])
    assert_rolled_back(result, "CrashLoop")
    assert warned(result, "deployment/web was paused before", "is not paused again")
    live = assert_runs(scene.objects, "shop/web:1", revision=3)
    assert not live["spec"].get("paused")


@pytest.mark.fault(38)
@pytest.mark.contract("B9")
def test_a_namespace_that_goes_away_is_refused(scene: Scene, namespace: str) -> None:
    """A namespace that is being deleted takes nothing new."""
    holder = {"name": "holder", "finalizers": ["rollout-gate.test/hold"]}
    scene.objects.create("configmaps", {"metadata": holder})
    scene.objects.delete("namespaces", namespace)
    result = scene.apply(web())
    scene.objects.patch("configmaps", "holder", {"metadata": {"finalizers": None}})
    assert_refused(result, "Rejected", namespace, "deleted")


@pytest.mark.contract("B9")
@pytest.mark.parametrize(
    ("resource", "name", "commands"),
    [
        ("configmaps", "settings", ["undo"]),
        ("services", "web", ["undo"]),
        ("deployments", "web", ["undo", "restart", "resume", "pause"]),
    ],
)
def test_an_object_that_goes_away_is_refused(
    scene: Scene, resource: str, name: str, commands: list[str]
) -> None:
    """It waits for a finalizer: what is written to it goes with it, so nothing is."""
    assert_verified(scene.apply(settings("one"), service(8080), web()))
    assert_verified(scene.apply(settings("two"), service(), web(2)))
    scene.objects.patch(resource, name, {"metadata": {"finalizers": ["rollout-gate.test/hold"]}})
    scene.objects.delete(resource, name)
    before = scene.objects.get(resource, name)
    results = [scene.apply(settings("three"), service(9090), web(3))]
    results += [scene.gate(command, "web") for command in commands]
    after, serving = scene.objects.get(resource, name), scene.objects.get("deployments", "web")
    scene.objects.patch(resource, name, {"metadata": {"finalizers": None}})
    for result in results:
        assert_refused(
            result, "Deleted", f"{name} is being deleted; it waits for rollout-gate.test/hold"
        )
        assert "kubectl wait --for=delete" in result.stderr
    assert [after.get(part) for part in ("spec", "data")] == [
        before.get(part) for part in ("spec", "data")
    ]
    assert images(serving) == ["shop/web:2"]


@pytest.mark.fault(43)
@pytest.mark.contract("B139")
def test_a_bad_version_that_comes_back_is_left(scene: Scene) -> None:
    """Where somebody applies the failed version again over the rollback, the gate stops with 5."""
    strategy = {"type": "Recreate"}
    scene.serve(web(strategy=strategy, behaviour="ready=4"))
    bad = web(2, strategy=strategy, behaviour="crash=0.1")
    with scene.applying(bad) as running:
        seen(scene.objects)
        scene.objects.wait_for("deployments", "web", lambda live: images(live) == ["shop/web:1"])
        patch = {"spec": {"template": bad["spec"]["template"]}}
        scene.change_as("argocd-controller", patch)
        result = running.wait()
    ended = assert_ended(result, 5, "rollback-failed", "GitOpsReverted", cause="CrashLoop")
    assert "argocd-controller" in result.document["message"], ended
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]

"""From the first write to the verdict, as `apply` puts the pieces together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gate.core.ssa.last_applied import LAST_APPLIED
from tests.unit.app.bodies import autoscaler, marked, service, settings, web
from tests.unit.app.conftest import Ended, Gate, Manifest
from tests.unit.app.server import JSON, ApiServer
from tests.unit.app.server_side import entry, managed_by
from tests.unit.kube.scripted import Seen, as_status

DEPLOYMENT = "/apis/apps/v1/namespaces/shop/deployments/web"
APPLY = "application/apply-patch+yaml"


def assert_ended(ended: Ended, code: int, outcome: str, reason: str) -> JSON:
    """Return the document of a run that ended so."""
    document = ended.document
    assert (ended.code, document["outcome"], document["reason"]) == (code, outcome, reason), (
        ended.err
    )
    return document


def written(server: ApiServer) -> list[str]:
    """Return the names of the objects that were written, in order."""
    return [seen.path.rpartition("/")[2] for seen in server.writes()]


def images(server: ApiServer, name: str = "web") -> list[str]:
    """Return what runs."""
    containers = server.get("Deployment", name)["spec"]["template"]["spec"]["containers"]
    return [container["image"] for container in containers]


@pytest.mark.contract("B16", "B20", "B125")
def test_a_new_version_is_applied_and_verified(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """One apply under our own name, with the uid and version that it was decided on."""
    live = server.put(web())
    before = server.get("Deployment", "web")["metadata"]
    document = assert_ended(gate("apply", file=[manifest(web("2"))]), 0, "verified", "Complete")
    (apply,) = server.writes()
    assert apply.header("Content-Type") == APPLY
    assert (apply.query["fieldManager"], apply.query["force"]) == ("rollout-gate", "false")
    metadata = apply.json()["metadata"]
    assert (metadata["uid"], metadata["resourceVersion"]) == (
        live["metadata"]["uid"],
        before["resourceVersion"],
    )
    (deployment,) = document["deployments"]
    assert (deployment["baseline"]["revision"], deployment["new"]["revision"]) == (1, 2)


@pytest.mark.contract("B2", "B5")
def test_everything_is_asked_before_the_first_write(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Cluster, namespace, objects, rights, both dry runs and baseline precede the first apply."""
    server.put(web())
    gate("apply", file=[manifest(web("2"), settings())])
    first = next(n for n, seen in enumerate(server.seen) if seen in server.writes())
    asked = [(seen.method, seen.path.rpartition("/")[2]) for seen in server.seen[:first]]
    in_order = [
        ("GET", "kube-system"),
        ("GET", "shop"),
        ("GET", "web"),
        ("GET", "horizontalpodautoscalers"),
        ("POST", "selfsubjectrulesreviews"),
        ("PATCH", "web"),
        ("PATCH", "web"),
    ]
    assert [one for one in asked if one in in_order] == in_order
    assert {("GET", "deployments"), ("GET", "replicasets"), ("GET", "pods")} <= set(asked)
    assert written(server) == ["settings", "web"]


@pytest.mark.contract("B24", "B120", "B172")
def test_a_bad_version_goes_back(gate: Gate, server: ApiServer, manifest: Manifest) -> None:
    """The baseline runs again, the evidence was read before, and the verdict stands last."""
    server.put(web())
    ended = gate("apply", file=[manifest(web("crash"))], output="text")
    assert ended.code == 4
    assert images(server) == ["shop/web:1"]
    assert "panic: DATABASE_URL is not set" in ended.out
    assert "ROLLED BACK" in ended.out
    assert "rolled" not in ended.err.lower()
    log = next(n for n, seen in enumerate(server.seen) if seen.path.endswith("/log"))
    back = [n for n, seen in enumerate(server.seen) if seen in server.writes()][-1]
    assert log < back


@pytest.mark.contract("B19", "B30", "B133")
def test_several_deployments_are_one_attempt(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """One fails: all go back, what they are configured with first."""
    for body in (web(), web(name="api"), settings()):
        server.put(body)
    path = manifest(web("2", name="api"), web("crash"), settings("two"))
    document = assert_ended(gate("apply", file=[path]), 4, "rolled-back", "CrashLoop")
    assert (images(server), images(server, "api")) == (["shop/web:1"], ["shop/web:1"])
    assert server.get("ConfigMap", "settings")["data"] == {"mode": "one"}
    assert {each["action"] for each in document["objects"]} == {"restored"}
    out, back = written(server)[:3], written(server)[3:]
    assert (out[0], back[0]) == ("settings", "settings")
    assert sorted(out[1:]) == sorted(back[1:]) == ["api", "web"]


@pytest.mark.contract("B57")
@pytest.mark.parametrize("objects", [(service(8080),), (settings("two"),)])
def test_a_manifest_without_a_deployment_is_applied(
    gate: Gate, server: ApiServer, manifest: Manifest, objects: tuple[JSON, ...]
) -> None:
    """A switch of a Service is done once it is written; nothing is watched."""
    server.put(service())
    server.put(settings())
    document = assert_ended(gate("apply", file=[manifest(*objects)]), 0, "applied", "Complete")
    assert document["deployments"] == []
    assert [each["action"] for each in document["objects"]] == ["changed"]
    assert not any("watch" in seen.query for seen in server.seen)


@pytest.mark.contract("B32", "B133")
def test_an_object_that_is_rejected_late_takes_the_others_back(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """What the dry run let through and the write did not: what was written goes back."""
    server.put(settings())

    def refuse_the_write(seen: Seen) -> None:
        if seen.path.endswith("/services/web") and seen.method == "PATCH":
            server.forget("PATCH", seen.path)
            if seen.query.get("dryRun") != "All":
                server.on("PATCH", seen.path, as_status(422, "port is taken", "Invalid"))

    server.on_request = refuse_the_write
    ended = gate("apply", file=[manifest(settings("two"), service())])
    document = assert_ended(ended, 4, "rolled-back", "ApplyRejected")
    assert "port is taken" in json.dumps(document)
    assert server.get("ConfigMap", "settings")["data"] == {"mode": "one"}


# -- taking over -----------------------------------------------------------------------------------


def by_kubectl(body: JSON) -> JSON:
    """Return an object as `kubectl apply` leaves it."""
    noted = marked(body, annotations={LAST_APPLIED: json.dumps(body)})
    return managed_by("kubectl-client-side-apply", noted, "Update")


@pytest.mark.contract("B61", "B62")
def test_what_kubectl_applied_is_taken_over(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Dry run, dry runs by force out and back, the patch of managed fields, then the apply."""
    server.put(by_kubectl(web()))
    generation = server.get("Deployment", "web")["metadata"]["generation"]
    assert_ended(gate("apply", file=[manifest(web("2"))]), 0, "verified", "Complete")
    assert [trial.query["force"] for trial in server.trials()] == ["false", "true", "true"]
    take_over, apply = server.writes()
    assert server.seen.index(server.trials()[-1]) < server.seen.index(take_over)
    operations = {one["path"]: one["value"] for one in take_over.json()}
    assert {"/metadata/managedFields", "/metadata/resourceVersion"} <= set(operations)
    (entry_now,) = operations["/metadata/managedFields"]
    assert (entry_now["manager"], entry_now["operation"]) == ("rollout-gate", "Apply")
    assert apply.query["force"] == "false"
    live = server.get("Deployment", "web")["metadata"]
    assert [one["manager"] for one in live["managedFields"]] == ["rollout-gate"]
    assert live["generation"] == generation + 1


@pytest.mark.contract("B62")
def test_what_the_server_rejects_is_not_taken_over(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """The patch of managed fields waits for a dry run that passes."""
    server.put(by_kubectl(web()))
    conflict = {"reason": "FieldManagerConflict", "field": ".spec.replicas"}
    conflict["message"] = 'conflict with "kubectl-client-side-apply" using apps/v1'
    server.on(
        "PATCH",
        DEPLOYMENT,
        as_status(409, "conflict", "Conflict", causes=[conflict]),
        as_status(422, "Deployment web is invalid", "Invalid"),
    )
    assert_ended(gate("apply", file=[manifest(web("2"))]), 3, "refused", "Rejected")
    assert server.writes() == []


@pytest.mark.contract("B60", "B61")
def test_a_field_that_the_manifest_leaves_out_goes_away(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """What was applied before is read from the live object, also where kubectl applied it."""
    env = {"env": [{"name": "MODE", "value": "x"}]}
    body = web()
    body["spec"]["template"]["spec"]["containers"][0].update(env)
    server.put(by_kubectl(body))
    assert_ended(gate("apply", file=[manifest(web("2"))]), 0, "verified", "Complete")
    (container,) = server.get("Deployment", "web")["spec"]["template"]["spec"]["containers"]
    assert "env" not in container


@pytest.mark.contract("B65")
def test_kubectls_annotation_is_kept_equal_to_the_manifest(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """A later `kubectl apply` computes its deletions from it; a rollback restores it."""
    server.put(by_kubectl(web()))
    assert_ended(gate("apply", file=[manifest(web("2"))]), 0, "verified", "Complete")
    noted = server.get("Deployment", "web")["metadata"]["annotations"][LAST_APPLIED]
    second = json.loads(noted)
    assert noted.endswith("\n")
    assert second.pop("metadata") == {"name": "web", "namespace": "shop", "annotations": {}}
    assert second["spec"] == web("2")["spec"]
    assert gate("apply", file=[manifest(web("crash"))]).code == 4
    assert server.get("Deployment", "web")["metadata"]["annotations"][LAST_APPLIED] == noted


@pytest.mark.contract("B65")
def test_an_object_without_the_annotation_gets_none(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """What kubectl never applied stays free of its notes."""
    server.put(web())
    gate("apply", file=[manifest(web("2"))])
    assert LAST_APPLIED not in server.get("Deployment", "web")["metadata"]["annotations"]


@pytest.mark.contract("B69")
def test_a_named_manager_is_taken_over(gate: Gate, server: ApiServer, manifest: Manifest) -> None:
    """--take-over moves its ownership, so that its field can be removed later."""
    server.put(web())
    server.change("Deployment", "web", {"spec": {"minReadySeconds": 9}}, manager="kubectl-edit")
    path = manifest(web("2"))
    assert gate("apply", file=[path], take_over=["kubectl-edit"]).code == 0
    live = server.get("Deployment", "web")
    assert live["spec"]["minReadySeconds"] == 1
    assert {one["manager"] for one in live["metadata"]["managedFields"]} == {"rollout-gate"}


@pytest.mark.contract("B70")
def test_force_writes_over_what_others_own(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """Who lost which field is in the report; a rollback gives the values back."""
    server.put(web())
    server.change("Deployment", "web", {"spec": {"minReadySeconds": 9}}, manager="kubectl-edit")
    ended = gate("apply", file=[manifest(web("crash"))], force_conflicts=True)
    document = assert_ended(ended, 4, "rolled-back", "CrashLoop")
    lost = "deployment/web: spec.minReadySeconds taken from kubectl-edit"
    assert lost in document["warnings"]
    assert server.get("Deployment", "web")["spec"]["minReadySeconds"] == 9


@pytest.mark.contract("B8")
def test_a_paused_deployment_is_resumed_on_request(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """With --resume the pause goes with the apply, whoever set it, and so does the manifest's."""
    server.put(web())
    server.change("Deployment", "web", {"spec": {"paused": True}})
    assert gate("apply", file=[manifest(web("2"))], resume=True).code == 0
    assert gate("pause", "web").code == 0
    assert gate("apply", file=[manifest(web("3"))], resume=True).code == 0
    assert gate("apply", file=[manifest(web("4", paused=True))], resume=True).code == 0
    assert images(server) == ["shop/web:4"]
    assert not server.get("Deployment", "web")["spec"].get("paused")


# -- autoscalers -----------------------------------------------------------------------------------


@pytest.mark.contract("B71")
def test_replicas_that_an_autoscaler_owns_are_left_out(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """The manifest's number is neither imposed nor a conflict, and the report says so."""
    server.put(web())
    server.put(autoscaler())
    more: dict[str, Any] = {"spec": {"replicas": 5}}
    manager = "kube-controller-manager"
    server.change("Deployment", "web", more, manager=manager, subresource="scale")
    document = assert_ended(gate("apply", file=[manifest(web("2"))]), 0, "verified", "Complete")
    assert server.get("Deployment", "web")["spec"]["replicas"] == 5
    assert any("its autoscaler's" in warning for warning in document["warnings"])
    assert all("replicas" not in seen.json()["spec"] for seen in server.writes())


@pytest.mark.contract("B71")
@pytest.mark.parametrize("kind", ["HorizontalPodAutoscaler", "another target"])
def test_replicas_that_we_alone_own_keep_their_live_value(
    gate: Gate, server: ApiServer, manifest: Manifest, kind: str
) -> None:
    """Leaving them out would reset them to 1; without an autoscaler the manifest counts."""
    server.put(web(replicas=3))
    server.put(autoscaler("web" if kind == "HorizontalPodAutoscaler" else "api"))
    assert gate("apply", file=[manifest(web("2", replicas=2))]).code == 0
    wanted = 3 if kind == "HorizontalPodAutoscaler" else 2
    assert server.get("Deployment", "web")["spec"]["replicas"] == wanted


def test_fields_that_nobody_owns_can_be_applied_over(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """An object without managed fields is the first apply's: `before-first-apply` owns them."""
    body = web()
    body["metadata"]["managedFields"] = []
    server.put(body)
    assert_ended(gate("apply", file=[manifest(web("2"))]), 0, "verified", "Complete")


def test_a_status_of_another_writer_survives(
    gate: Gate, server: ApiServer, manifest: Manifest
) -> None:
    """A take-over moves nothing that was written through a subresource."""
    body = by_kubectl(web())
    status = {**entry("kube-controller-manager", "Update", {"f:status": {}})}
    body["metadata"]["managedFields"].append({**status, "subresource": "status"})
    server.put(body)
    assert gate("apply", file=[manifest(web("2"))]).code == 0
    managers = [
        one["manager"] for one in server.get("Deployment", "web")["metadata"]["managedFields"]
    ]
    assert managers == ["rollout-gate", "kube-controller-manager"]

"""The commands about one workload, for every kind that they take."""

from __future__ import annotations

import pytest
import yaml

from gate.core.model.objects import SUBDOMAIN
from sandbox.face import JSON
from tests.cluster.workloads import daemon_set, job, stateful_set
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.server import Server

EVERY_NAME = ("web", "deploy/web", "sts/db", "daemonset/agent", "job/migrate")
RUNNER = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "system:Runner", "namespace": "shop"},
    "rules": [],
}


def assert_names_are_valid(text: str) -> None:
    """Each Role and binding of a printed text has a name that any object may have."""
    printed = list(yaml.safe_load_all(text[text.index("apiVersion: rbac") :]))
    assert printed
    for one in printed:
        assert SUBDOMAIN.fullmatch(one["metadata"]["name"]), one["metadata"]["name"]


def assert_forbidden(ended: Ended) -> None:
    """It is refused, with a Role that kubectl takes."""
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden"), ended.err
    assert_names_are_valid(ended.err)


@pytest.mark.contract("B1195")
@pytest.mark.parametrize("may_read", [False, True])
@pytest.mark.parametrize("command", ["undo", "restart", "pause", "resume", "verify"])
def test_the_role_of_a_refused_command_has_a_valid_name(
    gate: Gate, server: Server, command: str, may_read: bool
) -> None:
    """Whatever the kind, and however it was written; kubectl takes no slash in a name."""
    server.put(web(), stateful_set(), daemon_set(), job())
    every = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    server.limit(*([every] if may_read else []))
    of_jobs = command not in ("undo", "restart")
    for name in EVERY_NAME if of_jobs else EVERY_NAME[:-1]:
        if command != "verify":
            assert_forbidden(gate(command, name))
            continue
        assert_names_are_valid(gate("verify", (name,), rbac=True).out)
        if not may_read:
            assert_forbidden(gate("verify", (name,)))


@pytest.mark.contract("B1195")
@pytest.mark.parametrize(
    "body",
    [web(), stateful_set(), daemon_set(), job(), RUNNER, web(name=".".join(["a" * 62] * 4))],
    ids=["Deployment", "StatefulSet", "DaemonSet", "Job", "Role", "the longest name"],
)
def test_the_role_for_a_manifest_has_a_valid_name(
    gate: Gate, server: Server, body: dict[str, object]
) -> None:
    """Also where it is called after an object whose own name is wider, or as long as can be."""
    server.limit()
    path = gate.manifest(body)
    roles = ("Role",)
    assert_forbidden(gate("apply", file=[path], allow_kind=roles))
    assert_names_are_valid(gate("preflight", file=[path], allow_kind=roles, rbac=True).out)


@pytest.mark.contract("B1248")
def test_each_kind_has_a_role_of_its_own(gate: Gate, server: Server) -> None:
    """Under one name the second Role would take away what the first one gave."""
    server.limit()
    bodies = (web(name="db"), stateful_set(), daemon_set("db"))
    printed = [
        *(gate("verify", (name,), rbac=True) for name in ("db", "sts/db", "ds/db")),
        *(gate.preflight(body, rbac=True) for body in bodies),
    ]
    roles = [next(yaml.safe_load_all(each.out))["metadata"]["name"] for each in printed]
    assert roles[0] == "rollout-gate-verify"
    assert len(set(roles)) == len(roles), roles


@pytest.mark.contract("B1196")
@pytest.mark.parametrize(
    ("behaviour", "ended"), [("complete=1", "has completed"), ("crash=1;code=3", "has failed")]
)
def test_a_job_that_is_over_is_not_suspended(
    gate: Gate, server: Server, behaviour: str, ended: str
) -> None:
    """Nothing of it runs, and a suspended Job would only refuse the next apply."""
    server.put(job(behaviour=behaviour, backoffLimit=0))
    server.objects.wait_for("jobs", "migrate", lambda live: "conditions" in live["status"])
    refused = gate("pause", "job/migrate")
    assert (refused.code, refused.document["reason"]) == (3, "Rejected"), refused.err
    assert f"error: job/migrate {ended}: there is nothing to suspend\n" in refused.err
    assert "pods end" not in refused.err
    assert server.writes() == []
    assert not server.get("jobs", "migrate")["spec"].get("suspend")


LOOKING = tuple(
    {"apiGroups": [group], "resources": [*resources], "verbs": ["get", "list", "watch"]}
    for group, resources in (
        ("apps", ("daemonsets", "controllerrevisions")),
        ("", ("pods", "events")),
    )
)


def runs_everywhere(live: JSON) -> bool:
    """Tell whether the node runs a pod of the newest revision, ready or not."""
    status = live.get("status", {})
    is_observed = status.get("observedGeneration") == live["metadata"]["generation"]
    return bool(is_observed and status.get("updatedNumberScheduled") == 1)


@pytest.mark.contract("B1197")
@pytest.mark.parametrize("may_read", [True, False])
def test_status_says_that_nodes_may_not_be_read_only_where_that_is_so(
    gate: Gate, server: Server, may_read: bool
) -> None:
    """It reads them as a verdict does, and judges by them."""
    for number, behaviour in ((1, ""), (2, "never-ready")):
        server.put(daemon_set(image=f"shop/agent:{number}", behaviour=behaviour))
        server.objects.wait_for("daemonsets", "agent", runs_everywhere)
    if not may_read:
        server.limit(*LOOKING)
    ended = gate("status", "ds/agent", output="text")
    assert ended.code == 7, ended.out
    assert "0 of 1 node has an available current pod" in ended.out
    assert ("nodes may not be read" in ended.out) is not may_read


@pytest.mark.contract("B1199", "B1249")
def test_status_calls_what_nothing_rolls_out_applied(gate: Gate, server: Server) -> None:
    """No pod runs the live template: that is not complete."""
    for number in (1, 2):
        server.put(stateful_set(image=f"shop/db:{number}", updateStrategy={"type": "OnDelete"}))
        server.objects.wait_for("statefulsets", "db", is_whole)
    ended = gate("status", "sts/db", output="text")
    assert ended.code == 0
    assert "\napplied: NoRollout: 0 of 3 pods run the live template" in ended.out
    assert "complete" not in ended.out
    assert (
        "\nhow its pods come to the live template: rollout-gate verify statefulset/db" in ended.out
    )
    document = gate("status", "sts/db", output="json").document
    assert (document["verdict"], document["reason"]) == ("applied", "NoRollout")


def is_whole(live: JSON) -> bool:
    """Tell whether the controller has seen the template, and all pods are available."""
    status = live.get("status", {})
    is_observed = status.get("observedGeneration") == live["metadata"]["generation"]
    return bool(is_observed and status.get("availableReplicas") == 3)

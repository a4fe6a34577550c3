"""`status`: its exit codes and its document, and the ends of `status --watch`."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from sandbox.face import JSON
from tests.cluster.workloads import stateful_set
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.server import Server
from tests.unit.kube.scripted import Seen, as_status


@pytest.fixture(autouse=True)
def nothing_is_written(server: Server) -> object:
    """Hold every test of this file to it."""
    yield
    assert server.writes() == []


@pytest.mark.contract("B188")
@pytest.mark.parametrize(
    ("tag", "spec", "ends"),
    [
        ("1", {}, (0, "complete", "Complete")),
        ("crash", {}, (6, "failed", "CrashLoop")),
        ("pending", {}, (7, "progressing", "Progressing")),
        ("pending", {"progressDeadlineSeconds": 9}, (6, "failed", "ProgressDeadlineExceeded")),
        ("pending", {"paused": True}, (7, "held", "Paused")),
    ],
)
def test_status_has_a_verdict(
    gate: Gate, server: Server, tag: str, spec: dict[str, Any], ends: tuple[int, str, str]
) -> None:
    """Complete is 0, failed 6, on its way 7; a deadline that passed before counts at once."""
    server.put(web(tag, **{key: value for key, value in spec.items() if key != "paused"}))
    if "paused" in spec:
        server.change({"spec": {"paused": True}})
    ended = gate("status", "web")
    assert (ended.code, ended.document["verdict"], ended.document["reason"]) == ends
    assert ended.err == ""


@pytest.mark.contract("B1601")
@pytest.mark.parametrize(("tag", "command"), [("pending", "resume"), ("crash", "history")])
def test_what_somebody_paused_is_not_to_be_resumed_where_its_pods_fail(
    gate: Gate, server: Server, tag: str, command: str
) -> None:
    """Also where no gate applied it, so that no lock remembers a fault of it."""
    server.put(web(tag), manager="somebody")
    server.change({"spec": {"paused": True}})
    assert f": rollout-gate {command} web" in gate("status", "web", output="text").out


@pytest.mark.contract("B188", "B173")
def test_status_can_be_read_by_programs(gate: Gate, server: Server) -> None:
    """One JSON object with causes, conditions, counts and pods, as the cluster has them."""
    server.put(web("crash"))
    document = gate("status", "web").document
    live = server.get("deployments", "web")["status"]
    assert (document["namespace"], document["name"]) == ("shop", "web")
    assert (document["revision"], document["images"]) == (1, ["shop/web:crash"])
    assert document["causes"][0]["pods"] == 2
    keys = ("type", "status", "reason", "message")
    assert document["conditions"] == [{key: one[key] for key in keys} for one in live["conditions"]]
    assert document["replicas"] == {
        "wanted": 2,
        "total": live["replicas"],
        "updated": live["updatedReplicas"],
        "ready": 0,
        "available": 0,
    }
    first, second = document["pods"]
    assert document["kind"] == "Deployment"
    assert first["version"] == first["replicaset"] == document["pods"][1]["version"]
    assert first["name"] != second["name"]
    assert (first["role"], first["ready"]) == ("new", False)
    assert first["restarts"] > 0
    assert "CrashLoopBackOff" in first["state"]


def after_the_watch_began(server: Server, change: Callable[[], object]) -> None:
    """Let something happen once the last watch is open."""

    def happen(seen: Seen) -> None:
        if "watch" in seen.query and seen.path.endswith("/deployments"):
            server.on_request = lambda _: None
            change()

    server.on_request = happen


@pytest.mark.contract("B188")
def test_watching_goes_on_with_the_next_version(gate: Gate, server: Server) -> None:
    """Somebody else's rollout is what there is to watch then."""
    server.put(web("pending"))
    patch = {"spec": {"template": web("crash")["spec"]["template"]}}
    after_the_watch_began(server, lambda: server.change(patch))
    ended = gate("status", "web", watch=True)
    assert (ended.code, ended.document["reason"]) == (6, "CrashLoop")
    assert ended.document["images"] == ["shop/web:crash"]


@pytest.mark.contract("B188")
def test_watching_ends_where_the_deployment_does(gate: Gate, server: Server) -> None:
    """There is nothing left to watch."""
    server.put(web("pending"))
    after_the_watch_began(server, lambda: server.objects.delete("deployments", "web"))
    ended = gate("status", "web", watch=True)
    assert (ended.code, ended.document["verdict"]) == (7, "superseded")
    assert ended.document["revision"] is None


@pytest.mark.contract("B188")
def test_watching_ends_where_it_is_not_allowed(gate: Gate, server: Server) -> None:
    """Without the right to watch nothing would ever come: it is a refusal, no silence."""
    server.put(web("pending"))

    def forbid(seen: Seen) -> None:
        if "watch" in seen.query:
            said = 'cannot watch resource "pods" in API group ""'
            server.on("GET", seen.path, as_status(403, said, "Forbidden"))

    server.on_request = forbid
    ended = gate("status", "web", watch=True)
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden")


@pytest.mark.contract("B29", "B639", "B1249", "B1311")
@pytest.mark.parametrize(("tag", "output"), [("pending", "json"), ("unmounted", "text")])
def test_who_has_seen_enough_keeps_the_last_state(
    gate: Gate, server: Server, tag: str, output: str
) -> None:
    """It stands on stdout as `status` prints it, and nothing else is said: it was no failure."""
    server.put(web(tag))
    once = gate("status", "web", output=output)
    after_the_watch_began(server, lambda: server.running.send(signal.SIGINT))
    ended = gate("status", "web", watch=True, output=output)
    assert once.code == 7
    assert (ended.code, ended.err) == (128 + signal.SIGINT, "")
    tree, leads_on, _ = once.out.partition("to see how it goes on: rollout-gate status web --watch")
    assert (ended.out, bool(leads_on)) == (tree, output == "text")


@pytest.mark.contract("B29", "B150")
def test_a_signal_before_there_is_anything_to_see_says_nothing_of_writing(
    gate: Gate, server: Server
) -> None:
    """Nobody expects it of a command that looks."""
    server.put(web())
    server.on_request = lambda _: server.running.send(signal.SIGTERM)
    ended = gate("status", "web", output="text")
    assert ended == Ended(128 + signal.SIGTERM, "", "error: SIGTERM ended it\n")


@pytest.mark.contract("B256")
@pytest.mark.parametrize("command", ["status", "history"])
def test_an_error_of_the_cluster_is_one_line(gate: Gate, server: Server, command: str) -> None:
    """Exit 3, on stderr, and the document where one was asked for."""
    said = 'deployments.apps "web" is forbidden: cannot get resource "deployments"'
    path = "/apis/apps/v1/namespaces/shop/deployments/web"
    server.on("GET", path, as_status(403, said, "Forbidden"))
    ended = gate(command, "web")
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden")
    assert said in ended.err
    assert gate(command, "web", output="text").out == ""


@pytest.mark.contract("B1670")
@pytest.mark.parametrize("command", ["status", "history"])
@pytest.mark.parametrize("status", [200, 500])
def test_a_lock_that_cannot_be_read_is_not_taken_for_none(
    gate: Gate, server: Server, command: str, status: int
) -> None:
    """Whether the server fails, or what it sends is no Lease."""
    server.put(web())
    path = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/rollout-gate.deployment.web"
    server.on("GET", path, as_status(status, "etcd is slow", "InternalError"))
    ended = gate(command, "web", output="text")
    assert ended.code == 0
    why = "a Lease cannot be read" if status == 200 else "etcd is slow"
    said = "locks, verdicts and unfinished attempts of deployment/web could not be read"
    assert f"{said}: {why}\n" in ended.out, ended.out


@pytest.mark.contract("B1130")
@pytest.mark.parametrize("command", ["status", "history"])
@pytest.mark.parametrize(
    ("name", "there", "hint"),
    [
        ("db", [stateful_set()], "there is statefulset/db: name that one"),
        ("statefulset/web", [web()], "there is deployment/web: name that one"),
        (
            "daemonset/db",
            [stateful_set(), web(name="db")],
            "there is deployment/db or statefulset/db: name that one",
        ),
        ("db", [web()], "is the namespace right? -n NAMESPACE"),
    ],
)
def test_what_has_the_name_in_another_kind_is_named(
    gate: Gate, server: Server, command: str, name: str, there: list[JSON], hint: str
) -> None:
    """It is said how it has to be written, and nothing is shown in its place."""
    server.put(*there)
    ended = gate(command, name, output="text")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.splitlines()[-1] == f"hint: {hint}"


@pytest.mark.contract("B1130", "B194")
def test_a_kind_that_may_not_be_read_is_not_asked_about_further(gate: Gate, server: Server) -> None:
    """The refusal stays that of the name that was given."""
    server.put(stateful_set())
    server.limit({"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]})
    ended = gate("status", "db", output="text")
    assert ended.err.splitlines() == [
        "error: there is no deployment/db in namespace shop",
        "refused (exit 3, NotFound)",
        "hint: is the namespace right? -n NAMESPACE",
    ]

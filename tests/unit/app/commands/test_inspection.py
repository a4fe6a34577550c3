"""`status` and `history`: what there is and why, and the exit code that goes with it."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tests.unit.app.bodies import marked, web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.server import JSON, ApiServer
from tests.unit.kube.scripted import Seen, as_status

EXCEEDED = {
    "type": "Progressing",
    "status": "False",
    "reason": "ProgressDeadlineExceeded",
    "message": "ReplicaSet has timed out progressing.",
}


@pytest.fixture(autouse=True)
def nothing_is_written(server: ApiServer) -> object:
    """Hold every test of this file to it."""
    yield
    assert server.writes() == []


# -- status ----------------------------------------------------------------------------------------


@pytest.mark.contract("B188")
@pytest.mark.parametrize(
    ("tag", "code", "words"),
    [
        ("1", 0, ["complete", "2 of 2 ready"]),
        ("crash", 6, ["failed: CrashLoop", "pod/web-hash1-0", "exit code 1", "3 restarts"]),
        ("pending", 7, ["progressing", "running, but not ready"]),
    ],
)
def test_status_shows_the_tree_and_why(
    gate: Gate, server: ApiServer, tag: str, code: int, words: list[str]
) -> None:
    """Deployment, ReplicaSets, pods, causes; 0 complete, 6 failed, 7 on its way."""
    server.put(web(tag))
    ended = gate("status", "web", output="text")
    assert (ended.code, ended.err) == (code, "")
    for word in ("deployment/web in shop", "replicaset/web-hash1", *words):
        assert word in ended.out


@pytest.mark.contract("B188")
def test_a_paused_deployment_is_neither(gate: Gate, server: ApiServer) -> None:
    """Paused in mid-flight is 7."""
    server.put(web("pending"))
    server.change("Deployment", "web", {"spec": {"paused": True}})
    ended = gate("status", "web")
    assert (ended.code, ended.document["verdict"], ended.document["reason"]) == (
        7,
        "held",
        "Paused",
    )


def with_condition(server: ApiServer, condition: JSON) -> None:
    """Let a Deployment that gets nowhere have a condition."""
    server.put(web("pending"))
    server.acts = False
    live = server.get("Deployment", "web")
    live["status"]["conditions"] = [condition]
    server.put(live)


@pytest.mark.contract("B188")
def test_a_deadline_condition_counts_at_once(gate: Gate, server: ApiServer) -> None:
    """There is no write of ours whose deadline would have to pass first."""
    with_condition(server, EXCEEDED)
    ended = gate("status", "web")
    assert (ended.code, ended.document["reason"]) == (6, "ProgressDeadlineExceeded")


@pytest.mark.contract("B188", "B40")
def test_a_deadline_condition_of_before_does_not(gate: Gate, server: ApiServer) -> None:
    """The controller has not seen the present version yet: the condition is the old one's."""
    with_condition(server, EXCEEDED)
    server.put({**server.get("Deployment", "web"), "spec": web("2")["spec"]})
    assert gate("status", "web").code == 7


@pytest.mark.contract("B188")
def test_a_version_that_serves_is_complete_whatever_it_went_through(
    gate: Gate, server: ApiServer
) -> None:
    """Crashes of months ago do not count against pods that are ready."""
    server.put(web())
    server.acts = False
    for number in range(2):
        pod = server.get("Pod", f"web-hash1-{number}")
        pod["status"]["containerStatuses"][0]["restartCount"] = 40
        server.put(pod)
    ended = gate("status", "web")
    assert (ended.code, ended.document["verdict"]) == (0, "complete")


@pytest.mark.contract("B188", "B173")
def test_status_can_be_read_by_programs(gate: Gate, server: ApiServer) -> None:
    """One JSON object with the verdict and its causes."""
    server.put(web("crash"))
    document = gate("status", "web").document
    assert (document["namespace"], document["name"]) == ("shop", "web")
    assert (document["verdict"], document["reason"]) == ("failed", "CrashLoop")
    assert document["causes"][0]["pods"] == 2
    assert (document["revision"], document["images"]) == (1, ["shop/web:crash"])
    live = server.get("Deployment", "web")["status"]
    assert document["replicas"] == {
        "wanted": 2,
        "total": live["replicas"],
        "updated": live["updatedReplicas"],
        "ready": 0,
        "available": 0,
    }
    [(first, second)] = [document["pods"]]
    assert (first["name"], second["name"]) == ("web-hash1-0", "web-hash1-1")
    assert (first["replicaset"], first["role"], first["ready"]) == ("web-hash1", "new", False)
    assert first["restarts"] == 3
    assert "CrashLoopBackOff" in first["state"]


@pytest.mark.contract("B188")
def test_conditions_are_as_the_cluster_says(gate: Gate, server: ApiServer) -> None:
    """Type, status, reason, message; of a Deployment that is gone there is nothing."""
    with_condition(server, EXCEEDED)
    assert gate("status", "web").document["conditions"] == [EXCEEDED]


def after_the_watch_began(server: ApiServer, *changes: Any) -> None:
    """Let things happen one after another, each once the last watch is open."""

    def happen(seen: Seen) -> None:
        if "watch" in seen.query and seen.path.endswith("/deployments"):
            for change in changes:
                change()

    server.on_request = happen


@pytest.mark.contract("B188")
def test_watching_ends_with_the_rollout(gate: Gate, server: ApiServer) -> None:
    """The tree comes anew when it differs, until the version is complete."""
    server.put(web("pending"))

    def get_ready() -> None:
        server.fate_of = lambda _: "good"
        server.change("Deployment", "web", {"metadata": {"labels": {"x": "y"}}})

    after_the_watch_began(server, get_ready)
    ended = gate("status", "web", watch=True, output="text")
    trees = ended.out.split("\n\n")
    assert ended.code == 0
    assert "progressing" in trees[0]
    assert "complete" in trees[-1]
    assert len(trees) == len(set(trees))


@pytest.mark.contract("B188")
def test_watching_goes_on_with_the_next_version(gate: Gate, server: ApiServer) -> None:
    """Somebody else's rollout is what there is to watch then."""
    server.put(web("pending"))
    after_the_watch_began(server, lambda: server.put(web("crash-2")))
    ended = gate("status", "web", watch=True)
    assert (ended.code, ended.document["reason"]) == (6, "CrashLoop")
    assert ended.document["images"] == ["shop/web:crash-2"]


@pytest.mark.contract("B188")
def test_watching_ends_where_the_deployment_does(gate: Gate, server: ApiServer) -> None:
    """While it is being deleted it is followed, and then there is nothing left."""
    server.put(web("pending"))
    deleting = {"metadata": {"deletionTimestamp": "2026-11-21T11:00:00Z"}}
    after_the_watch_began(
        server,
        lambda: server.change("Deployment", "web", deleting),
        lambda: server.remove("Deployment", "web"),
    )
    ended = gate("status", "web", watch=True)
    assert (ended.code, ended.document["verdict"]) == (7, "superseded")
    assert ended.document["revision"] is None


@pytest.mark.contract("B188")
def test_watching_ends_where_it_is_not_allowed(gate: Gate, server: ApiServer) -> None:
    """Without the right to watch nothing would ever come: it is a refusal, no silence."""
    server.put(web("pending"))

    def forbid(seen: Seen) -> None:
        if seen.path.endswith("/pods") and not seen.query.get("limit"):
            return
        said = 'cannot watch resource "pods" in API group ""'
        if "watch" in seen.query:
            server.on("GET", seen.path, as_status(403, said, "Forbidden"))

    server.on_request = forbid
    ended = gate("status", "web", watch=True)
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden")


@pytest.mark.contract("B29", "B639")
@pytest.mark.parametrize("output", ["text", "json"])
def test_who_has_seen_enough_keeps_the_last_state(
    gate: Gate, server: ApiServer, output: str
) -> None:
    """It stands on stdout as `status` prints it, and nothing else is said: it was no failure."""
    server.put(web("pending"))
    once = gate("status", "web", output=output)
    after_the_watch_began(server, lambda: signal.raise_signal(signal.SIGINT))
    ended = gate("status", "web", watch=True, output=output)
    assert once.code == 7
    assert ended == Ended(128 + signal.SIGINT, once.out, "")


@pytest.mark.contract("B29", "B150")
def test_a_signal_before_there_is_anything_to_see_says_nothing_of_writing(
    gate: Gate, server: ApiServer
) -> None:
    """Nobody expects it of a command that looks."""
    server.put(web())
    server.on_request = lambda _: signal.raise_signal(signal.SIGTERM)
    ended = gate("status", "web", output="text")
    assert ended == Ended(128 + signal.SIGTERM, "", "error: SIGTERM ended it\n")


# -- history ---------------------------------------------------------------------------------------


@pytest.mark.contract("B190")
def test_history_lists_the_revisions(gate: Gate, server: ApiServer) -> None:
    """Newest first, with what runs, and where a failure would return to."""
    cause = {"annotations": {"kubernetes.io/change-cause": "a hot fix"}}
    server.put(web("1"))
    server.put(marked(web("2"), **cause))
    ended = gate("history", "web", output="text")
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert lines[0].split() == ["REVISION", "AGE", "PODS", "IMAGES", "CHANGE", "CAUSE"]
    assert lines[1].split()[0] == "2"
    assert "shop/web:2" in lines[1]
    assert "a hot fix" in lines[1]
    assert "running <- a failure would return here" in lines[1]
    assert "running" not in lines[2]


@pytest.mark.contract("B190")
def test_history_can_be_read_by_programs(gate: Gate, server: ApiServer) -> None:
    """A list of objects; what serves is not what runs while a rollout is under way."""
    server.put(web("1"))
    server.put(web("pending"))
    ended = gate("history", "web")
    rows = json.loads(ended.out)
    assert [(row["revision"], row["pods"], row["running"]) for row in rows] == [
        (2, 1, True),
        (1, 2, False),
    ]
    assert not any(row["returned_to"] for row in rows)


@pytest.mark.contract("B256")
@pytest.mark.parametrize("command", ["status", "history"])
def test_an_error_of_the_cluster_is_one_line(gate: Gate, server: ApiServer, command: str) -> None:
    """Exit 3, on stderr, and the document where one was asked for."""
    said = 'deployments.apps "web" is forbidden: cannot get resource "deployments"'
    path = "/apis/apps/v1/namespaces/shop/deployments/web"
    server.on("GET", path, as_status(403, said, "Forbidden"))
    ended = gate(command, "web")
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden")
    assert said in ended.err
    assert gate(command, "web", output="text").out == ""

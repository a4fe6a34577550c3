"""`verify` before it judges: what it says, the Role that it prints, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from gate.report.advice.next_steps import next_steps
from tests.cluster.workloads import daemon_set, job, stateful_set
from tests.unit.app.bodies import marked, web
from tests.unit.app.conftest import Gate
from tests.unit.app.metrics import BASE, Metrics
from tests.unit.app.server import Server


@pytest.fixture(autouse=True)
def nothing_is_written(server: Server) -> object:
    """Hold every test of this file to it."""
    yield
    assert server.writes() == []
    assert server.trials() == []


@pytest.mark.contract("B654", "B1513")
def test_what_is_there_is_said_before_anything_changes(gate: Gate, server: Server) -> None:
    """Revision, ReplicaSet, images and pods, as `apply` says them; once, where nothing changes."""
    server.put(web())
    timeline = gate("verify", ("web",)).document["timeline"]
    (following,) = [line["message"] for line in timeline if line["event"] == "replicaset"]
    assert following.startswith("deployment/web: following replicaset/web-")
    assert following.endswith(" (shop/web:1), revision 1")
    assert [line["message"] for line in timeline if line["event"] == "progress"] == [
        "deployment/web: 2 of 2 current pods available"
    ]


@pytest.mark.contract("B655")
@pytest.mark.parametrize("lock", [True, False])
def test_the_role_for_it_reads_and_holds_its_lock(gate: Gate, server: Server, lock: bool) -> None:
    """`verify --rbac` prints it, and judges nothing; without `--lock` it only reads."""
    server.limit()
    ended = gate("verify", ("web",), rbac=True, **({"lock": True} if lock else {}))
    assert ended.code == 0
    role, _ = yaml.safe_load_all(ended.out)
    assert role["metadata"]["name"] == "rollout-gate-verify"
    verbs = {kind: set(rule["verbs"]) for rule in role["rules"] for kind in rule["resources"]}
    leases = verbs.pop("leases", set())
    assert leases == ({"get", "create", "patch"} if lock else {"get"})
    assert set(verbs) == {"deployments", "replicasets", "pods", "pods/log", "events"}
    assert set().union(*verbs.values()) == {"get", "list", "watch"}


@pytest.mark.contract("B198")
def test_names_may_come_beside_labels(gate: Gate, server: Server) -> None:
    """-l takes what it selects, and no other."""
    for name, team in (("web", "a"), ("other", "b"), ("named", "b")):
        server.put(marked(web(name=name), labels={"team": team}))
    ended = gate("verify", ("named",), selector="team=a")
    assert ended.code == 0, ended.err
    assert [one["name"] for one in ended.document["deployments"]] == ["named", "web"]


@pytest.mark.contract("B208")
@pytest.mark.parametrize("selector", ["team in a", "=web", "-app=web", "a b"])
def test_labels_that_nothing_can_have_are_refused_before_a_request(
    gate: Gate, server: Server, selector: str
) -> None:
    """The server's own grammar (labels.Parse) is known here."""
    ended = gate("verify", (), selector=selector)
    assert (ended.code, ended.document["outcome"]) == (2, "usage")
    assert "-l: no label selector: " in ended.err
    assert not server.seen


@pytest.mark.contract("B198", "B208")
def test_labels_that_select_nothing_are_refused(gate: Gate, server: Server) -> None:
    """Nothing to verify is no success; an empty value is in the grammar."""
    server.put(web())
    ended = gate("verify", (), selector="app=")
    assert (ended.code, ended.document["reason"]) == (3, "NotFound")
    assert (
        "no Deployment, StatefulSet or DaemonSet in namespace shop has the labels app=" in ended.err
    )
    assert "a workload is found by labels of its own, not of its pods" in ended.err


@pytest.mark.contract("B1131")
def test_labels_select_every_kind_that_has_versions(gate: Gate, server: Server) -> None:
    """A Job with them is not among these: nothing of it could be verified as a version."""
    for body in (web(), stateful_set(), daemon_set(), job()):
        server.put(marked(body, labels={"team": "a"}))
    server.put(marked(stateful_set("other"), labels={"team": "b"}))
    ended = gate("verify", (), selector="team=a")
    assert ended.code == 0, ended.err
    assert {(one["kind"], one["name"]) for one in ended.document["workloads"]} == {
        ("Deployment", "web"),
        ("StatefulSet", "db"),
        ("DaemonSet", "agent"),
    }


@pytest.mark.contract("B1907")
def test_labels_verify_all_kinds_or_none(gate: Gate, server: Server) -> None:
    """Without a right nobody knows what else has them; a name needs those of its kind alone."""
    server.put(marked(web(), labels={"team": "a"}))
    granted = yaml.safe_load(gate("verify", ("web",), rbac=True).out.partition("---")[0])["rules"]
    server.limit(*granted)
    ended = gate("verify", (), selector="team=a")
    assert (ended.code, ended.document["reason"]) == (3, "Forbidden")
    assert "not allowed: list controllerrevisions.apps, " in ended.err
    assert "list daemonsets.apps" in ended.err
    named = "by name the rights of its own kind are enough: rollout-gate verify deployment/NAME"
    assert f"with -l no kind may go unseen; {named} -n shop" in ended.err
    assert gate("verify", ("web",)).code == 0


@pytest.mark.contract("B1131")
@pytest.mark.parametrize(
    ("names", "selector", "kinds"),
    [
        (("statefulset/db",), None, {"statefulsets", "controllerrevisions"}),
        (("daemonset/agent",), None, {"daemonsets", "controllerrevisions", "nodes"}),
        (("job/migrate",), None, {"jobs"}),
        (
            (),
            "app=web",
            {
                *("deployments", "replicasets", "statefulsets", "daemonsets"),
                *("controllerrevisions", "nodes"),
            },
        ),
    ],
)
def test_the_role_is_for_what_it_is_asked_about(
    gate: Gate, names: tuple[str, ...], selector: str | None, kinds: set[str]
) -> None:
    """The rights to read that kind, its parts and its lock, and no other kind."""
    ended = gate("verify", names, rbac=True, **({"selector": selector} if selector else {}))
    documents = [one for one in yaml.safe_load_all(ended.out) if "rules" in one]
    named = {kind for one in documents for rule in one["rules"] for kind in rule["resources"]}
    assert named - {"pods", "pods/log", "events", "leases"} == kinds


@pytest.mark.contract("B1428")
@pytest.mark.parametrize("given", [{}, {"bake": 30.0}])
def test_no_window_is_announced_for_comparisons_without_an_old_version(
    gate: Gate, server: Server, metrics: Metrics, given: Mapping[str, float]
) -> None:
    """Only the one that was asked for; what decides is to begin earlier."""
    server.put(web())
    metrics.answers(0.1)
    query = 'latency{pod=~"${replicaset}-.*"}'
    check = {"name": "latency", "query": query, "compare": {"max-ratio": 1.5}}
    ended = gate("verify", ("web",), prometheus_url=BASE, checks=[check], **given)
    assert ended.code == 7, ended.err
    said = [line["message"] for line in ended.document["timeline"] if line["event"] == "baking"]
    assert said == (["complete; watching for another 30 s"] if given else [])
    result: Any = ended.document
    (step, *_) = next_steps(result)
    assert step.text.startswith("begin to verify while both versions serve")

"""The tree of `status`: why each pod is as it is, on one screen whatever the number of pods."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.attempt.following import applied_found
from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Absent
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Observed, Vanished
from gate.core.rollout.policy import Policy
from gate.report.style.style import Style, columns
from gate.report.views.tree import status_tree
from tests.table import each
from tests.unit.report.cluster import NOT_READY, RUNNING, WAITING_CRASH, Workload, manifest
from tests.unit.report.endings import serving


def rollout_of(web: Workload) -> Rollout:
    """Return a Deployment as `status` finds it."""
    snapshot = unseen(web.ref)
    for thing in web.objects():
        snapshot = snapshot.fold(Observed(0.0, thing))
    return Rollout.start(applied_found(0.0, web.deployment()), snapshot, Policy())


def tree(web: Workload, style: Style | None = None) -> str:
    """Return the tree of a Deployment."""
    return status_tree(rollout_of(web), 1.0, style or Style())


def half_way(**pods: dict[str, Any]) -> Workload:
    """Return a rollout from web:1 to web:2 with these new pods."""
    web = serving()
    web.body = manifest("web", "shop/web:2")
    web.generation, web.revision = 2, 2
    web.fill("shop/web:1", 1, 3)
    del web.pods["web-1-p3"]
    web.replica_set("shop/web:2", 2, len(pods), 0)
    for suffix, status in pods.items():
        web.pod("shop/web:2", suffix, **status)
    web.counted(len(pods), 3, 3 + len(pods))
    return web


UNSCHEDULABLE = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes",
}
TWO_CONTAINERS = [{"name": "web", **RUNNING}, {"name": "proxy", **WAITING_CRASH}]


def state(kind: str, **more: Any) -> dict[str, Any]:
    """Return a container's status that is in no order."""
    return {**NOT_READY, "state": {kind: more}}


@pytest.mark.contract("B1678")
def test_more_ready_pods_than_are_wanted_are_no_share_of_these() -> None:
    """The controller has wanted fewer for a moment, and none of them has gone yet."""
    web = serving()
    web.replica_set("shop/web:1", 1, 2, 3)
    assert "revision 1, 3 ready, 2 wanted, 3 available" in tree(web), tree(web)


@pytest.mark.contract("B188")
@each(
    ("status", "more", "expected"),
    [
        (RUNNING, {}, "ready"),
        (NOT_READY, {}, "running, not ready"),
        ({**RUNNING, "restartCount": 2}, {}, "ready; 2 restarts"),
        (state("waiting", reason="ContainerCreating"), {}, "ContainerCreating"),
        (state("waiting", reason="ErrX", message="no c"), {}, "ErrX; no c"),
        (state("terminated", reason="OOMKilled", exitCode=137), {}, "OOMKilled, exit code 137"),
        (RUNNING, {"phase": "Failed", "reason": "Evicted"}, "Failed: Evicted"),
        ({}, {"containerStatuses": [], "conditions": [UNSCHEDULABLE]}, "unschedulable: 0/3 nodes"),
        ({}, {"containerStatuses": []}, "not started yet"),
        ({}, {"containerStatuses": TWO_CONTAINERS}, "proxy: CrashLoopBackOff; 3 restarts; last: "),
    ],
    ids=lambda row: row[2],
)
def test_why_a_pod_is_as_it_is(status: dict[str, Any], more: dict[str, Any], expected: str) -> None:
    """The first thing that is not in order, in words."""
    line = tree(half_way(p0={"status": status, **more})).partition("└─ pod/web-2-p0: ")[2]
    assert line.startswith(expected if expected.endswith(" ") else f"{expected}\n")


def test_what_holds_a_deployment_up_is_said() -> None:
    """A pause, and a ReplicaSet that cannot create pods: there is no pod that could say why."""
    web = half_way()
    web.paused = True
    web.sets["shop/web:2"]["status"]["conditions"] = [
        {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: q"}
    ]
    text = tree(web)
    assert "held: Paused: the Deployment is paused\n" in text
    assert "3 ready, paused\n" in text
    assert "│  ! exceeded quota: q\n" in text


def test_a_thousand_pods_take_one_screen() -> None:
    """Those that are alike are told together, what is wrong first; old revisions are a line."""
    web = half_way(
        **{f"a{index:03}": {"status": RUNNING} for index in range(500)},
        **{f"p{index:03}": {"status": WAITING_CRASH} for index in range(500)},
    )
    for index in range(10):
        web.replica_set(f"shop/web:old{index}", 0, 0, 0)
    lines = tree(web).splitlines()
    assert len(lines) < 40
    crashed, ready, old = (
        next(at for at, line in enumerate(lines) if line.endswith(words))
        for words in (
            "497 more pods CrashLoopBackOff",
            "500 pods ready",
            "└─ 10 more ReplicaSets without pods",
        )
    )
    assert crashed < ready < old


@pytest.mark.parametrize("width", [80, 100, 120])
def test_hostile_text_stays_in_its_place(width: int) -> None:
    """No escape, no overlong line, no line of its own."""
    evil = {"waiting": {"reason": "Err", "message": "\x1b[2J火\n::error::x " * 50}}
    web = half_way(p0={"status": {"state": evil}})
    for style in (Style(width=width), Style(width=width, encoding="ascii")):
        lines = tree(web, style).splitlines()
        assert all(columns(line) <= width for line in lines)
        assert all(line.isprintable() for line in lines)


def test_a_deployment_that_is_not_there_is_said() -> None:
    """Absent is one thing, unknown another."""
    web = serving()
    rollout = rollout_of(web)
    gone = rollout.observe(Vanished(1.0, DEPLOYMENT, web.uid))
    assert isinstance(gone.snapshot.workload, Absent)
    assert status_tree(gone, 1.0, Style()) == "deployment/web in shop does not exist\n"


@pytest.mark.contract("B1513")
def test_the_current_replica_set_comes_first_even_before_it_has_a_number() -> None:
    """The controller writes the revision a moment after it made the ReplicaSet."""
    web = half_way(p0={"status": NOT_READY})
    del web.sets["shop/web:2"]["metadata"]["annotations"]
    lines = [line for line in tree(web).splitlines() if "replicaset/" in line]
    assert lines[0].startswith("├─ replicaset/web-2: current, 0 of 1 ready")
    assert lines[1].startswith("└─ replicaset/web-1: other, revision 1, 3 of 3 ready")

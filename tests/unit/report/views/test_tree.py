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
from tests.unit.report.cluster import (
    NOT_READY,
    RUNNING,
    WAITING_CRASH,
    WAITING_PULL,
    Workload,
    manifest,
)
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
    web.body = {**web.body, "spec": {**web.body["spec"], "template": template("shop/web:2")}}
    web.generation, web.revision = 2, 2
    web.fill("shop/web:1", 1, 3)
    del web.pods["web-1-p3"]
    web.replica_set("shop/web:2", 2, len(pods), 0)
    for suffix, status in pods.items():
        web.pod("shop/web:2", suffix, **status)
    web.counted(len(pods), 3, 3 + len(pods))
    return web


def template(image: str) -> dict[str, Any]:
    """Return the pod template of an image."""
    found: dict[str, Any] = manifest("web", image)["spec"]["template"]
    return found


@pytest.mark.contract("B188")
def test_the_tree_of_a_rollout_that_crashes() -> None:
    """New ReplicaSet first, its pods with why, then the old one, conditions and causes."""
    web = half_way(p0={"status": WAITING_CRASH}, p1={"status": WAITING_PULL})
    assert tree(web) == (
        "deployment/web in shop, revision 2, 4 pods wanted, 3 ready\n"
        "progressing: 0 of 4 new pods available, 3 old pods remain\n"
        "├─ replicaset/web-2: new, revision 2, 0 of 2 ready, 0 available, shop/web:2\n"
        "│  ├─ pod/web-2-p0: CrashLoopBackOff; 3 restarts; last: Error, exit code 1 at\n"
        "│  │    2026-11-21T12:00:09Z; panic: DATABASE_URL is not set\n"
        '│  └─ pod/web-2-p1: ErrImagePull; failed to pull image "shop/web:typo": shop/web:typo:'
        " not found\n"
        "└─ replicaset/web-1: old, revision 1, 3 of 3 ready, 3 available, shop/web:1\n"
        "   ├─ pod/web-1-p0: ready\n"
        "   ├─ pod/web-1-p1: ready\n"
        "   └─ pod/web-1-p2: ready\n"
        "conditions\n"
        "  Available  True     MinimumReplicasAvailable: Deployment has minimum availability.\n"
        "causes\n"
        "  CrashLoop: web: Error, exit code 1, 3 restarts, none of them while this run"
        " watched: panic:\n"
        "    DATABASE_URL is not set (1 of 2 created pods)\n"
        "  ImagePull: shop/web:2: not found (1 of 2 created pods)\n"
    )


@pytest.mark.contract("B188")
@pytest.mark.parametrize(
    ("status", "more", "expected"),
    [
        (RUNNING, {}, "ready"),
        (NOT_READY, {}, "running, not ready"),
        ({**RUNNING, "restartCount": 2}, {}, "ready; 2 restarts"),
        (
            {**NOT_READY, "state": {"waiting": {"reason": "ContainerCreating"}}},
            {},
            "ContainerCreating",
        ),
        (
            {**NOT_READY, "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}},
            {},
            "OOMKilled, exit code 137",
        ),
        (
            {"state": {"waiting": {"reason": "CreateContainerConfigError", "message": "no c"}}},
            {},
            "CreateContainerConfigError; no c",
        ),
        (RUNNING, {"phase": "Failed", "reason": "Evicted"}, "Failed: Evicted"),
        (
            {},
            {
                "containerStatuses": [],
                "conditions": [
                    {
                        "type": "PodScheduled",
                        "status": "False",
                        "reason": "Unschedulable",
                        "message": "0/3 nodes",
                    }
                ],
            },
            "unschedulable: 0/3 nodes",
        ),
        ({}, {"containerStatuses": []}, "not started yet"),
    ],
)
def test_why_a_pod_is_as_it_is(status: dict[str, Any], more: dict[str, Any], expected: str) -> None:
    """The first thing that is not in order, in words."""
    assert f"└─ pod/web-2-p0: {expected}\n" in tree(half_way(p0={"status": status, **more}))


def test_of_several_containers_the_bad_one_is_named() -> None:
    """An injected sidecar may be what crashes."""
    statuses = [{"name": "web", **RUNNING}, {"name": "proxy", **WAITING_CRASH}]
    text = tree(half_way(p0={"status": {}, "containerStatuses": statuses}))
    assert "pod/web-2-p0: proxy: CrashLoopBackOff; 3 restarts; last: Error" in text


def test_a_thousand_pods_take_one_screen() -> None:
    """Pods that are alike are told together: three by name, then their number."""
    web = half_way(
        **{f"p{index:03}": {"status": WAITING_CRASH} for index in range(500)},
        **{f"q{index:03}": {"status": RUNNING} for index in range(500)},
    )
    lines = tree(web).splitlines()
    assert len(lines) < 40
    assert any(line.endswith("497 more pods CrashLoopBackOff") for line in lines)
    assert any(line.endswith("500 pods ready") for line in lines)


def test_old_replica_sets_without_pods_are_counted() -> None:
    """Ten old revisions are one line."""
    web = serving()
    for index in range(10):
        web.replica_set(f"shop/web:old{index}", 0, 0, 0)
    assert "└─ 10 more old ReplicaSets without pods\n" in tree(web)


def test_a_replica_set_that_cannot_create_pods_says_why() -> None:
    """There is no pod that could."""
    web = half_way()
    web.sets["shop/web:2"]["status"]["conditions"] = [
        {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: q"}
    ]
    assert "│  ! exceeded quota: q\n" in tree(web)


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


def test_a_paused_deployment_says_so() -> None:
    """Nothing moves, on purpose."""
    web = half_way(p0={"status": NOT_READY})
    web.paused = True
    assert "held: Paused: the Deployment is paused\n" in tree(web)
    assert "3 ready, paused\n" in tree(web)


def test_what_is_wrong_comes_first() -> None:
    """A ready pod whose name comes first does not hide the one that crashes."""
    lines = tree(half_way(p0={"status": RUNNING}, p1={"status": WAITING_CRASH})).splitlines()
    pods = [line for line in lines if "pod/web-2-" in line]
    assert "pod/web-2-p1: CrashLoopBackOff" in pods[0]
    assert pods[1].endswith("pod/web-2-p0: ready")


def test_the_new_replica_set_comes_first_even_before_it_has_a_number() -> None:
    """The controller writes the revision a moment after it made the ReplicaSet."""
    web = half_way(p0={"status": NOT_READY})
    del web.sets["shop/web:2"]["metadata"]["annotations"]
    lines = [line for line in tree(web).splitlines() if "replicaset/" in line]
    assert lines[0].startswith("├─ replicaset/web-2: new, 0 of 1 ready")

"""The tree of `status`: why each pod is as it is, on one screen whatever the number of pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.model.objects import CleanText, ContainerStatus, Pod
from gate.core.rollout.observations import Vanished
from gate.report.style.style import Style, columns
from gate.report.views.tree import status_tree
from gate.wire.untrusted import clean
from tests.table import each
from tests.unit.core.rollout.failing_scenes import denied, scene
from tests.unit.core.world import (
    Scene,
    container,
    crashing,
    old_replica_set,
    pod,
    pods,
    replica_set,
    terminated,
    waiting,
)


def tree(shown: Scene, style: Style | None = None) -> str:
    """Return the tree of a Deployment as `status` finds it."""
    return status_tree(replace(shown, found=True).seen(), 1.0, style or Style())


def ended(reason: str, exit_code: int) -> ContainerStatus:
    """Return the status of a container that has ended."""
    return container(ready=False, running=False, terminated=terminated(reason, exit_code))


@pytest.mark.contract("B1678")
def test_more_ready_pods_than_are_wanted_are_no_share_of_these() -> None:
    """The controller has wanted fewer for a moment, and none of them has gone yet."""
    text = tree(Scene(sets=(replica_set(replicas=2, ready_replicas=3, available_replicas=3),)))
    assert "revision 2, 3 ready, 2 wanted, 3 available" in text, text


@pytest.mark.contract("B188")
@each(
    ("found", "expected"),
    [
        (pod(), "ready"),
        (pod(0, container(ready=False)), "running, not ready"),
        (pod(0, container(restarts=2)), "ready; 2 restarts"),
        (pod(0, waiting("ContainerCreating")), "ContainerCreating"),
        (pod(0, waiting("ErrX", "no c")), "ErrX; no c"),
        (pod(0, ended("OOMKilled", 137)), "OOMKilled, exit code 137"),
        (pod(phase="Failed", reason=CleanText("Evicted")), "Failed: Evicted"),
        (
            pod(containers=(), ready=False, unschedulable=CleanText("0/3 nodes")),
            "unschedulable: 0/3 nodes",
        ),
        (pod(containers=(), ready=False), "not started yet"),
        (
            pod(0, container(), crashing(name="proxy")),
            "proxy: CrashLoopBackOff; 3 restarts; last: ",
        ),
    ],
    ids=lambda row: row[1],
)
def test_why_a_pod_is_as_it_is(found: Pod, expected: str) -> None:
    """The first thing that is not in order, in words."""
    line = tree(scene(found)).partition("└─ pod/web-2-p0: ")[2]
    assert line.startswith(expected if expected.endswith(" ") else f"{expected}\n")


def test_what_holds_a_deployment_up_is_said() -> None:
    """A pause, and a ReplicaSet that cannot create pods: there is no pod that could say why."""
    shown = denied("exceeded quota: q")
    text = tree(replace(shown, web=replace(shown.web, paused=True)))
    assert "held: Paused: the Deployment is paused\n" in text
    assert "3 ready, paused\n" in text
    assert "│  ! exceeded quota: q\n" in text


def test_a_thousand_pods_take_one_screen() -> None:
    """Those that are alike are told together, what is wrong first; old revisions are a line."""
    shown = scene(*pods(500), *pods(500, crashing(), first=500))
    old = (replace(old_replica_set(), name=f"old{n}", uid=f"old{n}") for n in range(10))
    lines = tree(replace(shown, sets=(*shown.sets, *old))).splitlines()
    assert len(lines) < 40
    crashed, ready, without = (
        next(at for at, line in enumerate(lines) if line.endswith(words))
        for words in (
            "497 more pods CrashLoopBackOff",
            "500 pods ready",
            "└─ 10 more ReplicaSets without pods",
        )
    )
    assert crashed < ready < without


@pytest.mark.parametrize("width", [80, 100, 120])
def test_hostile_text_stays_in_its_place(width: int) -> None:
    """No escape, no overlong line, no line of its own."""
    evil = scene(pod(0, waiting("Err", clean("\x1b[2J火\n::error::x " * 50))))
    for style in (Style(width=width), Style(width=width, encoding="ascii")):
        lines = tree(evil, style).splitlines()
        assert all(columns(line) <= width for line in lines)
        assert all(line.isprintable() for line in lines)


def test_a_deployment_that_is_not_there_is_said() -> None:
    """Absent is one thing, unknown another."""
    gone = Scene().seen().observe(Vanished(1.0, DEPLOYMENT, "web-uid"))
    assert status_tree(gone, 1.0, Style()) == "deployment/web in shop does not exist\n"


@pytest.mark.contract("B1513")
def test_the_current_replica_set_comes_first_even_before_it_has_a_number() -> None:
    """The controller writes the revision a moment after it made the ReplicaSet."""
    shown = scene(pod(0, container(ready=False)))
    new, old = shown.sets
    lines = tree(replace(shown, sets=(replace(new, revision=None, replicas=1), old))).splitlines()
    first, second = (line for line in lines if "replicaset/" in line)
    assert first.startswith("├─ replicaset/web-2: current, 0 of 1 ready")
    assert second.startswith("└─ replicaset/web-1: other, revision 1, 3 of 3 ready")

"""One line a change, and a heartbeat that says what is waited for."""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.protocol.effects import Announce
from gate.core.protocol.events import ContactLost
from gate.core.rollout.policy import Policy
from gate.report.views.timeline import timeline_line, waiting_for
from tests.unit.report.cluster import NOT_READY, manifest
from tests.unit.report.endings import ENDINGS, serving
from tests.unit.report.stage import Stage


@pytest.mark.contract("B170")
def test_a_line_has_the_seconds_since_the_start() -> None:
    """Seconds, what kind of change, what changed; aligned."""
    announce = Announce(112.34, "progress", "deployment/web: 2 of 4 new pods available")
    line = timeline_line(announce, 100.0)
    assert line == "  12.3s  progress    deployment/web: 2 of 4 new pods available"
    assert timeline_line(Announce(100.0, "replicaset", "x"), 100.0) == "   0.0s  replicaset  x"


def test_a_line_stays_one_line() -> None:
    """A message of several lines is one change all the same."""
    assert timeline_line(Announce(1.0, "pod", "a\nb\r\n  c"), 0.0).endswith("pod         a b c")


def half_way(policy: Policy | None = None) -> Stage:
    """Return a rollout two of whose new pods are not ready."""
    web = serving()
    stage = Stage([web], [manifest("web", "shop/web:2")], policy)
    web.revision = 2
    web.replica_set("shop/web:2", 2, 2, 0)
    web.pod("shop/web:2", "p0", NOT_READY)
    web.pod("shop/web:2", "p1", NOT_READY)
    web.counted(2, 3, 5)
    stage.show(2.0)
    return stage


@pytest.mark.contract("B170")
def test_a_heartbeat_says_what_is_waited_for_and_why() -> None:
    """The count, and the most telling cause."""
    stage = half_way()
    assert waiting_for(stage.attempt, stage.attempt.now) == (
        "deployment/web: 0 of 4 new pods available, 4 old pods remain"
        " (NotReady: running, but not ready (2 of 2 created pods))"
    )


def test_a_heartbeat_while_baking_counts_down() -> None:
    """The new version is complete, and watched for some more time."""
    web = serving()
    stage = Stage([web], [manifest("web", "shop/web:1")], Policy(bake_seconds=60.0))
    stage.show(0.5)
    told = waiting_for(stage.attempt, stage.attempt.course.baked_since + 20.0)
    assert told == "complete; watching for another 40 s"


def test_a_heartbeat_without_contact_says_so_first() -> None:
    """Nothing else that it could say is news."""
    stage = half_way()
    stage.hear(ContactLost(stage.attempt.now, "no route to host"))
    told = waiting_for(stage.attempt, stage.attempt.now)
    assert told.startswith("the API server is unreachable: no route to host; deployment/web: ")


def test_many_deployments_are_counted_not_listed() -> None:
    """A heartbeat is one line."""
    workloads = [serving(f"web{index}") for index in range(5)]
    bodies = [manifest(w.name, f"shop/{w.name}:2") for w in workloads]
    stage = Stage(workloads, bodies)
    told = waiting_for(stage.attempt, stage.attempt.now)
    assert told.count("deployment/") == 3
    assert told.endswith("; 2 more Deployments")


def test_a_stranger_is_not_waited_for() -> None:
    """A Deployment that somebody else took over has left the attempt."""
    stage = ENDINGS["superseded"]()
    assert deployment_ref("shop", "web") in stage.attempt.interference.departures
    assert waiting_for(stage.attempt, stage.attempt.now) == "done"

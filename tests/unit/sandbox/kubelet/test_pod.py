"""One pod: the order of its containers, its phase, its conditions, and changes of mind."""

from __future__ import annotations

import pytest

from sandbox.json import JSON
from sandbox.kubelet.states import Pace
from tests.unit.sandbox.kubelet.stage import Stage, asking, condition, pod

MIGRATE: JSON = {"name": "migrate", "image": "shop/migrate:1"}
MESH: JSON = {"name": "mesh", "image": "mesh/proxy:1", "restartPolicy": "Always"}


def test_init_containers_run_one_after_the_other() -> None:
    """The second init container starts when the first has ended, the others when both have."""
    second = {"name": "seed", "image": "shop/seed:1"}
    stage = Stage(Pace.NODE).run(pod(init=[MIGRATE, second]), seconds=5)
    assert stage.trail("migrate") == [(0.0, "ready"), (1.0, "Completed 0")]
    assert stage.trail("seed")[1:] == [(1.0, "ready"), (2.0, "Completed 0")]
    assert stage.trail()[-1] == (2.0, "ready")


def test_a_sidecar_runs_on_beside_the_others() -> None:
    """A restartable init container is ready first and keeps running."""
    stage = Stage().run(pod(init=[MESH, MIGRATE]), seconds=5)
    assert stage.states("mesh")[-1] == "ready"
    assert stage.states()[-1] == "ready"
    assert condition(stage.status(), "Initialized")["status"] == "True"


@pytest.mark.parametrize(
    ("asked", "policy", "phase", "restarts"),
    [
        ("complete=1", "Never", "Succeeded", 0),
        ("complete=1", "OnFailure", "Succeeded", 0),
        ("crash=1", "Never", "Failed", 0),
        ("restart-once=1", "OnFailure", "Running", 1),
        ("restart-once=1", "Never", "Failed", 0),
        ("complete=1", "Always", "Running", 1),
    ],
)
def test_the_restart_policy_decides_what_an_end_means(
    asked: str, policy: str, phase: str, restarts: int
) -> None:
    """What ended is restarted or not, and the pod's phase follows."""
    status = Stage().run(pod(asked=asked, restartPolicy=policy), seconds=1.3).status()
    [web] = status["containerStatuses"]
    assert (status["phase"], web["restartCount"]) == (phase, restarts)


def test_a_running_container_changes_its_mind_at_once() -> None:
    """A behaviour that a running container can show begins when it is asked for."""
    item = pod()
    stage = Stage().run(item, seconds=10).run(asking(item, "crash=0.5"), seconds=1)
    assert stage.trail()[:3] == [(0.0, "ready"), (10.0, "running"), (10.5, "Error 1")]


@pytest.mark.parametrize("asked", ["crash=0.1", "image-pull"])
def test_a_container_that_backs_off_waits_for_its_next_try(asked: str) -> None:
    """What makes it well is noticed only when the kubelet tries again, as on a node."""
    item = pod(asked=asked)
    stage = Stage(Pace.NODE).run(item, seconds=25).run(asking(item, "ready"), seconds=0)
    assert "BackOff" in stage.states()[-1]
    before = len(stage.trail())
    stage.run(seconds=60)
    [(at, state)] = stage.trail()[before:]
    assert state == "ready"
    assert at >= 30

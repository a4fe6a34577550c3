"""The scripts: each behaviour goes through its states, at the pace of a node or of a test."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sandbox.kubelet.states import Pace
from tests.unit.sandbox.kubelet.stage import Stage, pod

PULLS = ["ErrImagePull", "ImagePullBackOff"]


@pytest.mark.parametrize(
    ("asked", "states", "event"),
    [
        ("", ["ready"], ""),
        ("ready=0.3", ["running", "ready"], ""),
        ("never-ready", ["running"], "Unhealthy"),
        ("flapping=0.2", ["ready", "running", "ready", "running"], "Unhealthy"),
        ("image-pull", PULLS * 2, "Failed"),
        ("image-pull=1", [*PULLS, *PULLS, "ready"], "BackOff"),
        ("image-pull-transient", [*PULLS, *PULLS, "ready"], "Failed"),
        ("invalid-image-name", ["InvalidImageName"], "InspectFailed"),
        ("never-pull", ["ErrImageNeverPull"], "ErrImageNeverPull"),
        ("config-error", ["CreateContainerConfigError"], "Failed"),
        ("config-error=0.3", ["CreateContainerConfigError", "ready"], ""),
        ("crash=0.1;code=3", ["running", "Error 3", "running", "Error 3"], ""),
        ("oom=0.1", ["running", "OOMKilled 137", "running", "OOMKilled 137"], "BackOff"),
        ("ready-then-crash=0.2", ["ready", "Error 1", "ready", "Error 1"], "BackOff"),
        ("restart-once=0.1", ["running", "Error 1", "ready"], ""),
        ("complete=0.1", ["ready", "Completed 0", "ready"], ""),
        ("mount-error", ["ContainerCreating"], "FailedMount"),
        ("evicted=0.2", ["ready", "Error 137"], "Evicted"),
    ],
)
def test_a_behaviour_goes_through_its_states(asked: str, states: list[str], event: str) -> None:
    """The states come in their order, and what a kubelet would say of them is said."""
    stage = Stage().run(pod(asked=asked), seconds=6)
    assert stage.states()[: len(states)] == states
    assert not event or event in stage.reasons()


@pytest.mark.parametrize(
    ("pace", "waits"),
    [
        (Pace.SHORT, [0.5, 1, 2, 4, 5, 5]),
        (Pace.NODE, [10, 20, 40, 80, 160, 300, 300]),
    ],
)
def test_a_crash_loop_waits_longer_each_time(pace: Pace, waits: list[float]) -> None:
    """The first restart comes at once, each later one after a wait that doubles up to a limit."""
    trail = Stage(pace).run(pod(asked="crash=0"), seconds=sum(waits) + 1).trail()
    starts = [at for at, state in trail if state == "running"]
    assert starts[:2] == [0, pace.seen_seconds]
    measured = [after - at for at, after in pairwise(starts[1:])]
    assert measured == pytest.approx(waits)


def test_a_container_that_ran_long_is_forgiven() -> None:
    """After more than ten minutes a crash is the first again: no back-off."""
    stage = Stage(Pace.NODE).run(pod(asked="ready-then-crash=11m"), seconds=7200)
    assert set(stage.states()) == {"ready", "Error 1"}
    patient = Stage(Pace.NODE).run(pod(asked="ready-then-crash=9m"), seconds=7200)
    assert "CrashLoopBackOff" in patient.states()


def test_pulls_back_off_like_restarts() -> None:
    """A node tries to pull after 10, 20, 40 s and so on, up to five minutes."""
    trail = Stage(Pace.NODE).run(pod(asked="image-pull"), seconds=1200).trail()
    tries = [at for at, state in trail if state == "ErrImagePull"]
    waits = [round(after - at) for at, after in pairwise(tries)]
    assert waits == [10, 20, 40, 80, 160, 300, 300]


@pytest.mark.parametrize("pace", [Pace.SHORT, Pace.NODE])
def test_messages_tell_the_figures_of_a_node(pace: Pace) -> None:
    """Whatever the pace, the third wait is told as 40 s and the fifth as 2m40s."""
    stage = Stage(pace).run(pod(asked="crash=0.1"), seconds=400)
    told = [
        entry["state"]["waiting"]["message"]
        for _, status in stage.statuses()
        for entry in status["containerStatuses"]
        if "waiting" in entry["state"]
    ]
    assert told[2].startswith("back-off 40s restarting failed container=web pod=web-1_shop(")
    assert told[4].startswith("back-off 2m40s ")

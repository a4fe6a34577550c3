"""The pods of a kubelet: their order, their scripts, their ends, and what they wrote."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sandbox.json import JSON
from sandbox.kubelet.container import Pace
from sandbox.kubelet.logs import HOSTILE, LogOptions, NoLogError
from sandbox.kubelet.requests import Remove, ReportStatus
from tests.unit.sandbox.kubelet.stage import Stage, asking, condition, deleted, pod

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
    [(Pace.SHORT, [0.5, 1, 2, 4, 5, 5]), (Pace.NODE, [10, 20, 40, 80, 160, 300, 300])],
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


@pytest.mark.parametrize("pace", [Pace.SHORT, Pace.NODE])
def test_messages_tell_the_figures_of_a_node(pace: Pace) -> None:
    """Whatever the pace, the third wait is told as 40 s and the fifth as 2m40s."""
    stage = Stage(pace).run(pod(asked="crash=0.1"), seconds=400)
    messages = [
        entry["state"]["waiting"]["message"]
        for _, status in stage.statuses()
        for entry in status["containerStatuses"]
        if "waiting" in entry["state"]
    ]
    assert messages[2].startswith("back-off 40s restarting failed container=web pod=web-1_shop(")
    assert messages[4].startswith("back-off 2m40s ")


def test_pods_are_spread_over_the_nodes() -> None:
    """Each pod goes to the node with the fewest; a pod that goes makes room."""
    stage = Stage(nodes=("a", "b")).run(pod("1"), pod("2"), pod("3"))
    assert stage.binds() == [("1", "a"), ("2", "b"), ("3", "a")]
    stage.workers.lose(pod("1"))
    stage.workers.lose(pod("3"))
    stage.run(pod("4"))
    assert stage.binds()[-1] == ("4", "a")


def test_only_the_first_pods_of_a_replicaset_suffer() -> None:
    """`only=1` is for the first pod; its replacement comes later and is well."""
    stage = Stage().run(pod("1", asked="never-ready;only=1"), pod("2", asked="never-ready;only=1"))
    assert [state for _, state in stage.trail()] == ["running", "ready"]


@pytest.mark.parametrize(
    ("asked", "grace_seconds", "at"),
    [
        ("", 30, 5.03),
        ("", 0, 5.0),
        ("slow-termination=3", 30, 8.0),
        ("slow-termination=3m", 30, 35.0),
    ],
)
def test_a_deleted_pod_takes_its_time_within_its_grace(
    asked: str, grace_seconds: int, at: float
) -> None:
    """Deletion waits for the containers, at most for the grace period; the pod goes once."""
    item = pod(asked=asked)
    stage = Stage().run(item, seconds=5)
    stage.run(deleted(item, grace_seconds), deleted(item, grace_seconds), seconds=100)
    assert stage.removals() == [(at, "web-1")]


def test_a_deleted_pod_that_a_finalizer_keeps_says_that_its_containers_have_ended() -> None:
    """It is not ready and has an end's phase, before the kubelet lets it go."""
    item = pod()
    item["metadata"]["finalizers"] = ["example.com/hold"]
    stage = Stage().run(item)
    stage.run(deleted(item), seconds=9)
    assert [type(each) for _, each, _ in stage.requests[-2:]] == [ReportStatus, Remove]
    assert (stage.states()[-1], stage.status()["phase"]) == ("Error 137", "Failed")
    assert condition(stage.status(), "Ready")["status"] == "False"


@pytest.mark.parametrize(
    ("asked", "said"),
    [("crush", "no such behaviour: crush"), ("crash;container=db", "no such container: db")],
)
def test_a_wish_that_makes_no_sense_is_said_once(asked: str, said: str) -> None:
    """The kubelet writes an event and leaves the pod as it is."""
    item = pod(asked=asked)
    stage = Stage().run(item, seconds=5)
    stage.workers.reconsider()
    [event] = stage.events()
    assert event.event["reason"] == "BadBehaviour"
    assert said in event.event["message"]
    assert not stage.binds()


def test_a_pod_is_evicted_on_demand() -> None:
    """A pod that is named fails as if memory were short; an unknown name changes nothing."""
    stage = Stage().run(pod(), seconds=1)
    stage.workers.evict("shop", "web-1")
    stage.workers.evict("shop", "web-2")
    assert stage.status()["reason"] == "Evicted"


def test_nothing_is_kept_of_pods_that_went() -> None:
    """A pod that went and one of its name that comes are two: events begin again."""
    item = pod(asked="mount-error")
    stage = Stage().run(item)
    stage.workers.lose(item)
    stage.run(item)
    assert [event.again for event in stage.events()] == [False, False]
    assert stage.workers.log("shop", "web-1", "db") is None


def read(stage: Stage, options: LogOptions | None = None) -> str:
    """Return the log of the stage's one container."""
    state = stage.workers.log("shop", "web-1", "web")
    assert state
    return state.read(options or LogOptions()).decode()


def crashed_once() -> Stage:
    """Return a pod that ended at 2 s and runs again from 3 s on."""
    return Stage(Pace.NODE).run(pod(asked="crash=2;code=7", log="hello"), seconds=4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (LogOptions(tail_lines=1), "hello\n"),
        (LogOptions(tail_lines=0), ""),
        (LogOptions(tail_lines=9), "web-1 web: attempt 1 starts\nhello\n"),
        (LogOptions(limit_bytes=5), "web-1"),
        (LogOptions(tail_lines=1, timestamps=True), "2026-01-01T00:00:03.000000000Z hello\n"),
    ],
)
def test_the_options_of_the_api_hold(options: LogOptions, text: str) -> None:
    """Lines are cut by count, by time and by bytes, and stamped where that is asked for."""
    assert read(crashed_once(), options) == text


@pytest.mark.parametrize(
    ("asked", "previous", "said"),
    [
        ("image-pull", False, "is waiting to start: image can't be pulled"),
        ("config-error", False, "is waiting to start: CreateContainerConfigError"),
        ("ready", True, 'previous terminated container "web" in pod "web-1" not found'),
    ],
)
def test_there_is_no_log_before_the_first_start(asked: str, previous: bool, said: str) -> None:
    """The refusal is in the words of a kubelet."""
    with pytest.raises(NoLogError, match=said):
        read(Stage().run(pod(asked=asked)), LogOptions(previous=previous))


@pytest.mark.parametrize(("log", "lines"), [("none", 0), ("long", 10_002), ("hostile", 14)])
def test_an_annotation_decides_what_is_written(log: str, lines: int) -> None:
    """Nothing, very much, or what tries to trick a terminal."""
    text = read(Stage().run(pod(log=log)))
    assert text.count("\n") == lines + (HOSTILE[-2].count("\n") if log == "hostile" else 0)

"""One pod: the order of its containers, its phase, its conditions, and changes of mind."""

from __future__ import annotations

import pytest

from sandbox.json import JSON
from sandbox.kubelet.pace import Pace
from tests.unit.sandbox.kubelet.stage import Stage, asking, condition, pod

MIGRATE: JSON = {"name": "migrate", "image": "shop/migrate:1"}
MESH: JSON = {"name": "mesh", "image": "mesh/proxy:1", "restartPolicy": "Always"}


def test_a_healthy_pod_is_ready_at_once() -> None:
    """Without a wish the pod runs and is ready, with every condition true."""
    status = Stage().run(pod()).status()
    assert status["phase"] == "Running"
    assert {each["status"] for each in status["conditions"]} == {"True"}
    [web] = status["containerStatuses"]
    assert (web["ready"], web["started"], web["restartCount"]) == (True, True, 0)


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


def test_a_sidecar_that_restarts_does_not_undo_the_initialization() -> None:
    """Once the ordinary containers were started, Initialized stays true."""
    asked = "ready-then-crash=1;container=mesh"
    stage = Stage().run(pod(init=[MESH], asked=asked), seconds=1.05)
    assert stage.states("mesh")[-1] == "Error 1"
    assert condition(stage.status(), "Initialized")["status"] == "True"


def _key(what: str, name: str, **more: object) -> dict[str, object]:
    return {"name": "KEY", "valueFrom": {what: {"name": name, "key": "key", **more}}}


@pytest.mark.parametrize(
    ("container", "said"),
    [
        ({}, "secret not found"),
        ({"env": [{"name": "KEY", "value": "x"}]}, "secret not found"),
        ({"env": [_key("secretKeyRef", "keys", optional=True)]}, "secret not found"),
        ({"env": [_key("secretKeyRef", "keys")]}, 'secret "keys" not found'),
        ({"env": [_key("configMapKeyRef", "flags")]}, 'configmap "flags" not found'),
        ({"envFrom": [{"secretRef": {"name": "all"}}]}, 'secret "all" not found'),
        (
            {
                "env": [_key("configMapKeyRef", "flags")],
                "envFrom": [{"secretRef": {"name": "all"}}],
            },
            'secret "all" not found',
        ),
    ],
)
def test_what_is_missing_is_what_the_container_needs(
    container: dict[str, object], said: str
) -> None:
    """No Secret is named that the manifest does not have."""
    item = pod(asked="config-error")
    item["spec"]["containers"][0].update(container)
    stage = Stage().run(item, seconds=3)
    [waiting] = stage.status()["containerStatuses"]
    assert waiting["state"]["waiting"]["message"] == said


def test_a_failing_init_container_holds_the_pod_back() -> None:
    """The pod stays pending and says which init container is not done."""
    stage = Stage().run(pod(init=[MIGRATE], asked="init-crash=0.1"), seconds=3)
    status = stage.status()
    assert status["phase"] == "Pending"
    assert stage.states() == ["PodInitializing"]
    why = condition(status, "Initialized")
    assert why["reason"] == "ContainersNotInitialized"
    assert why["message"] == "containers with incomplete status: [migrate]"


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


def test_an_init_container_that_fails_for_good_fails_the_pod() -> None:
    """With the policy Never nothing comes after a failed init container."""
    item = pod(init=[MIGRATE], asked="init-crash", restartPolicy="Never")
    assert Stage().run(item, seconds=3).status()["phase"] == "Failed"


def test_a_condition_keeps_its_time_while_it_stays() -> None:
    """Ready turns at 2 s and at no other time; PodScheduled is the scheduler's to tell."""
    stage = Stage().run(pod(asked="ready=2"), seconds=5)
    assert condition(stage.status(), "Ready")["lastTransitionTime"] == "2026-01-01T00:00:02Z"
    told = {each["type"] for each in stage.status()["conditions"]}
    assert told == {"Initialized", "ContainersReady", "Ready"}


def test_a_condition_that_holds_takes_its_reason_back() -> None:
    """Why a pod was not ready is told while it is not, and taken back when it is."""
    before, after = (
        status for _, status in Stage().run(pod(asked="ready=2"), seconds=5).statuses()
    )
    assert condition(before, "Ready")["reason"] == "ContainersNotReady"
    assert condition(after, "Ready")["reason"] is condition(after, "Ready")["message"] is None


def test_a_restart_tells_the_end_before_it() -> None:
    """The last end is shown with its code, its times and its container id."""
    stage = Stage().run(pod(asked="crash=2;code=9"), seconds=2.5)
    [web] = stage.status()["containerStatuses"]
    end = web["lastState"]["terminated"]
    assert (end["exitCode"], end["reason"]) == (9, "Error")
    assert (end["startedAt"], end["finishedAt"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:00:02Z")
    assert end["containerID"] != web["containerID"]


def test_an_evicted_pod_fails_and_says_why() -> None:
    """The pod is Failed with the reason Evicted, and nothing in it runs."""
    stage = Stage().run(pod(asked="evicted=1"), seconds=2)
    status = stage.status()
    assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
    assert "low on resource: memory" in status["message"]


def test_a_running_container_changes_its_mind_at_once() -> None:
    """A behaviour that a running container can show begins when it is asked for."""
    item = pod()
    stage = Stage().run(item, seconds=10).run(asking(item, "crash=0.5"), seconds=1)
    assert stage.trail()[:3] == [(0.0, "ready"), (10.0, "running"), (10.5, "Error 1")]


def test_a_running_container_needs_no_image() -> None:
    """A registry that fails hurts a container only at its next start."""
    item = pod(asked="ready-then-crash=5")
    stage = Stage().run(item, seconds=2).run(asking(item, "image-pull"), seconds=6)
    assert stage.states()[:4] == ["ready", "Error 1", "ErrImagePull", "ImagePullBackOff"]


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


def test_what_never_tries_again_is_well_at_once() -> None:
    """A container without an image name takes up a new behaviour when it is asked for."""
    item = pod(asked="invalid-image-name")
    stage = Stage().run(item, seconds=25).run(asking(item, "ready"), seconds=1)
    assert stage.trail()[-1] == (25.0, "ready")


def test_a_mount_that_comes_late_starts_the_pod() -> None:
    """A pod that waited for its volume starts when that is there."""
    item = pod(asked="mount-error", init=[MIGRATE])
    stage = Stage().run(item, seconds=5)
    assert stage.states() == ["PodInitializing"]
    stage.run(asking(item, "ready"), seconds=1)
    assert stage.states()[-1] == "ready"

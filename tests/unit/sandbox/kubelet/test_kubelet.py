"""The kubelet in process: nodes, pods and logs of a sandbox, through its API and in its time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from sandbox.api.api import Api, Writer
from sandbox.api.asked import Admission
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.kubelet import behaviour
from sandbox.kubelet.kubelet import Kubelet
from sandbox.kubelet.states import Pace
from sandbox.storage.store import Change, Key
from sandbox.times import Names, Timers

TEAM = Writer("team", "kubectl")
WEB = Key("pods", "default", "web")


def body(asked: str = "", name: str = "web", **spec: object) -> JSON:
    """Return a pod as somebody creates it."""
    annotations = {behaviour.ANNOTATION: asked} if asked else {}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"containers": [{"name": "web", "image": "shop/web:1"}], **spec},
    }


class Bed:
    """An API with a kubelet, in virtual time."""

    def __init__(self, nodes: tuple[str, ...] = ("sandbox-0",)) -> None:
        self.timers = Timers(datetime(2026, 1, 1, tzinfo=UTC))
        self.api = Api(self.timers, Names())
        self.kubelet = Kubelet(self.api, self.timers, Names(1), nodes=nodes, pace=Pace.NODE)
        self.kubelet.start()
        self.seen: list[tuple[float, Change]] = []
        self.api.store.listen("pods", lambda change: self.seen.append((self.timers.now(), change)))

    def run(self, seconds: float = 1.0) -> None:
        """Let time pass."""
        self.timers.run_due(self.timers.now() + seconds)

    def create(self, pod: JSON) -> None:
        """Create a pod and let a moment pass."""
        self.api.create("pods", "default", pod, TEAM)
        self.run(0.05)

    def pod(self) -> JSON:
        """Return the pod `web`."""
        return self.api.get(WEB)

    def gone(self) -> bool:
        """Whether the pod `web` is no more."""
        return self.api.store.get(WEB) is None


@pytest.fixture
def bed() -> Bed:
    """Return a bed with one node."""
    return Bed()


def is_ready(pod: JSON) -> bool:
    """Whether a pod says that it is ready."""
    conditions = pod["status"].get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def test_a_pod_that_goes_in_mid_flight_disturbs_nobody(bed: Bed) -> None:
    """Requests on their way to a pod that has gone are dropped; another of its name is played."""
    for pod in (body(), body("mount-error")):
        bed.api.create("pods", "default", pod, TEAM)
        bed.run(0.0015)
        bed.api.store.remove(WEB)
    bed.create(body())
    bed.run()
    assert is_ready(bed.pod())


def test_a_request_that_makes_no_sense_is_a_loud_mistake(bed: Bed) -> None:
    """A refusal that no pod explains ends the run: nothing is swallowed."""

    def refuse(_: Admission) -> None:
        raise ApiError(500, "", "out of order")

    bed.create(body())
    bed.api.admissions.append(refuse)
    bed.kubelet.evict("default", "web")
    with pytest.raises(ApiError, match="out of order"):
        bed.run()


def test_the_same_run_is_the_same_again() -> None:
    """Two sandboxes with the same calls at the same times hold the same bytes."""

    def history() -> list[tuple[float, Change]]:
        bed = Bed(("a", "b"))
        for name in ("web", "api", "job"):
            bed.create(body("crash=0.2", name=name))
        bed.run(100)
        return bed.seen

    assert history() == history()


def refused(read: Callable[[], bytes]) -> tuple[int, str]:
    """Return the status and the message of a refusal."""
    with pytest.raises(ApiError) as raised:
        read()
    return raised.value.status, raised.value.message


def test_logs_are_refused_as_the_server_does(bed: Bed) -> None:
    """Unknown pods and containers, several containers, and what has not started."""
    log = bed.kubelet.log
    images = [{"name": name, "image": "shop/web:1"} for name in ("web", "proxy")]
    init = [{"name": "init", "image": "shop/init:1"}]
    bed.create(body("init-crash", containers=images, initContainers=init))
    assert refused(lambda: log("default", "nix")) == (404, 'pods "nix" not found')
    assert refused(lambda: log("default", "web", "db")) == (
        400,
        "container db is not valid for pod web",
    )
    choice = "a container name must be specified for pod web, choose one of: [init web proxy]"
    assert refused(lambda: log("default", "web")) == (400, choice)
    assert refused(lambda: log("default", "web", "web")) == (
        400,
        'container "web" in pod "web" is waiting to start: PodInitializing',
    )

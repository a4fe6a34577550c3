"""A scenario while it plays: images that turn bad, what others do, and what is refused."""

from __future__ import annotations

import pytest

from sandbox.json import dig
from sandbox.scenario.document import Report
from sandbox.scenario.play import Happening, Play
from sandbox.scenario.scenario import parse
from tests.unit.sandbox.bed import NAMESPACE, Bed, web

BEFORE_SECONDS = 7.3
"""How old the sandbox is when a scenario is started: its times do not count from there."""


class Theatre(Bed):
    """A bed in which `web` runs, and a scenario that has just been started."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.deploy(web(3))
        self.timers.run_due(BEFORE_SECONDS)
        self.play = Play(parse(text, Report("s.yaml")), self.api, self.kubelet, NAMESPACE)
        self.play.start()

    def at(self, seconds: float) -> Theatre:
        """Let the scenario come to a second, and a moment more for what follows from it."""
        self.timers.run_due(BEFORE_SECONDS + seconds + 0.1)
        return self

    def managers(self) -> set[str]:
        """Return who has written the Deployment."""
        return {entry["manager"] for entry in self.deployment["metadata"]["managedFields"]}


@pytest.mark.parametrize(
    ("event", "path", "value", "manager"),
    [
        ("scale web 5", ("spec", "replicas"), 5, None),
        ("pause web", ("spec", "paused"), True, "kubectl-rollout"),
        ("edit web spec.minReadySeconds=7", ("spec", "minReadySeconds"), 7, "kubectl-edit"),
        (
            "edit web metadata.annotations.by=a = b",
            ("metadata", "annotations", "by"),
            "a = b",
            None,
        ),
        ("scale shop/web 0", ("spec", "replicas"), 0, None),
    ],
)
def test_an_event_changes_the_deployment_as_kubectl_does(
    event: str, path: tuple[str, ...], value: object, manager: str | None
) -> None:
    """The field has the value, and its owner is the command that writes it in real life."""
    theatre = Theatre(f"events: {{5s: {event}}}")
    assert dig(theatre.at(4).deployment, *path) != value
    assert dig(theatre.at(5).deployment, *path) == value
    assert manager is None or manager in theatre.managers()
    assert theatre.play.happened == (Happening(5.0, event),)


def test_a_pause_ends() -> None:
    """`resume` takes the pause back."""
    theatre = Theatre("events: {5s: pause web, 6s: resume web}").at(6)
    assert not theatre.deployment["spec"].get("paused")


@pytest.mark.parametrize(
    ("event", "image", "manager"),
    [
        ("supersede web shop/web:9", "shop/web:9", "kubectl-set"),
        ("restart web", "shop/web:1", "kubectl-rollout"),
    ],
)
def test_a_template_is_replaced(event: str, image: str, manager: str) -> None:
    """All pods are new afterwards, and run what was asked for."""
    theatre = Theatre(f"events: {{5s: {event}}}")
    before = {pod["metadata"]["uid"] for pod in theatre.pods}
    pods = theatre.at(6).pods
    assert {pod["spec"]["containers"][0]["image"] for pod in pods} == {image}
    assert not before & {pod["metadata"]["uid"] for pod in pods}
    assert manager in theatre.managers()


def test_the_newest_pods_are_deleted_first() -> None:
    """In mid-rollout `delete-pod` meets the pods of the new version."""
    text = """
images: {"shop/web:2": never-ready}
events: {1s: supersede web shop/web:2, 5s: delete-pod web 1}
"""
    theatre = Theatre(text).at(4)
    before = {pod["metadata"]["uid"]: pod for pod in theatre.pods}
    after = {pod["metadata"]["uid"] for pod in theatre.at(6).pods}
    [gone] = [pod for uid, pod in before.items() if uid not in after]
    assert gone["spec"]["containers"][0]["image"] == "shop/web:2"


def test_an_evicted_pod_is_replaced_and_stays_as_a_witness() -> None:
    """`evict-pod` leaves a failed pod, and its ReplicaSet makes another; each counts once."""
    theatre = Theatre("events: {5s: evict-pod web 2, 6s: evict-pod web}").at(6)
    evicted = [pod for pod in theatre.pods if pod["status"].get("reason") == "Evicted"]
    assert len(evicted) == 3
    assert theatre.deployment["status"]["readyReplicas"] == 3


def test_a_quota_comes_changes_and_goes() -> None:
    """`quota` is a ResourceQuota of the namespace, which `quota none` takes away."""
    text = "events: {1s: quota pods=3 services=1, 2s: quota pods=4, 3s: quota none}"
    theatre = Theatre(text)
    hard = [
        [quota["spec"]["hard"] for quota in theatre.at(second).api.store.items("resourcequotas")]
        for second in (1, 2, 3)
    ]
    assert hard == [[{"pods": "3", "services": "1"}], [{"pods": "4"}], []]


def test_what_is_refused_is_remembered_and_the_rest_goes_on() -> None:
    """An event that the API server refuses stops nobody."""
    theatre = Theatre("events: {1s: [scale nix 5, quota none, scale web 4]}").at(1)
    assert [happening.refusal for happening in theatre.play.happened] == [
        'deployments.apps "nix" not found',
        'resourcequotas "scenario" not found',
        "",
    ]
    assert theatre.deployment["spec"]["replicas"] == 4

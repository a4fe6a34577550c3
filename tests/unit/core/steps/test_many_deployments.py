"""Of many Deployments an observation costs only the one that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.kinds.deployment.objects import ReplicaSet, deployment_ref
from gate.core.kinds.registry import unseen
from gate.core.model.fact import Absent
from gate.core.model.objects import Pod, Watched
from gate.core.plan.plan import Plan, Target
from gate.core.protocol.events import Recorded, Woke
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.policy import Policy
from gate.core.ssa import applied_fields
from gate.core.steps.step import begin, step, wake_at
from tests.unit.core.leaves import manifest
from tests.unit.core.player import Player, planned
from tests.unit.core.server import Server
from tests.unit.core.world import (
    NAMESPACE,
    container,
    crashing,
    deployment,
    later,
    pod,
    replica_set,
    warning,
)

COUNTED = ("observe", "ruling", "wake_at")


def ref_of(name: str) -> Any:
    """Name a Deployment."""
    return deployment_ref(NAMESPACE, name)


def set_of(name: str, **changes: Any) -> ReplicaSet:
    """Make the ReplicaSet of a Deployment."""
    return replica_set(f"{name}-2", owner_uid=f"{name}-uid", **changes)


def pod_of(name: str, *containers: Any, **changes: Any) -> Pod:
    """Make the pod of a Deployment."""
    uid = f"{name}-pod-uid"
    named = {"name": f"{name}-pod", "uid": uid, "owner_uid": f"{name}-2-uid", **changes}
    return pod(0, *containers, **named)


def objects_of(name: str) -> tuple[Watched, ...]:
    """Make a Deployment of two pods of which one is ready."""
    counters = {"replicas": 2, "ready_replicas": 1, "available_replicas": 1}
    web = deployment(ref=ref_of(name), uid=f"{name}-uid", **counters)
    return web, set_of(name, **counters), pod_of(name)


def following(count: int) -> Attempt:
    """Follow that many Deployments that are not complete yet."""
    targets = []
    for number in range(count):
        snapshot = unseen(ref_of(f"web-{number}"))
        for thing in objects_of(f"web-{number}"):
            snapshot = snapshot.fold(Observed(0.0, thing))
        targets.append(Target(snapshot.ref, snapshot, Absent()))
    plan = Plan("verify", tuple(targets), (), (), Policy(), may_retreat=False)
    attempt, (save,) = begin(plan, 0.0)
    attempt, _ = step(attempt, Recorded(0.1, save.effect_id))  # type: ignore[union-attr]
    assert attempt.course.state is State.FOLLOWING
    return attempt


def counting(monkeypatch: pytest.MonkeyPatch, names: Iterable[str] = COUNTED) -> Counter[str]:
    """Count the calls of a rollout's methods from now on."""
    calls: Counter[str] = Counter()

    def counted(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            calls[name] += 1
            return method(*arguments)

        return call

    for name in names:
        monkeypatch.setattr(Rollout, name, counted(name, getattr(Rollout, name)))
    return calls


@pytest.mark.contract("B280")
@pytest.mark.parametrize("count", [2, 60])
@pytest.mark.parametrize(
    "events",
    [
        [Observed(1.0, later(pod_of("web-1", container(ready=False)), 200))],
        [Observed(1.0, later(set_of("web-1", available_replicas=2), 200))],
        [Observed(1.0, warning(pod_of("web-1"), "Unhealthy", "HTTP 500"))],
        [Vanished(1.0, Kind.POD, "web-1-pod-uid")],
        [Listed(1.0, Kind.POD, ref_of("web-1"), tuple(pod_of(f"web-{n}") for n in range(60)))],
    ],
    ids=["pod", "replica set", "event", "vanished", "listed"],
)
def test_an_observation_is_taken_in_and_judged_by_one_deployment(
    monkeypatch: pytest.MonkeyPatch, count: int, events: list[Observed]
) -> None:
    """As often among 60 as among 2: by the one that it is about."""
    attempt = following(count)
    before = attempt.workloads.rollouts
    calls = counting(monkeypatch)
    for event in events:
        attempt, _ = step(attempt, event)
        wake_at(attempt)
    assert max(calls[name] for name in COUNTED) == 1, calls
    after = attempt.workloads.rollouts
    assert [one.name for one in after if after[one] is not before[one]] in ([], ["web-1"])


@pytest.mark.contract("B280")
def test_time_that_passes_judges_nobody_whose_clock_has_not_run_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A moment before the first clock runs out nobody is judged, and then all whose clock it is."""
    attempt = following(5)
    due_at = min(one.wake_at(0.1) for one in attempt.workloads.rollouts.values())
    calls = counting(monkeypatch, ["ruling"])
    attempt, _ = step(attempt, Woke(due_at - 0.001))
    assert not calls
    step(attempt, Woke(due_at))
    assert calls["ruling"] >= 5


def test_what_comes_before_its_owner_is_kept_by_all() -> None:
    """A pod that is seen before its ReplicaSet counts once that is seen: it was told to all."""
    attempt = following(3)
    new = set_of("web-2", template=deployment().template, created_at="2026-11-21T11:00:00Z")
    new = later(new, 300, name="web-2-new", uid="new-uid")
    early = pod_of("web-2", crashing(4), uid="early-uid", owner_uid="new-uid")
    attempt, _ = step(attempt, Observed(1.0, early))
    attempt, _ = step(attempt, Observed(1.1, new))
    attempt, _ = step(attempt, Observed(1.2, later(early, 400)))
    rollout = attempt.workloads.rollouts[ref_of("web-2")]
    assert rollout.followed_uid == "new-uid"
    assert "early-uid" in rollout.troubles
    assert attempt.workloads.owners.refs["early-uid"] == ref_of("web-2")


@pytest.mark.contract("B280")
@pytest.mark.parametrize("count", [2, 8])
def test_the_end_works_out_once_what_was_applied_of_each_object(count: int) -> None:
    """The history of each Deployment names all objects of its set: their digests are shared."""
    server = Server()
    bodies = [manifest("v1", name=f"web-{number}") for number in range(count)]
    for body in bodies:
        server.put(body)
    news = [manifest("v2", name=f"web-{number}") for number in range(count)]
    player = Player(server, planned(server, *news))
    player.run()
    assert player.attempt.ended
    applied_fields.extract_applied.cache_clear()
    closed = closed_of(player.attempt)
    assert len(closed.workloads) == count
    assert applied_fields.extract_applied.cache_info().misses <= 2 * count
    assert len({id(one.bodies) for one in closed.workloads}) == 1

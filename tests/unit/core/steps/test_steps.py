"""Steps of an attempt: the timeline, many Deployments, the last causes of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet, deployment_ref
from gate.core.model.fact import Absent
from gate.core.model.objects import Pod, Watched
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Plan, Target
from gate.core.protocol.effects import Write
from gate.core.protocol.events import (
    AttemptEvent,
    ContactLost,
    ContactRestored,
    Interrupted,
    Recorded,
    Woke,
    WriteUncertain,
)
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.core.rollout.policy import Policy
from gate.core.ssa import applied_fields
from gate.core.steps.step import begin, step, wake_at
from tests.table import each
from tests.unit.core import world
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Bent, Player, planned, rolling_out, serving
from tests.unit.core.server import Server
from tests.unit.core.world import (
    NAMESPACE,
    container,
    crashing,
    deployment,
    later,
    pod,
    replica_set,
    snapshot_of,
    waiting,
    warning,
)

SHED, DOWN = "429 Too Many Requests", "503 Service Unavailable"


def rolling() -> Player:
    """Return an attempt that follows a version whose pods do not get ready."""
    player = rolling_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    return player


def test_a_pods_trouble_is_told_once_a_cause() -> None:
    """Restarts count up without a line each; another cause is news; not being ready is not."""
    player = rolling()
    owner = player.attempt.workloads.rollouts[player.web].followed_uid
    one = world.pod(7, world.container(ready=False), owner_uid=owner)
    killed = world.crashing(2, last_terminated=world.terminated("OOMKilled", 137))
    for version, status in enumerate(
        (world.crashing(1), world.crashing(2), killed, world.container()), start=5000
    ):
        seen = replace(one, containers=(status,), resource_version=str(version))
        player.hear(Observed(player.attempt.now, seen))
    assert player.lines("pod") == [
        "pod/web-2-p7: CrashLoop: web: Error, exit code 1, 1 restart",
        "pod/web-2-p7: OutOfMemory: web: OOMKilled, exit code 137, 2 restarts",
    ]


def test_a_denial_is_told_of_the_deployment_that_it_is_about() -> None:
    """The ReplicaSet of one Deployment is not told as trouble of another one."""
    server = serving(manifest("v1", "api"), v2="stuck", v3="stuck")
    player = Player(server, planned(server, manifest("v2"), manifest("v3", "api")))
    player.run_to(State.FOLLOWING)
    player.behave("denied", "v2")
    assert player.lines("denied") == [
        "deployment/web: replicaset/web-2: denied the request: not here"
    ]


@pytest.mark.contract("B29")
def test_contact_and_signals_are_told() -> None:
    """Lost once, back once, and which signal it was."""
    player = rolling()
    now = player.attempt.now
    for event in (
        ContactLost(now, "refused"),
        ContactLost(now, "refused"),
        ContactRestored(now),
        ContactRestored(now),
        Interrupted(now, 15),
        Interrupted(now, 2),
    ):
        player.hear(event)
    assert player.lines("contact") == [
        ("the API server is unreachable: refused; the gate goes on, and asks again"),
        "the API server serves requests again",
    ]
    assert player.lines("signal") == ["SIGTERM received"]


@pytest.mark.contract("B1631")
@each(
    ("answers", "said"),
    [
        (("",), "the API server is unreachable: no"),
        ((SHED,), f"requests to the API server have got only {SHED} for 9 s: no"),
        ((DOWN, SHED), f"requests to the API server have got only {SHED} or {DOWN} for 9 s: no"),
        (("", SHED), f"requests to the API server have got {SHED}, or no answer, for 9 s: no"),
    ],
)
def test_a_server_that_answers_is_not_said_to_be_unreachable(
    answers: tuple[str, ...], said: str
) -> None:
    """What came, and since when no request has succeeded, up to now; and so does the end."""
    player = rolling()
    now = player.attempt.now
    player.hear(ContactLost(now, "no", 9.0, answers))
    assert player.lines("contact") == [f"{said}; the gate goes on, and asks again"]
    contact = player.attempt.interference.contact
    assert contact.describe_trouble(now + 20.0) == said.replace(" 9 s", " 29 s")
    assert contact.trouble is not None
    ends = said.replace(" to the API server have", "").replace(" for 9 s", "")
    assert contact.trouble.why == (ends if any(answers) else "no")


def unclear(why: str, answer: str) -> Bent:
    """Answer a write with an error, or with nothing."""

    def bent(player: Player, effect: Write) -> AttemptEvent:
        return WriteUncertain(player.attempt.now, effect.effect_id, why, answer=answer)

    return bent


@pytest.mark.contract("B1701")
def test_what_a_write_gets_in_place_of_an_answer_is_told_once_until_it_changes() -> None:
    """A server that answers has its words told; only where nothing came the answer was lost."""
    player = rolling_out(config("a"), v2="stuck")
    player.bend(Write, unclear("no webhook", SHED), times=3)
    player.bend(Write, unclear("reset", ""))
    player.bend(Write, unclear("refused", ""))
    player.bend(Write, unclear("late", DOWN))
    player.run_to(State.FOLLOWING)
    said = "configmap/settings: the server answered with"
    assert player.lines("retry") == [
        f"{said} {SHED}: no webhook; reading again",
        "configmap/settings: its answer was lost; reading again",
        f"{said} {DOWN}: late; reading again",
    ]


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


def objects_of(name: str) -> tuple[Deployment, ReplicaSet, Pod]:
    """Make a Deployment of two pods of which one is ready."""
    counters = {"replicas": 2, "ready_replicas": 1, "available_replicas": 1}
    web = deployment(ref=ref_of(name), uid=f"{name}-uid", **counters)
    return web, set_of(name, **counters), pod_of(name)


def following(*workloads: tuple[Deployment, *tuple[Watched, ...]]) -> Attempt:
    """Follow Deployments, each given with its ReplicaSets and pods, as `verify` does."""
    seen = [snapshot_of(web.ref, web, *parts) for web, *parts in workloads]
    targets = tuple(Target(snapshot.ref, snapshot, Absent()) for snapshot in seen)
    attempt, (save,) = begin(Plan("verify", targets, (), (), Policy()), 0.0)
    attempt, _ = step(attempt, Recorded(0.1, save.effect_id))  # type: ignore[union-attr]
    assert attempt.course.state is State.FOLLOWING
    return attempt


def unfinished(count: int) -> Attempt:
    """Follow that many Deployments that are not complete yet."""
    return following(*(objects_of(f"web-{number}") for number in range(count)))


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
    attempt = unfinished(count)
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
    attempt = unfinished(5)
    due_at = min(one.wake_at(0.1) for one in attempt.workloads.rollouts.values())
    calls = counting(monkeypatch, ["ruling"])
    attempt, _ = step(attempt, Woke(due_at - 0.001))
    assert not calls
    step(attempt, Woke(due_at))
    assert calls["ruling"] >= 5


def test_what_comes_before_its_owner_is_kept_by_all() -> None:
    """A pod that is seen before its ReplicaSet counts once that is seen: it was told to all."""
    attempt = unfinished(3)
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
    server, names = Server(), [f"web-{number}" for number in range(count)]
    for name in names:
        server.put(manifest("v1", name))
    attempt = Player(server, planned(server, *(manifest("v2", name) for name in names))).run()
    assert attempt.ended
    applied_fields.extract_applied.cache_clear()
    closed = closed_of(attempt)
    assert len(closed.workloads) == count
    assert applied_fields.extract_applied.cache_info().misses <= 2 * count
    assert len({id(one.bodies) for one in closed.workloads}) == 1


PULLING: Final = waiting("ErrImagePull", "no such host")
NONE: Final = {"status_replicas": 0, "updated_replicas": 0, "generation": 9}
WEB: Final = deployment(replicas=2, available_replicas=0, ready_replicas=0, updated_replicas=2)
TROUBLED: Final = (pod(0, PULLING, ready=False), pod(1, PULLING, ready=False))
NOUGHT: Final = Observed(2.0, later(WEB, 300, replicas=0, observed_generation=9, **NONE))
"""Somebody's 0, which the controller has seen."""
GONE: Final = [Vanished(2.0, Kind.POD, one.uid) for one in TROUBLED]
WELL: Final = pod(2)


@pytest.mark.contract("B1615")
@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([NOUGHT, *GONE], 2),
        ([*GONE, NOUGHT], 1),
        ([GONE[0], NOUGHT, GONE[1]], 1),
        ([*GONE, Observed(2.0, WELL), NOUGHT, Vanished(2.0, Kind.POD, WELL.uid)], 0),
    ],
    ids=["number first", "pods first", "between", "replaced by one that is well"],
)
def test_the_last_causes_are_kept(events: Sequence[Observed | Vanished], count: int) -> None:
    """As the last of the pods went or the 0 was seen, whichever a watch tells first."""
    attempt = following((WEB, replica_set(replicas=2), *TROUBLED))
    for event in events:
        attempt, _ = step(attempt, event)
    attempt, _ = step(attempt, Woke(60.0))
    ending = attempt.result.endings[WEB.ref]
    assert ending.reason is Reason.SCALED_TO_ZERO
    pulls = [one.pods for one in ending.causes if one.reason is Reason.IMAGE_PULL]
    assert pulls == [count] * bool(count), ending.causes

"""What was complete and does not serve any more has failed; what passes by itself has not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.model.int_or_percent import Share
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.lost_availability import LEAST_SECONDS, SOME_LEFT_SECONDS
from gate.core.rollout.observations import Kind, Vanished
from gate.core.rollout.policy import Budgets, Policy, Requirement
from tests.unit.core.world import (
    BOUND_SECONDS,
    Scene,
    after,
    container,
    deployment,
    later,
    pod,
    pods,
    replica_set,
)

FAILED, PROGRESSING = VerdictKind.FAILED, VerdictKind.PROGRESSING
COMPLETE = VerdictKind.COMPLETE
BAKED = Scene(
    pods=tuple(pods(4)), policy=Policy(budgets=Budgets(bake_seconds=3600.0)), total_seconds=3600.0
)
UNREADY = (container(ready=False),)


def lost(
    rollout: Rollout, at: float, *numbers: int, version: int = 200, left: int | None = None
) -> Rollout:
    """Let pods lose readiness, and the controllers count it; `left` are ready then."""
    ready = 4 - len(numbers) if left is None else left
    counted = {"available_replicas": ready, "ready_replicas": ready}
    bad = [later(pod(number), version, containers=UNREADY, ready=False) for number in numbers]
    web = later(deployment(), version, **counted)
    return after(rollout, at, *bad, web, later(replica_set(), version, **counted))


def fails_at(rollout: Rollout, moment: float) -> bool:
    """Tell whether it has not failed just before `moment`, and is woken to fail at it."""
    before, at = rollout.verdict(moment - 0.001), rollout.verdict(moment)
    woken = rollout.wake_at(moment - 0.001) <= moment
    return before.kind is PROGRESSING and at.reason is Reason.AVAILABILITY_LOST and woken


@pytest.mark.contract("B54", "B84")
@pytest.mark.parametrize(
    ("count", "seconds", "said"),
    [
        (4, LEAST_SECONDS, "none of the 4 pods that served is ready any more, for 15 s"),
        (
            2,
            LEAST_SECONDS + SOME_LEFT_SECONDS,
            "2 of the 4 pods that served are not ready any more, for 75 s",
        ),
    ],
)
def test_a_version_of_which_pods_are_lost_has_failed_soon(
    count: int, seconds: float, said: str
) -> None:
    """15 s, and not the deadline of 600 s, where none is ready any more; later while some are."""
    rollout = lost(BAKED.seen(), 100.0, *range(count))
    assert fails_at(rollout, 100.0 + seconds)
    assert rollout.verdict(100.0 + seconds).message == said


@pytest.mark.contract("B84")
def test_a_version_that_starts_slowly_may_come_back_slowly() -> None:
    """Its slowest start took 40 s: one and a half of that."""
    starting = [later(one, 90, containers=UNREADY, ready=False) for one in pods(4)]
    begun = after(replace(BAKED, pods=()).rollout(), 1.0, *starting)
    rollout = after(begun, 41.0, *BAKED.pods, BAKED.web, *BAKED.sets)
    assert rollout.verdict(41.0).kind is COMPLETE
    assert fails_at(lost(rollout, 100.0, 0, 1, 2, 3), 160.0)


@pytest.mark.contract("B84")
@pytest.mark.parametrize(
    ("start_seconds", "grace_seconds"),
    [
        (None, LEAST_SECONDS),
        (4.0, LEAST_SECONDS),
        (40.0, 60.0),
        (BOUND_SECONDS + 1.0, LEAST_SECONDS),
    ],
)
def test_a_start_that_nobody_saw_is_told_by_the_pod_itself(
    start_seconds: float | None, grace_seconds: float
) -> None:
    """Pods that were ready when they were seen first; none takes longer than a deadline."""
    scene = replace(BAKED, pods=tuple(pods(4, start_seconds=start_seconds)))
    assert fails_at(lost(scene.seen(), 100.0, 0, 1, 2, 3), 100.0 + grace_seconds)


@pytest.mark.contract("B84")
def test_a_pod_that_comes_back_ends_the_loss() -> None:
    """And another loss counts from its own beginning."""
    rollout = lost(BAKED.seen(), 100.0, 0, 1, 2, 3)
    counted = later(replica_set(available_replicas=1, ready_replicas=1), 210)
    rollout = after(rollout, 110.0, later(pod(0), 210), counted)
    assert rollout.verdict(150.0).kind is PROGRESSING
    rollout = lost(rollout, 160.0, 0, version=220, left=0)
    assert fails_at(rollout, 175.0)


@pytest.mark.contract("B87", "B91")
def test_one_slow_restart_among_several_is_no_loss() -> None:
    """The clocks decide on it, as on any pod."""
    rollout = lost(BAKED.seen(), 100.0, 0)
    assert rollout.verdict(700.0).kind is PROGRESSING


@pytest.mark.contract("B81", "B91")
@pytest.mark.parametrize(
    "how",
    [
        {"deleting": True},
        {"phase": "Failed", "reason": CleanText("Evicted")},
        {"node_silent": True},
    ],
)
def test_what_a_node_does_is_no_loss(how: dict[str, Any]) -> None:
    """Drained, evicted or out of sight, with replacements that are not ready yet."""
    begun = BAKED.seen()
    counted = {"available_replicas": 0, "ready_replicas": 0}
    web, new = later(deployment(), 200, **counted), later(replica_set(), 200, **counted)
    fresh = pods(4, *UNREADY, first=10)
    gone = (later(one, 200, ready=False, **how) for one in BAKED.pods)
    rollout = after(begun, 100.0, *gone, web, new, *fresh)
    assert rollout.verdict(699.0).kind is PROGRESSING
    for one in BAKED.pods:
        rollout = rollout.observe(Vanished(110.0, Kind.POD, one.uid))
    assert rollout.verdict(699.0).kind is PROGRESSING


@pytest.mark.contract("B56", "B84")
def test_where_a_part_suffices_what_is_left_may() -> None:
    """Two of four are enough for the policy, and complete."""
    half = replace(BAKED.policy, requirement=Requirement(require=Share.parse("50%")))
    scene = replace(BAKED, policy=half)
    assert lost(scene.seen(), 100.0, 0, 1).verdict(500.0).kind is COMPLETE


@pytest.mark.contract("B84", "B116")
def test_a_loss_in_blind_time_does_not_count() -> None:
    """Nobody sees whether they are back."""
    rollout = lost(BAKED.seen(), 100.0, 0, 1, 2, 3).without_facts(105.0)
    assert fails_at(rollout.read_well(205.0), 215.0)


@pytest.mark.contract("B84", "B137")
@pytest.mark.parametrize(
    "scene",
    [replace(BAKED, deadline_decides=False), replace(BAKED, pods=())],
    ids=["back", "unseen"],
)
def test_a_rollback_and_pods_that_nobody_saw_lose_nothing(scene: Scene) -> None:
    """The one has its total alone, of the others nothing is known."""
    assert lost(scene.seen(), 100.0, 0, 1, 2, 3).verdict(500.0).kind is PROGRESSING

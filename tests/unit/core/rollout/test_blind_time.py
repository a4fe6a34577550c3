"""Blind time: what nobody could see, or nobody did, is no lack of progress."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gate.core.attempt.transitions import State
from gate.core.kinds.deployment.objects import Deployment, ReplicaSet
from gate.core.model.objects import Watched
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Read
from gate.core.protocol.events import AttemptEvent, ContactFailed
from gate.core.rollout.blind_time import CONDITION_STANDS_SECONDS
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.observations import Observed
from gate.core.states.reads import read_interval_seconds
from tests.table import each
from tests.unit.core.player import Player, rolling_out
from tests.unit.core.world import (
    DEADLINE_EXCEEDED,
    Scene,
    after,
    condition,
    container,
    deployment,
    later,
    old_replica_set,
    pods,
    replica_set,
    waiting,
)

FAILED, PROGRESSING = VerdictKind.FAILED, VerdictKind.PROGRESSING
NOT_OBSERVING = Reason.CONTROLLER_NOT_OBSERVING
WEB: Deployment = deployment(available_replicas=3, updated_replicas=4, status_replicas=7)
NEW: ReplicaSet = replica_set(ready_replicas=0, available_replicas=0)
STUCK = Scene(
    web=WEB,
    sets=(NEW, old_replica_set(replicas=3)),
    pods=tuple(pods(4, container(ready=False))),
    before=(old_replica_set(replicas=4, resource_version="50"),),
    total_seconds=7200.0,
)
"""Nothing moves from 1 s on; the deadline is 600 s, so that the own clock fires at 606 s."""


def fails_between(rollout: Rollout, early: float, late: float) -> bool:
    """Tell whether it has not failed at `early`, and has at `late`."""
    return (rollout.verdict(early).kind, rollout.verdict(late).kind) == (PROGRESSING, FAILED)


# -- facts that do not arrive ----------------------------------------------------------------------


@pytest.mark.contract("B102", "B116")
def test_time_without_facts_is_taken_off_the_no_progress_clock() -> None:
    """Seen last at 100 s, and read again at 300 s: the clock stood for 200 s, and says so."""
    rollout = STUCK.seen().without_facts(100.0).read_well(300.0)
    assert fails_between(rollout, 805.9, 806.0)
    message = rollout.verdict(806.0).message
    assert message == "no progress for 605 s (the gate's own clock; 200 s more do not count)"
    assert rollout.wake_at(700.0) == 806.0


UNREAD = "nothing of it could be read from the API server for"


def unread(rollout: Rollout, now: float) -> list[str]:
    """Return the causes that say for how long nothing could be read."""
    return [one.message for one in rollout.causes(now) if one.reason is Reason.UNREACHABLE]


@pytest.mark.contract("B1310")
@each(
    ("begins", "ends", "now", "said"),
    [
        (100.0, 500.0, 600.0, "400 s of 600 s"),
        (100.0, math.inf, 600.0, "500 s of 600 s"),
        (100.0, 400.0, 600.0, "300 s of 600 s"),
        (100.0, 395.0, 600.0, None),  # less than half
        (5.0, 9.0, 20.0, None),  # no longer than one slow request
        (100.0, 200.0, 710.0, None),  # in sight for its whole deadline
    ],
)
def test_missing_facts_are_a_cause_where_too_little_was_seen(
    begins: float, ends: float, now: float, said: str | None
) -> None:
    """A version that was in sight for its whole deadline is late by itself."""
    rollout = STUCK.seen().without_facts(begins)
    rollout = rollout if math.isinf(ends) else rollout.read_well(ends)
    assert unread(rollout, now) == ([] if said is None else [f"{UNREAD} {said}"])


@pytest.mark.contract("B1435")
def test_what_the_gate_slept_through_is_in_no_cause() -> None:
    """The server was away for 100 s before the sleep of 500 s, and 60 s passed until the read."""
    rollout = STUCK.seen().without_facts(100.0).after_suspension(700.0, 500.0).read_well(760.0)
    assert unread(rollout, 800.0) == [f"{UNREAD} 160 s of 300 s"]


EXPIRED = later(WEB, 300, conditions=(DEADLINE_EXCEEDED,))
REFUSED = waiting("ErrImagePull", "shop/web:2: not found")
PULLING = replace(STUCK, pods=tuple(pods(4, REFUSED, ready=False)))


def blind(*beginnings: float, seconds: float) -> Rollout:
    """Return the rollout after nobody saw it for so many seconds from each of these moments."""
    rollout = STUCK.seen()
    for began in beginnings:
        rollout = rollout.without_facts(began).read_well(began + seconds)
    return rollout


FAILS_AT = {
    "without facts the clock stands": (STUCK.seen().without_facts(100.0), 1206.0),
    "at most one deadline is taken off": (blind(10.0, 400.0, 800.0, seconds=300.0), 1206.0),
    "facts that come while some are missing end nothing": (
        after(STUCK.seen().without_facts(100.0), 200.0, later(WEB, 200)).read_well(300.0),
        806.0,
    ),
    "the total goes on": (replace(STUCK, total_seconds=600.0).seen().without_facts(100.0), 600.0),
    "a grace stands": (PULLING.seen().without_facts(10.0).read_well(50.0), 71.0),
    "a grace stands while the gate sleeps": (
        PULLING.seen().after_suspension(60.0, 50.0).read_well(61.0),
        82.0,
    ),
    "so it does for what was seen right before": (
        after(STUCK.seen().after_suspension(60.0, 50.0), 9.0, *PULLING.pods).read_well(60.0),
        89.0,
    ),
    "what was blind before a sleep was so without it": (
        STUCK.seen().without_facts(100.0).after_suspension(700.0, 500.0).read_well(710.0),
        1216.0,
    ),
    "controllers have their 5 s awake": (
        after(
            after(STUCK.seen(), 100.0, later(WEB, 200, generation=3))
            .after_suspension(202.0, 100.0)
            .read_well(203.0),
            204.9,
            later(WEB, 300, generation=3, observed_generation=3),
        ),
        707.0,
    ),
    "a sleep is taken off beside one deadline": (
        blind(10.0, 650.0, seconds=500.0).after_suspension(1250.0, 100.0).read_well(1250.0),
        1306.0,
    ),
    "a condition that is seen in blindness stands from its end": (
        after(STUCK.seen().without_facts(500.0), 650.0, EXPIRED).read_well(700.0),
        705.0,
    ),
    "what is first seen afterwards has its whole grace": (
        after(
            blind(10.0, seconds=40.0),
            60.0,
            *(later(one, 200, containers=(REFUSED,)) for one in STUCK.pods),
        ),
        90.0,
    ),
}


@pytest.mark.contract("B116", "B118", "B1435")
@pytest.mark.parametrize(("rollout", "at"), FAILS_AT.values(), ids=FAILS_AT)
def test_what_nobody_saw_is_taken_off_each_clock_but_the_total(rollout: Rollout, at: float) -> None:
    """It fails at that moment, not just before, and is looked at again by then."""
    assert fails_between(rollout, at - 0.1, at)
    assert rollout.wake_at(60.0) <= at


# -- controllers that do not act -------------------------------------------------------------------

UNOBSERVED = later(WEB, 200, generation=3)
MISCOUNTED = tuple(later(one, 200, ready=True) for one in STUCK.pods[:2])
UNSCALED = later(NEW, 200, replicas=6)
SIGNS: dict[str, tuple[Watched, ...]] = {
    "unobserved": (UNOBSERVED,),
    "miscounted": MISCOUNTED,
    "unscaled": (UNSCALED,),
}


@pytest.mark.contract("B109", "B116")
@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_a_stuck_controller_fails_by_twice_the_deadline(sign: tuple[Watched, ...]) -> None:
    """From 105 s on its standing still excuses 600 s, and is the cause then."""
    rollout = after(STUCK.seen(), 100.0, *sign)
    assert fails_between(rollout, 1205.9, 1206.0)
    assert rollout.verdict(1206.0).causes[0].reason is Reason.CONTROLLER_NOT_OBSERVING
    assert [cause.reason for cause in rollout.verdict(129.9).causes] == [Reason.NOT_READY]


@pytest.mark.contract("B109")
@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
@pytest.mark.parametrize(("ended_at", "blind_seconds"), [(104.9, 0.0), (165.0, 60.0)])
def test_controllers_that_go_on_are_blind_for_what_is_beyond_5_s(
    sign: tuple[Watched, ...], ended_at: float, blind_seconds: float
) -> None:
    """Every controller takes a moment; the clock goes on once they act."""
    rollout = after(STUCK.seen(), 100.0, *sign)
    acted = (
        later(WEB, 300, generation=3, observed_generation=3),
        later(NEW, 300),
        *(later(one, 300) for one in STUCK.pods),
    )
    rollout = after(rollout, ended_at, *acted)
    assert rollout.blindness.seconds(700.0) == blind_seconds
    assert fails_between(rollout, 605.9 + blind_seconds, 606.0 + blind_seconds)


@pytest.mark.contract("B109")
def test_controllers_that_count_on_are_not_stuck() -> None:
    """Many pods are created one after another: what moves is no sign."""
    rollout = after(STUCK.seen(), 100.0, later(NEW, 200, replicas=40))
    for number in range(1, 20):
        counted = later(NEW, 200 + number, replicas=40, status_replicas=4 + number)
        rollout = after(rollout, 100.0 + 4 * number, counted)
    assert rollout.blindness.seconds(177.0) == 0.0


@pytest.mark.contract("B97", "B109")
@pytest.mark.parametrize("failing", ["ReplicaFailure", "ReplicaSetCreateError"])
def test_a_controller_that_says_why_it_cannot_go_on_acts(failing: str) -> None:
    """Its condition has a grace of its own, and excuses nothing."""
    if failing == "ReplicaFailure":
        why = condition(failing, "True", "FailedCreate", "denied the request: not here")
        rollout = after(STUCK.seen(), 100.0, later(UNSCALED, 300, conditions=(why,)))
    else:
        why = condition("Progressing", "False", failing, "cannot be created")
        rollout = after(STUCK.seen(), 100.0, later(UNOBSERVED, 300, conditions=(why,)))
    assert rollout.blindness.seconds(500.0) == 0.0
    assert rollout.verdict(115.0).kind is FAILED


@pytest.mark.contract("B116")
def test_both_kinds_of_blindness_at_once_count_once() -> None:
    """Facts missing from 50 s to 150 s, a controller behind from 105 s to 200 s: 150 s."""
    rollout = after(STUCK.seen(), 100.0, UNSCALED).without_facts(50.0)
    rollout = rollout.read_well(150.0)
    assert rollout.blindness.seconds(160.0) == 110.0
    rollout = after(rollout, 200.0, later(NEW, 300))
    assert rollout.blindness.seconds(900.0) == 150.0


# -- the controller's condition --------------------------------------------------------------------


@pytest.mark.contract("B118")
def test_a_condition_after_blindness_has_to_stand() -> None:
    """Controllers that come back write it before they have looked at the pods."""
    rollout = after(STUCK.seen().without_facts(500.0).read_well(700.0), 701.0, EXPIRED)
    stands_at = 701.0 + CONDITION_STANDS_SECONDS
    assert fails_between(rollout, stands_at - 0.1, stands_at)
    assert rollout.wake_at(702.0) == stands_at
    moved = later(NEW, 400, ready_replicas=1, available_replicas=1)
    recovered = after(rollout, 703.0, later(WEB, 400), moved)
    assert recovered.verdict(stands_at).kind is PROGRESSING


# -- the attempt -----------------------------------------------------------------------------------


@pytest.mark.contract("B159", "B117")
@pytest.mark.parametrize(("deadline", "seconds"), [(600, 30.0), (60, 20.0), (6, 5.0)])
def test_all_is_read_several_times_a_deadline(deadline: int, seconds: float) -> None:
    """Or nobody would know of an outage that lasts for most of a short one."""
    player = rolling_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    rollout = player.attempt.workloads.rollouts[player.web]
    assert rollout.snapshot.live is not None
    live = later(rollout.snapshot.live, 99999, progress_deadline_seconds=deadline)
    player.hear(Observed(player.attempt.now, live))
    assert read_interval_seconds(player.attempt) == seconds


@pytest.mark.contract("B1827")
def test_a_watch_that_breaks_all_the_time_does_not_have_all_read_each_time() -> None:
    """The first time soon, for nobody may see anything; then some seconds after the last read."""
    player = rolling_out(v2="stuck")
    player.run_to(State.FOLLOWING)
    began = player.attempt.now
    read_at: list[float] = []

    def read(player: Player, effect: Read) -> AttemptEvent:
        read_at.append(player.attempt.now - began)
        return player.read(effect)

    player.bend(Read, read, times=1000)
    for number in range(1, 201):
        player.hear(ContactFailed(began + number / 10, "reset"))
        player.pass_to(began + number / 10)
    assert read_at == pytest.approx([5.0, 10.0, 15.0, 20.0], abs=0.11)


# -- a controller manager that is silent -----------------------------------------------------------


@pytest.mark.contract("B119")
def test_a_silent_controller_manager_is_no_lack_of_progress() -> None:
    """From the first look that showed the same on; once it acts again, the clock goes on."""
    rollout = STUCK.seen().controllers_silent(130.0, 110.0)
    cause = next(one for one in rollout.causes(150.0) if one.reason is NOT_OBSERVING)
    assert cause.message == "the controller manager has not renewed its Lease for 40 s"
    rollout = rollout.controllers_silent(310.0, math.inf)
    assert fails_between(rollout, 805.9, 806.0)
    assert not [one for one in rollout.causes(400.0) if one.reason is NOT_OBSERVING]


ASLEEP = STUCK.seen().after_suspension(2100.0, 2000.0)
"""Asleep from 100 s to 2100 s, with the whole machine: nobody renewed the Lease."""
SILENT = STUCK.seen().controllers_silent(130.0, 110.0)


@pytest.mark.contract("B1527")
@pytest.mark.parametrize(
    ("rollout", "said_seconds", "blind_seconds"),
    [
        (ASLEEP.controllers_silent(2100.1, 95.0).read_well(2101.0), 20, 2020.0),
        (ASLEEP.read_well(2101.0).controllers_silent(2101.1, 95.0), 20, 2020.0),
        (SILENT.after_suspension(2100.0, 1960.0).read_well(2101.0), 50, 2010.0),
        (SILENT.after_suspension(2100.0, 1960.0).controllers_silent(2101.0, 110.0), 50, 2010.0),
    ],
)
def test_a_silence_is_told_and_deducted_without_the_sleep(
    rollout: Rollout, said_seconds: int, blind_seconds: float
) -> None:
    """The Lease looks old at the wake; a silence from before goes on."""
    (cause,) = (one for one in rollout.causes(2120.0) if one.reason is NOT_OBSERVING)
    said = f"the controller manager has not renewed its Lease for {said_seconds} s"
    assert cause.message == said
    rollout = rollout.read_well(2101.0).controllers_silent(2120.0, math.inf)
    assert rollout.blindness.seconds(2500.0) == blind_seconds

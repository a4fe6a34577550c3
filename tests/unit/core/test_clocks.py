"""The clocks: the controller's condition, no progress, the total, a pause, and the bake window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.deployment.clocks import longest_legal_seconds
from gate.core.kinds.deployment.objects import NO_DEADLINE_SECONDS, Deployment, ReplicaSet
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.policy import Budgets, Policy
from tests.unit.core.world import (
    DEADLINE_EXCEEDED,
    OWNED,
    Scene,
    after,
    container,
    deployment,
    later,
    old_replica_set,
    pods,
    replica_set,
    template,
)

COMPLETE, FAILED = VerdictKind.COMPLETE, VerdictKind.FAILED
PROGRESSING, HELD = VerdictKind.PROGRESSING, VerdictKind.HELD
EXCEEDED = Reason.PROGRESS_DEADLINE_EXCEEDED

NOT_READY = pods(4, container(ready=False))
STUCK = Scene(
    web=deployment(available_replicas=3, updated_replicas=4, status_replicas=7),
    sets=(replica_set(ready_replicas=0, available_replicas=0), old_replica_set(replicas=3)),
    pods=tuple(NOT_READY),
    before=(old_replica_set(replicas=4, resource_version="50"),),
    total_seconds=7200.0,
)
"""Nothing moves any more; the deadline is 600 s, our write was at 0 s, last seen at 1 s."""


def standing(rollout: Rollout, *moments: float) -> list[VerdictKind]:
    """Return what stands at each moment."""
    return [rollout.verdict(at).kind for at in moments]


# -- the controller's condition --------------------------------------------------------------------

EXPIRED = replace(STUCK.web, conditions=(DEADLINE_EXCEEDED,))


@pytest.mark.contract("B100")
def test_the_deadline_condition_counts_a_second_before_the_deadline() -> None:
    """Times in conditions are whole seconds; what comes earlier is about the version before."""
    rollout = replace(STUCK, web=EXPIRED).seen()
    assert standing(rollout, 598.9, 599.0) == [PROGRESSING, FAILED]
    verdict = rollout.verdict(599.0)
    assert (verdict.reason, verdict.message) == (EXCEEDED, DEADLINE_EXCEEDED.message)
    assert rollout.wake_at(1.0) <= 599.0


@pytest.mark.contract("B100")
def test_the_deadline_condition_counts_only_once_observed() -> None:
    """With the generation unobserved it is the old rollout's, however late; the clocks go on."""
    web = replace(EXPIRED, generation=3, observed_generation=2)
    assert replace(STUCK, web=web).verdict(604.0, seen_at=1.0).kind is PROGRESSING


@pytest.mark.contract("B100")
@pytest.mark.parametrize(
    ("found", "name", "kind"),
    [(True, "web-2", FAILED), (True, "web-1", PROGRESSING), (False, "web-2", PROGRESSING)],
)
def test_what_was_found_timed_out_already_where_the_condition_names_it(
    found: bool, name: str, kind: VerdictKind
) -> None:
    """Not where it names another ReplicaSet, nor after a write of ours, which may use it again."""
    text = CleanText(f'ReplicaSet "{name}" has timed out progressing.')
    stale = replace(DEADLINE_EXCEEDED, message=text)
    web = replace(STUCK.web, conditions=(stale,))
    assert replace(STUCK, web=web, found=found).verdict(2.0).kind is kind


@pytest.mark.contract("B101")
def test_a_deadline_condition_that_clears_is_no_failure() -> None:
    """The controller flips it back when pods become ready after all."""
    rollout = replace(STUCK, web=EXPIRED).seen()
    assert rollout.verdict(600.0).kind is FAILED
    recovered = later(STUCK.sets[0], 300, ready_replicas=1, available_replicas=1)
    rollout = after(rollout, 601.0, later(STUCK.web, 300), recovered)
    assert rollout.verdict(602.0).kind is PROGRESSING


@pytest.mark.contract("B137")
def test_in_a_rollback_the_deadline_condition_is_only_a_hint() -> None:
    """It can still be the failed version's; nor does the own clock end it: its total alone does."""
    rollout = replace(STUCK, web=EXPIRED, deadline_decides=False).seen()
    assert standing(rollout, 606.0, 7199.9, 7200.0) == [PROGRESSING, PROGRESSING, FAILED]


# -- no progress -----------------------------------------------------------------------------------


@pytest.mark.contract("B102")
def test_without_a_condition_the_own_clock_fires_5_s_later() -> None:
    """PDE may never come; the message says whose clock it was."""
    rollout = STUCK.seen()
    assert standing(rollout, 605.9, 606.0) == [PROGRESSING, FAILED]
    verdict = rollout.verdict(606.0)
    assert verdict.reason is EXCEEDED
    assert verdict.message == "no progress for 605 s (the gate's own clock)"
    assert rollout.wake_at(601.0) == 606.0


NEW, OLD = STUCK.sets
COUNTED = replace(STUCK, pods=())
"""The same with no pod listed, so that counters alone tell of them."""
MOVES: list[tuple[str, ReplicaSet, dict[str, Any], bool]] = [
    ("created", NEW, {"replicas": 5, "status_replicas": 5}, True),
    ("ready", NEW, {"ready_replicas": 1}, True),
    ("available", NEW, {"available_replicas": 1}, True),
    ("old-scaled-down", OLD, {"replicas": 2}, True),
    ("old-scaled-up", OLD, {"replicas": 5}, False),
    ("old-ready", OLD, {"ready_replicas": 3}, False),
    ("fewer-created", NEW, {"replicas": 3, "status_replicas": 3}, False),
]


@pytest.mark.contract("B103")
@pytest.mark.parametrize(
    ("thing", "change", "moves"), [move[1:] for move in MOVES], ids=[move[0] for move in MOVES]
)
def test_what_starts_the_no_progress_clock_again(
    thing: ReplicaSet, change: dict[str, Any], moves: bool
) -> None:
    """New highs of the new ReplicaSet, new lows of the old ones, and nothing else."""
    rollout = after(COUNTED.seen(), 500.0, later(thing, 200, **change))
    assert rollout.verdict(606.0).kind is (PROGRESSING if moves else FAILED)
    assert rollout.verdict(1105.0).kind is FAILED


@pytest.mark.contract("B103")
def test_flapping_is_no_progress() -> None:
    """One pod ready, not ready, ready: only the first time was a new high."""
    rollout = COUNTED.seen()
    for version, ready in enumerate((1, 0, 1, 0, 1), start=200):
        rollout = after(rollout, float(version), later(NEW, version, ready_replicas=ready))
    assert standing(rollout, 804.9, 805.0) == [PROGRESSING, FAILED]


@pytest.mark.contract("B103")
def test_another_replica_set_to_follow_starts_again() -> None:
    """What a reloader's change rolls out has its own deadline."""
    added = template(annotations={"a": "b"})
    web = later(STUCK.web, 200, generation=3, observed_generation=3, template=added)
    new = replica_set("web-3", template=added, available_replicas=0, ready_replicas=0)
    rollout = after(replace(STUCK, owned=OWNED).seen(), 500.0, web, new)
    assert standing(rollout, 606.0, 1104.9, 1105.0) == [PROGRESSING, PROGRESSING, FAILED]


@pytest.mark.contract("B104")
def test_without_a_deadline_the_no_progress_clock_is_off() -> None:
    """2147483647 is the API's word for none; the total still ends it."""
    web = replace(STUCK.web, progress_deadline_seconds=NO_DEADLINE_SECONDS)
    rollout = replace(STUCK, web=web).seen()
    assert standing(rollout, 7199.0, 7200.0) == [PROGRESSING, FAILED]
    assert rollout.verdict(7200.0).reason is Reason.TIMEOUT


# -- the total -------------------------------------------------------------------------------------


@pytest.mark.contract("B106")
@pytest.mark.parametrize(("moved_at", "reason"), [(5.0, EXCEEDED), (5.1, Reason.TIMEOUT)])
def test_the_total_after_a_standstill_is_the_deadline(moved_at: float, reason: Reason) -> None:
    """600 and 600: nothing moved for the deadline less 5 s, so that is the reason."""
    rollout = after(
        replace(COUNTED, total_seconds=600.0).seen(), moved_at, later(NEW, 200, ready_replicas=1)
    )
    assert rollout.verdict(600.0).reason is reason


@pytest.mark.contract("B107")
@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({"replicas": 4, "progress_deadline_seconds": 60}, 900.0),
        ({"replicas": 4}, 1200.0),
        ({"replicas": 4, "min_ready_seconds": 300}, 1800.0),
        ({"replicas": 100, "max_surge": "1", "max_unavailable": "0"}, 7200.0),
        ({"replicas": 4, "recreate": True, "max_surge": "0", "max_unavailable": "0"}, 900.0),
        ({"replicas": 0}, 900.0),
        ({"progress_deadline_seconds": NO_DEADLINE_SECONDS}, 7200.0),
    ],
)
def test_the_automatic_total_is_what_a_rollout_may_take(
    changes: dict[str, Any], seconds: float
) -> None:
    """Steps times deadline and minReadySeconds, between 15 minutes and 2 hours."""
    assert longest_legal_seconds(deployment(**changes)) == seconds


# -- a controller that does not act ----------------------------------------------------------------


@pytest.mark.contract("B109")
def test_a_controller_that_observes_nothing_is_the_cause() -> None:
    """After 30 s it is named; the clocks decide."""
    web = deployment(generation=2, observed_generation=1, updated_replicas=0)
    scene = Scene(web=web, sets=(old_replica_set(replicas=4),), total_seconds=7200.0)
    rollout = scene.seen()
    quiet, named = rollout.verdict(29.9), rollout.verdict(30.0)
    assert [cause.reason for cause in quiet.causes] == []
    assert [cause.reason for cause in named.causes] == [Reason.CONTROLLER_NOT_OBSERVING]
    assert named.causes[0].message == "the controller has not seen our change for 30 s"
    assert (quiet.kind, named.kind) == (PROGRESSING, PROGRESSING)
    assert rollout.verdict(605.0).kind is PROGRESSING
    ended = rollout.verdict(600.0 + 605.0)
    assert (ended.kind, ended.reason) == (FAILED, EXCEEDED)
    assert ended.causes[0].reason is Reason.CONTROLLER_NOT_OBSERVING
    assert rollout.wake_at(7.0) == 30.0


@pytest.mark.contract("B1352")
def test_a_controller_that_observes_nothing_is_the_cause_as_a_short_budget_ends() -> None:
    """A budget of less than 30 s names it too, once it is more than late."""
    web = deployment(generation=2, observed_generation=1, updated_replicas=0)
    scene = Scene(web=web, sets=(old_replica_set(replicas=4),), total_seconds=15.0)
    rollout = scene.seen()
    assert not rollout.verdict(14.9).causes
    ended = rollout.verdict(15.0)
    assert (ended.kind, ended.reason) == (FAILED, Reason.TIMEOUT)
    assert [cause.reason for cause in ended.causes] == [Reason.CONTROLLER_NOT_OBSERVING]


# -- paused ----------------------------------------------------------------------------------------

PAUSED = later(STUCK.web, 200, paused=True)


@pytest.mark.contract("B110")
def test_a_pause_stops_the_clocks_but_the_total() -> None:
    """Held for as long as the total lasts, then failed for the pause."""
    rollout = after(replace(STUCK, total_seconds=1000.0).seen(), 10.0, PAUSED)
    assert standing(rollout, 700.0, 999.9, 1000.0) == [HELD, HELD, FAILED]
    assert rollout.verdict(1000.0).reason is Reason.PAUSED
    assert rollout.wake_at(10.0) == 1000.0


@pytest.mark.contract("B110")
def test_the_end_of_a_pause_starts_the_clock_again() -> None:
    """Resumed at 700 s, the rollout has a whole deadline from there."""
    rollout = after(STUCK.seen(), 10.0, PAUSED)
    rollout = after(rollout, 700.0, later(STUCK.web, 300))
    assert standing(rollout, 1304.9, 1305.0) == [PROGRESSING, FAILED]


# -- the bake window -------------------------------------------------------------------------------

BAKED = Scene(policy=Policy(budgets=Budgets(bake_seconds=3600.0)), total_seconds=600.0)


def unsettled(rollout: Rollout, at: float) -> Rollout:
    """Let one pod be lost."""
    web: Deployment = later(deployment(), 200, available_replicas=3, ready_replicas=3)
    return after(rollout, at, web, later(replica_set(), 200, available_replicas=3))


@pytest.mark.contract("B54")
def test_what_was_complete_has_the_bake_window_to_recover() -> None:
    """A pod lost at 50 minutes neither ends the total nor stands for a standstill of 50."""
    rollout = unsettled(BAKED.seen(), 3000.0)
    assert standing(rollout, 3000.0, 3604.9, 3605.0) == [PROGRESSING, PROGRESSING, FAILED]


@pytest.mark.contract("B54")
def test_total_and_bake_window_end_together() -> None:
    """Unsettled at the very end is not complete within the time there was."""
    rollout = unsettled(BAKED.seen(), 4000.0)
    assert standing(rollout, 4199.9, 4200.0) == [PROGRESSING, FAILED]
    assert rollout.verdict(4200.0).reason is Reason.TIMEOUT


@pytest.mark.contract("B114")
def test_the_servers_clock_is_never_compared() -> None:
    """Whatever the server writes as time, ten years back or ahead, nothing is decided by it."""
    verdicts = []
    for stamp in ("2016-01-01T00:00:00Z", "2036-01-01T00:00:00Z"):
        sets = tuple(replace(one, created_at=stamp) for one in STUCK.sets)
        rollout = replace(STUCK, sets=sets).seen()
        verdicts.append([rollout.verdict(at) for at in (10.0, 605.9, 606.0)])
    assert verdicts[0] == verdicts[1]

"""A pod in the way of a StatefulSet: when its removal is asked for, and what is said before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.parts import Course, Workloads
from gate.core.attempt.pod_replacement import Replacement, Stage
from gate.core.attempt.record import record_now
from gate.core.attempt.state import Attempt
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent
from gate.core.plan.plan import Plan, Target
from gate.core.protocol.effects import RemovePod, SaveRecord
from gate.core.protocol.events import PodRemoval, Removal
from gate.core.rollout.applied import Applied
from gate.core.rollout.judge import Rollout
from gate.core.rollout.policy import Policy
from gate.core.states.unblocking import ask_to_remove, describe_waits, fold_removal
from tests.table import each
from tests.unit.core.kinds.test_stateful_set import DB, OLD, WELL, member, stateful_set
from tests.unit.core.world import snapshot_of, template

SEEN_AT, NOW = 10.0, 10_000.0
"""Nothing has moved for longer than any deadline."""
IN_THE_WAY = member(2, OLD, ready=False)
KEPT_AS_IT_IS = stateful_set(partition=3)
"""Somebody has raised the partition: db-2 would come back as it is."""
DECIDED = Replacement(DB, "db-2", "db-2", Stage.DECIDED, SEEN_AT)


def blocked(live: StatefulSet, *removals: Replacement, generation: int = 2) -> Attempt:
    """Make an attempt whose StatefulSet stops at db-2, with its removals."""
    snapshot = snapshot_of(DB, live, *WELL, IN_THE_WAY, at=SEEN_AT)
    made = Applied(
        uid="db-uid",
        generation=generation,
        template=template(),
        owned=None,
        at=SEEN_AT,
        new_template=True,
        spec_changed=True,
        replicas=3,
    )
    rollout = Rollout.start(made, snapshot, Policy())
    plan = Plan("apply", (Target(DB, snapshot, Absent()),), (), (), Policy())
    workloads = Workloads(
        rollouts=FrozenMap({DB: rollout}),
        replacements=FrozenMap((one.uid, one) for one in removals),
    )
    return Attempt(plan, NOW, Course(SEEN_AT), workloads=workloads)


@pytest.mark.contract("B924")
def test_a_pod_goes_only_once_the_record_names_it() -> None:
    """A gate that died in between would leave a pod gone that nobody knows of."""
    attempt = blocked(stateful_set(), replace(DECIDED, stage=Stage.REREAD))
    save = SaveRecord(attempt.requests.next_id, record_now(attempt))
    saving = attempt.with_effect(save)
    assert ask_to_remove(saving) == (saving, ())
    (sent,) = ask_to_remove(attempt)[1]
    assert isinstance(sent, RemovePod)
    assert (sent.pod, sent.uid) == ("db-2", "db-2")


@pytest.mark.contract("B925", "B1308")
@each(
    ("live", "uid", "generation"),
    [
        (KEPT_AS_IT_IS, "db-2", 2),
        (stateful_set(), "another", 2),
        (stateful_set(), "db-2", 3),
    ],
)
def test_a_pod_that_is_in_the_way_no_more_does_not_go_although_that_was_decided(
    live: StatefulSet, uid: str, generation: int
) -> None:
    """It would come back as it is, is another one, or was so before our last write."""
    attempt = blocked(live, replace(DECIDED, stage=Stage.REREAD, uid=uid), generation=generation)
    after, effects = ask_to_remove(attempt)
    assert [type(one) for one in effects] == [SaveRecord]
    assert not after.workloads.replacements


@pytest.mark.contract("B1235", "B925")
def test_that_a_pod_will_be_replaced_is_not_said_of_one_that_stays() -> None:
    """Nobody replaces it: a promise of that would be waited for in vain."""
    for live, count in ((stateful_set(), 1), (KEPT_AS_IT_IS, 0)):
        attempt = blocked(live)
        before = replace(attempt, workloads=Workloads())
        said = list(describe_waits(before, attempt))
        assert len(said) == count, said


@pytest.mark.contract("B924")
@pytest.mark.parametrize("waits", [False, True])
def test_a_removal_that_nobody_could_read_again_for_waits_as_the_server_asks(
    *, waits: bool
) -> None:
    """It is read again before it goes, and no sooner than the server wants to be asked."""
    attempt = blocked(stateful_set(), DECIDED)
    requests = replace(attempt.requests, not_before=NOW + 1 if waits else NOW)
    attempt = replace(attempt, requests=requests)
    assert bool(ask_to_remove(attempt)[1]) is not waits


@pytest.mark.contract("B1308")
def test_a_refused_removal_does_not_take_back_progress_made_since() -> None:
    """The clock runs from what moved last, also where that came before the refusal."""
    attempt = blocked(stateful_set())
    rollout = attempt.workloads.rollouts[DB]
    sent = replace(DECIDED, stage=Stage.SENT, at=SEEN_AT + 1, progress=rollout.progress)
    moved = rollout.restart_clock(SEEN_AT + 2)
    workloads = Workloads(rollouts=FrozenMap({DB: moved}), replacements=FrozenMap({sent.uid: sent}))
    effect = RemovePod(1, DB, sent.pod, sent.uid, attempt.plan.policy.response.blocked_pods)
    answer = PodRemoval(NOW, 1, Removal.GUARDED, "no")
    after = fold_removal(replace(attempt, workloads=workloads), effect, answer)
    assert after.workloads.rollouts[DB].progress == moved.progress

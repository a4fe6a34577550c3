"""When a StatefulSet is complete by its pods, and which version of it serves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.registry import unseen
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.kinds.stateful_set.reasons import StatefulSetReason
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import CleanText, Pod, PodDeletion, Template
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import FailFast, Policy, Requirement
from tests.table import each
from tests.unit.core.kinds.stateful_set.test_blocking import DB, NEW, OLD, member, stateful_set
from tests.unit.core.world import NAMESPACE, template

BEFORE, NOW = template("shop/db:1"), template()


def revision(name: str, number: int, kept: Template) -> ControllerRevision:
    """Make a revision of `db`."""
    return ControllerRevision(
        name=name,
        namespace=NAMESPACE,
        uid=f"{name}-uid",
        resource_version="1",
        owner_uid="db-uid",
        deleting=False,
        created_at="",
        change_cause=CleanText(""),
        revision=number,
        template=kept,
        label_value=name,
    )


def serving(live: StatefulSet, *pods: Pod) -> str:
    """Return the name of the revision that serves, "" for none."""
    snapshot = unseen(DB).fold(Observed(0.0, live))
    for one in (revision(OLD, 1, BEFORE), revision(NEW, 2, NOW)):
        snapshot = snapshot.fold(Observed(0.0, one))
    for pod in pods:
        snapshot = snapshot.fold(Observed(0.0, pod))
    found = baseline_of(snapshot)
    return getattr(getattr(found, "value", None), "revision_name", "")


ALL_OLD = tuple(member(ordinal, OLD) for ordinal in range(3))
ALL_NEW = tuple(member(ordinal, NEW) for ordinal in range(3))
SCALED = {"generation": 3, "replicas": 5}


@pytest.mark.contract("B1110")
@each(
    ("live", "pods", "name"),
    [
        (stateful_set(**SCALED), ALL_NEW, NEW),
        (stateful_set(generation=3, partition=1), ALL_NEW, NEW),
        (stateful_set(**SCALED, template=BEFORE), ALL_OLD, OLD),
        (stateful_set(**SCALED, template=BEFORE), ALL_NEW, ""),
        (stateful_set(**SCALED), (*ALL_OLD[:2], ALL_NEW[2]), ""),
        (stateful_set(generation=3, template=template("shop/db:3")), ALL_NEW, ""),
    ],
)
def test_a_change_that_was_not_observed_yet_does_not_spoil_it(
    live: StatefulSet, pods: tuple[Pod, ...], name: str
) -> None:
    """What all ready pods run serves, where it is the live template; nothing else does."""
    assert serving(live, *pods) == name


DONE = stateful_set(
    updated_replicas=3, ready_replicas=3, available_replicas=3, current_revision=NEW
)


@pytest.mark.contract("B1115")
@each(
    ("pods", "is_complete"),
    [
        (ALL_NEW, True),
        ((), True),
        ((*ALL_NEW[:2], member(2, NEW, ready=False)), False),
        (ALL_NEW[:2], False),
        ((*ALL_NEW[1:], member(3, NEW)), False),
    ],
)
def test_pods_that_are_not_ready_outweigh_a_status_that_counts_them(
    pods: tuple[Pod, ...], is_complete: bool
) -> None:
    """The controller writes its status late; where no pods were seen it is all there is."""
    snapshot = unseen(DB).fold(Observed(0.0, DONE))
    for pod in pods:
        snapshot = snapshot.fold(Observed(0.0, pod))
    found = snapshot.kind.completion(snapshot, DONE, Policy())
    assert (found is Reason.COMPLETE) is is_complete


CANARY_TAKEN_BACK = stateful_set(
    partition=2, updated_replicas=2, ready_replicas=3, available_replicas=3, current_revision=NEW
)
ONE_IS_ENOUGH = Policy(requirement=Requirement(require=Share.parse("1")))


HELD = PodDeletion(finalizers=(CleanText("x.test/hold"),))
HELD_READY = member(1, OLD, deleting=True, deletion=HELD)
"""As after a forced deletion: its containers run on, and the status counts it."""
HELD_UNREADY = member(1, OLD, deleting=True, ready=False, deletion=HELD)


@pytest.mark.contract("B1265", "B1313")
@each(
    ("live", "pods", "reason"),
    [
        (CANARY_TAKEN_BACK, (*ALL_NEW[:2], member(2, OLD, deleting=True)), None),
        (CANARY_TAKEN_BACK, (*ALL_NEW[:2], ALL_OLD[2]), None),
        (CANARY_TAKEN_BACK, (*ALL_NEW[:2], member(2, NEW, deleting=True)), None),
        (replace(CANARY_TAKEN_BACK, updated_replicas=3), ALL_NEW, Reason.COMPLETE),
        (
            CANARY_TAKEN_BACK,
            (ALL_NEW[0], ALL_OLD[1], ALL_NEW[2]),
            StatefulSetReason.PARTITIONED,
        ),
        (
            CANARY_TAKEN_BACK,
            (ALL_NEW[0], member(1, OLD, deleting=True), ALL_NEW[2]),
            None,
        ),
        (
            replace(CANARY_TAKEN_BACK, available_replicas=2),
            (ALL_NEW[0], HELD_UNREADY, ALL_NEW[2]),
            StatefulSetReason.PARTITIONED,
        ),
        (CANARY_TAKEN_BACK, (ALL_NEW[0], HELD_READY, ALL_NEW[2]), StatefulSetReason.PARTITIONED),
        (
            CANARY_TAKEN_BACK,
            (*ALL_NEW[:2], member(2, NEW, deleting=True, deletion=HELD)),
            None,
        ),
        (
            replace(CANARY_TAKEN_BACK, available_replicas=1),
            (ALL_OLD[0], HELD_UNREADY, ALL_NEW[2]),
            None,
        ),
        (
            CANARY_TAKEN_BACK,
            (
                ALL_NEW[0],
                member(1, OLD, deleting=True, deletion=replace(HELD, grace_seconds=30.0)),
                ALL_NEW[2],
            ),
            None,
        ),
        (
            replace(CANARY_TAKEN_BACK, partition=1),
            (ALL_NEW[0], member(1, NEW, ready=False), ALL_OLD[2]),
            None,
        ),
    ],
)
def test_the_pods_that_a_partition_leaves_to_update_are_counted_one_by_one(
    live: StatefulSet, pods: tuple[Pod, ...], reason: AnyReason | None
) -> None:
    """Those below it, which run the new revision already, stand for none above it."""
    snapshot = unseen(DB).fold(Observed(0.0, live))
    for pod in pods:
        snapshot = snapshot.fold(Observed(0.0, pod))
    assert snapshot.kind.completion(snapshot, live, Policy()) is reason
    assert snapshot.kind.completion(snapshot, live, ONE_IS_ENOUGH) is reason


CANARY = stateful_set(partition=2, updated_replicas=1, is_parallel=True)
NOT_YET = member(2, NEW, ready=False)


@pytest.mark.contract("B1313")
@each(
    ("live", "pods", "reason", "available"),
    [
        # The canary is ready, and not yet available: the status counts the held pod instead of it.
        (CANARY, (ALL_OLD[0], HELD_READY, ALL_NEW[2]), None, 0),
        (CANARY, (ALL_OLD[0], HELD_READY, NOT_YET), None, 0),
        (replace(CANARY, available_replicas=3), (ALL_OLD[0], HELD_READY, ALL_NEW[2]),
         StatefulSetReason.PARTITIONED, 1),
        # The status is late, and counts what stopped being ready.
        (CANARY, (ALL_OLD[0], HELD_UNREADY, NOT_YET), None, 0),
        (CANARY, (ALL_OLD[0], HELD_UNREADY, ALL_NEW[2]), StatefulSetReason.PARTITIONED, 1),
    ],
)  # fmt: skip
def test_a_held_pod_stands_for_no_pod_of_a_canary(
    live: StatefulSet, pods: tuple[Pod, ...], reason: AnyReason | None, available: int
) -> None:
    """The status counts one that is ready as any pod, and one that is not, no more."""
    snapshot = unseen(DB).fold(Observed(0.0, live))
    for pod in pods:
        snapshot = snapshot.fold(Observed(0.0, pod))
    assert snapshot.kind.completion(snapshot, live, Policy()) is reason
    counts = snapshot.kind.describe_counts(snapshot, live, "new")
    assert counts.startswith(f"{available} of 1 new pods available")


@pytest.mark.contract("B1314")
@each(
    ("live", "held", "is_cause"),
    [
        (CANARY, 1, False),
        (replace(CANARY, is_parallel=False), 1, True),  # the controller stops at it
        (CANARY, 2, True),
        (CANARY, 3, True),  # to go by a scaling, which the controller waits for
        (replace(CANARY, partition=0, on_delete=True), 1, True),
    ],
)
def test_only_a_held_pod_that_is_waited_for_is_a_cause(
    live: StatefulSet, held: int, *, is_cause: bool
) -> None:
    """Of pods that wait for none of each other, nobody waits for one below the partition."""
    snapshot = unseen(DB).fold(Observed(0.0, live))
    going = member(held, OLD, deleting=True, ready=False, deletion=HELD)
    snapshot = snapshot.fold(Observed(0.0, going))
    found = [one.reason for one in snapshot.kind.faults(snapshot, live, FailFast())]
    assert found == [Reason.BLOCKED_BY_FINALIZER] * is_cause

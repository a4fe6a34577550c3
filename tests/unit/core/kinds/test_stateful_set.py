"""A StatefulSet: at which pod its controller stops, when it is complete, which version serves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.controller_revision import ControllerRevision
from gate.core.kinds.stateful_set.objects import API_VERSION, STATEFUL_SET, StatefulSet
from gate.core.kinds.stateful_set.reasons import StatefulSetReason
from gate.core.model.int_or_percent import Share
from gate.core.model.objects import CleanText, ClusterEvent, Pod, PodDeletion, Ref, Template
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.baseline import baseline_of
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import FailFast, Policy, Requirement
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import BlockingPod
from tests.table import each
from tests.unit.core.world import NAMESPACE, container, pod, snapshot_of, template, warning

DB = Ref(API_VERSION, STATEFUL_SET, NAMESPACE, "db")
OLD, NEW = "db-old", "db-new"
UNREADY = container(ready=False)


def stateful_set(**changes: Any) -> StatefulSet:
    """Make a StatefulSet of three pods in the midst of an update from `OLD` to `NEW`."""
    updating = StatefulSet(
        ref=DB,
        uid="db-uid",
        resource_version="1",
        generation=2,
        observed_generation=2,
        deleting=False,
        paused=False,
        replicas=3,
        revision=None,
        template=template(),
        conditions=(),
        min_ready_seconds=0,
        on_delete=False,
        partition=0,
        max_unavailable="1",
        first_ordinal=0,
        grace_seconds=30,
        claims=(),
        deletes_scaled_claims=False,
        status_replicas=3,
        ready_replicas=2,
        available_replicas=2,
        updated_replicas=1,
        current_revision=OLD,
        update_revision=NEW,
    )
    return replace(updating, **changes)


def member(ordinal: int, revision: str, *, ready: bool = True, **changes: Any) -> Pod:
    """Make a pod of `db`."""
    name = f"db-{ordinal}"
    statuses = () if ready else (UNREADY,)
    about = {"name": name, "uid": name, "owner_uid": "db-uid", "revision_label": revision}
    return pod(ordinal, *statuses, **{**about, **changes})


def find(live: StatefulSet, *pods: Pod) -> BlockingPod | None:
    """Return the pod that blocks, of all that were seen."""
    snapshot = snapshot_of(DB, live, *pods)
    return snapshot.kind.find_blocking_pod(snapshot, live, FailFast())


WELL = (member(0, OLD), member(1, OLD))


@pytest.mark.contract("B924")
@each(
    ("live", "pods", "name"),
    [
        (stateful_set(), (*WELL, member(2, OLD, ready=False)), "db-2"),
        (stateful_set(), (member(0, OLD, ready=False), member(1, OLD, ready=False)), "db-0"),
        (
            stateful_set(first_ordinal=5),
            (member(5, OLD), member(6, OLD), member(7, OLD, ready=False)),
            "db-7",
        ),
    ],
)
def test_the_lowest_unready_pod_of_another_version_blocks(
    live: StatefulSet, pods: tuple[Pod, ...], name: str
) -> None:
    """By the ordinal, wherever the range starts."""
    found = find(live, *pods)
    assert found is not None
    assert (found.pod.name, found.obstacle) == (name, "")


@pytest.mark.contract("B925")
@each(
    ("live", "pods"),
    [
        (stateful_set(), (*WELL, member(2, OLD))),
        (stateful_set(), (*WELL, member(2, NEW, ready=False))),
        (stateful_set(), (member(0, NEW, ready=False), member(1, OLD, ready=False))),
        (stateful_set(), (*WELL, member(2, OLD, ready=False, deleting=True))),
        (stateful_set(), (*WELL, member(2, OLD, ready=False, phase="Failed"))),
        (stateful_set(replicas=2), (*WELL, member(2, OLD, ready=False))),
        (stateful_set(), (*WELL, member(2, OLD, ready=False, owner_uid="another"))),
        (stateful_set(), (member(0, OLD), member(2, OLD, ready=False))),
        (stateful_set(generation=3), (*WELL, member(2, OLD, ready=False))),
    ],
)
def test_nothing_else_blocks(live: StatefulSet, pods: tuple[Pod, ...]) -> None:
    """Not a pod of the new version or behind one, nor what goes, is missing, or is another's."""
    assert find(live, *pods) is None


@pytest.mark.contract("B925")
@each(
    ("live", "words"),
    [
        (stateful_set(partition=3), "below the partition 3"),
        (stateful_set(partition=3, first_ordinal=0, current_revision=""), "at its revision"),
        (stateful_set(on_delete=True), "OnDelete"),
    ],
)
def test_a_pod_that_would_not_be_replaced_may_not_go(live: StatefulSet, words: str) -> None:
    """It is named all the same, with why it stays."""
    found = find(live, *WELL, member(2, OLD, ready=False))
    assert found is not None
    assert words in found.obstacle


@pytest.mark.contract("B924")
def test_restarts_from_before_the_write_condemn_a_pod_that_blocks() -> None:
    """They are no evidence against the new version, and all the more against this pod."""
    crashed = replace(
        UNREADY, restarts=5, waiting_reason=CleanText("CrashLoopBackOff"), running=False
    )
    found = find(stateful_set(), *WELL, replace(member(2, OLD, ready=False), containers=(crashed,)))
    assert found is not None
    assert found.trouble is not None
    assert found.trouble.ripe_at < 0


SAID = 'create Pod db-2 in StatefulSet db failed error: pods "db-2" is forbidden: not here'


def denial(**changes: object) -> ClusterEvent:
    """Return the controller's event that db-2 could not be created."""
    event = warning(pod(name="db", uid="db-uid"), "FailedCreate", SAID)
    return replace(event, **changes)  # type: ignore[arg-type]


def reasons(snapshot: Snapshot) -> list[object]:
    """Return why the controller does not go on."""
    assert snapshot.live is not None
    return [one.reason for one in snapshot.kind.faults(snapshot, snapshot.live, FailFast())]


@pytest.mark.contract("B1640")
@each(
    ("replicas", "first_ordinal", "is_denied"),
    [(3, 0, True), (2, 0, False), (3, 2, True), (3, 3, False)],
)
def test_a_denial_is_about_a_pod_that_is_wanted(
    replicas: int, first_ordinal: int, *, is_denied: bool
) -> None:
    """An event outlives the number of replicas that it was about, and the first ordinal."""
    live = stateful_set(replicas=replicas, first_ordinal=first_ordinal)
    assert reasons(snapshot_of(DB, live, *WELL, denial())) == [Reason.POD_CREATE_DENIED] * is_denied


@pytest.mark.contract("B1640")
@each(
    ("later", "is_retried", "is_denied"),
    [
        ({}, True, False),
        ({"resource_version": "101"}, True, False),
        ({"count": 2}, True, True),
        ({"at": "2026-11-21T12:00:01Z"}, True, True),
        ({"uid": "another"}, True, True),
        ({}, False, True),
    ],
)
def test_a_denial_from_before_a_change_counts_once_it_occurs_again(
    later: dict[str, object], *, is_retried: bool, is_denied: bool
) -> None:
    """The controller tries at once after a change; without one its next try may be far off."""
    snapshot = snapshot_of(DB, stateful_set(), *WELL, denial()).begin(1.0, is_retried=is_retried)
    snapshot = snapshot.fold(Observed(2.0, denial(**later)))
    assert reasons(snapshot) == [Reason.POD_CREATE_DENIED] * is_denied


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
    revisions = revision(OLD, 1, BEFORE), revision(NEW, 2, NOW)
    found = baseline_of(snapshot_of(DB, live, *revisions, *pods))
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
        ((*ALL_NEW, member(3, NEW)), False),  # scaled down: the status may count it for db-0
    ],
)
def test_pods_that_are_not_ready_outweigh_a_status_that_counts_them(
    pods: tuple[Pod, ...], is_complete: bool
) -> None:
    """The controller writes its status late; where no pods were seen it is all there is."""
    snapshot = snapshot_of(DB, DONE, *pods)
    found = snapshot.kind.completion(snapshot, DONE, Policy())
    assert (found is Reason.COMPLETE) is is_complete


BACK = stateful_set(
    partition=2, updated_replicas=2, ready_replicas=3, available_replicas=3, current_revision=NEW
)
"""A canary, db-2, that is taken back."""
PARTITIONED = StatefulSetReason.PARTITIONED
ONE_IS_ENOUGH = Policy(requirement=Requirement(require=Share.parse("1")))


HELD = PodDeletion(finalizers=(CleanText("x.test/hold"),))
HELD_READY = member(1, OLD, deleting=True, deletion=HELD)
"""As after a forced deletion: its containers run on, and the status counts it."""
HELD_UNREADY = member(1, OLD, deleting=True, ready=False, deletion=HELD)
GRACEFUL = replace(HELD, grace_seconds=30.0)


def beside(pod: Pod) -> tuple[Pod, ...]:
    """Return db-1 between two pods of the new version."""
    return ALL_NEW[0], pod, ALL_NEW[2]


@pytest.mark.contract("B1265", "B1313")
@each(
    ("live", "pods", "reason"),
    [
        (BACK, (*ALL_NEW[:2], member(2, OLD, deleting=True)), None),
        (BACK, (*ALL_NEW[:2], ALL_OLD[2]), None),
        (BACK, (*ALL_NEW[:2], member(2, NEW, deleting=True)), None),
        (replace(BACK, updated_replicas=3), ALL_NEW, Reason.COMPLETE),
        (BACK, beside(ALL_OLD[1]), PARTITIONED),
        (BACK, beside(member(1, OLD, deleting=True)), None),
        (replace(BACK, available_replicas=2), beside(HELD_UNREADY), PARTITIONED),
        (BACK, beside(HELD_READY), PARTITIONED),
        (BACK, (*ALL_NEW[:2], member(2, NEW, deleting=True, deletion=HELD)), None),
        (replace(BACK, available_replicas=1), (ALL_OLD[0], HELD_UNREADY, ALL_NEW[2]), None),
        (BACK, beside(member(1, OLD, deleting=True, deletion=GRACEFUL)), None),
        (replace(BACK, partition=1), (ALL_NEW[0], member(1, NEW, ready=False), ALL_OLD[2]), None),
    ],
)
def test_the_pods_that_a_partition_leaves_to_update_are_counted_one_by_one(
    live: StatefulSet, pods: tuple[Pod, ...], reason: AnyReason | None
) -> None:
    """Those below it, which run the new revision already, stand for none above it."""
    snapshot = snapshot_of(DB, live, *pods)
    assert snapshot.kind.completion(snapshot, live, Policy()) is reason
    assert snapshot.kind.completion(snapshot, live, ONE_IS_ENOUGH) is reason


@pytest.mark.contract("B1265")
def test_a_canary_that_is_back_is_not_called_one_since_the_status_is_late() -> None:
    """Its pod runs the new revision again; the status is waited for, and says so a moment later."""
    snapshot = snapshot_of(DB, BACK, *ALL_NEW)
    assert snapshot.kind.completion(snapshot, BACK, Policy()) is None
    assert snapshot.kind.completion(snapshot, BACK, ONE_IS_ENOUGH) is Reason.COMPLETE
    beyond = replace(BACK, updated_replicas=3)
    assert snapshot.kind.completion(snapshot, beyond, Policy()) is Reason.COMPLETE


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
         PARTITIONED, 1),
        # The status is late, and counts what stopped being ready.
        (CANARY, (ALL_OLD[0], HELD_UNREADY, NOT_YET), None, 0),
        (CANARY, (ALL_OLD[0], HELD_UNREADY, ALL_NEW[2]), PARTITIONED, 1),
    ],
)  # fmt: skip
def test_a_held_pod_stands_for_no_pod_of_a_canary(
    live: StatefulSet, pods: tuple[Pod, ...], reason: AnyReason | None, available: int
) -> None:
    """The status counts one that is ready as any pod, and one that is not, no more."""
    snapshot = snapshot_of(DB, live, *pods)
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
    going = member(held, OLD, deleting=True, ready=False, deletion=HELD)
    snapshot = snapshot_of(DB, live, going)
    found = [one.reason for one in snapshot.kind.faults(snapshot, live, FailFast())]
    assert found == [Reason.BLOCKED_BY_FINALIZER] * is_cause

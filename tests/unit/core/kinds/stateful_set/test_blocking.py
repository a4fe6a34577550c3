"""The pod at which a StatefulSet's controller stops, and whether it may go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.registry import unseen
from gate.core.kinds.stateful_set.objects import API_VERSION, STATEFUL_SET, StatefulSet
from gate.core.model.objects import CleanText, Pod, Ref
from gate.core.rollout.observations import Observed
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import BlockingPod
from tests.table import each
from tests.unit.core.world import NAMESPACE, container, pod, template

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
    snapshot = unseen(DB).fold(Observed(0.0, live))
    for one in pods:
        snapshot = snapshot.fold(Observed(0.0, one))
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

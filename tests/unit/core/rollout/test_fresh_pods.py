"""Which old pods are as young as new ones: by the times at which the API server made both."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.checks.old_pods import OldPods
from gate.core.kinds.registry import unseen
from gate.core.model.objects import Watched
from gate.core.rollout.baseline import find_beside
from gate.core.rollout.fresh_pods import has_old_pods, sort_old_pods
from gate.core.rollout.observations import Observed
from gate.core.rollout.snapshot import Snapshot
from tests.table import each
from tests.unit.core.kinds.stateful_set.test_blocking import DB, member, stateful_set
from tests.unit.core.kinds.stateful_set.test_blocking import NEW as DB_NEW
from tests.unit.core.kinds.stateful_set.test_blocking import OLD as DB_OLD
from tests.unit.core.kinds.stateful_set.test_serving import BEFORE, NOW, revision
from tests.unit.core.world import WEB, deployment, old_replica_set, pod, replica_set


def at(seconds: int) -> str:
    """Return the time so many seconds after noon."""
    return f"2026-11-21T12:{seconds // 60:02}:{seconds % 60:02}Z"


def snapshot(*ages: tuple[int, str, str], current: bool = True) -> Snapshot:
    """Return a Deployment with pods: a number, whose they are, and when they were created."""
    things: list[Watched] = [deployment(), old_replica_set(), *([replica_set()] if current else [])]
    for number, owner, created_at in ages:
        about = {"name": f"{owner}-{number}", "uid": f"{number}", "owner_uid": f"{owner}-uid"}
        things.append(pod(number, created_at=created_at, **about))
    found = unseen(WEB)
    for thing in things:
        found = found.fold(Observed(0.0, thing))
    return found


OLD, NEW = old_replica_set().name, replica_set().name
DB_NOW = "db-now"


@pytest.mark.contract("B1206")
@each(
    ("created_at", "is_fresh"),
    [
        (at(600), True),
        (at(660), True),
        (at(661), False),
        (at(540), True),
        (at(539), False),
        ("", False),
        ("yesterday", False),
    ],
)
def test_a_pod_is_fresh_within_a_minute_of_a_new_one(created_at: str, is_fresh: bool) -> None:
    """Before or after; a time that is not known makes nothing fresh."""
    found = sort_old_pods(snapshot((1, OLD, created_at), (2, NEW, at(600)), (3, NEW, "")), OLD)
    names = frozenset({f"{OLD}-1"})
    fresh = OldPods(fresh=names, are_there=True)
    assert found == (fresh if is_fresh else OldPods(others=names))


@pytest.mark.contract("B1165")
def test_pods_of_the_old_version_are_there_until_they_are_deleted() -> None:
    """Those of the new version are none of them."""
    both = snapshot((1, OLD, at(1)), (2, NEW, at(1)))
    assert has_old_pods(both, OLD)
    assert not has_old_pods(both, NEW)
    assert not has_old_pods(both, "web-0")
    assert not has_old_pods(snapshot((2, NEW, at(1))), OLD)


@pytest.mark.contract("B1206")
def test_without_a_version_there_are_no_pods_of_it() -> None:
    """Neither before a new pod exists, nor where the old version is gone or the same."""
    assert sort_old_pods(snapshot((1, OLD, at(1))), OLD) == OldPods(others=frozenset({f"{OLD}-1"}))
    assert sort_old_pods(snapshot((1, OLD, at(1)), (2, NEW, at(1))), "web-0") == OldPods()
    assert sort_old_pods(snapshot((1, OLD, at(1)), (2, NEW, at(1))), NEW) == OldPods()


@pytest.mark.contract("B1206")
def test_a_pod_of_a_partition_that_restarts_with_the_new_ones_is_fresh() -> None:
    """Of a StatefulSet, whose pods know their revision by a label."""
    found = unseen(DB)
    things: tuple[Watched, ...] = (
        stateful_set(partition=2),
        revision(DB_OLD, 1, BEFORE),
        revision(DB_NEW, 2, NOW),
        member(0, DB_OLD, created_at=at(10)),
        member(1, DB_OLD, created_at=at(590)),
        member(2, DB_NEW, created_at=at(600)),
    )
    for thing in things:
        found = found.fold(Observed(0.0, thing))
    sorted_pods = sort_old_pods(found, DB_OLD)
    assert sorted_pods == OldPods(frozenset({"db-1"}), frozenset({"db-0"}), are_there=True)


@pytest.mark.contract("B1539")
@each(
    ("pods", "changes", "beside"),
    [
        ((DB_OLD, DB_NOW, DB_NOW), {"partition": 1}, DB_OLD),
        ((DB_OLD, DB_NOW, DB_NOW), {"partition": 2}, DB_NOW),
        ((DB_NOW, DB_OLD, DB_OLD), {"partition": 1}, DB_NOW),
        ((DB_OLD, DB_NOW, DB_NOW), {}, DB_NOW),
        ((DB_OLD, DB_OLD, DB_NOW), {}, DB_OLD),
        ((DB_OLD, DB_OLD, DB_NOW), {"on_delete": True}, DB_OLD),
    ],
)
def test_what_serves_beside_a_new_version_is_what_the_strategy_holds(
    pods: tuple[str, ...], changes: dict[str, Any], beside: str
) -> None:
    """Not a canary that makes room for another one; without a hold it is what most pods run."""
    found = unseen(DB).fold(Observed(0.0, stateful_set(update_revision=DB_NOW)))
    members = [member(ordinal, name) for ordinal, name in enumerate(pods)]
    revisions = (revision(DB_OLD, 1, BEFORE), revision(DB_NOW, 2, NOW))
    things: tuple[Watched, ...] = (*revisions, *members)
    for thing in things:
        found = found.fold(Observed(0.0, thing))
    served = find_beside(found, f"{DB_NEW}-uid", stateful_set(**changes))
    assert served is not None
    assert served.name == beside


@pytest.mark.contract("B1206")
def test_what_is_gone_stays_fresh_until_its_name_is_another_pods() -> None:
    """Its last events are still read."""
    known = OldPods(frozenset({"db-0", "db-1"}))
    now = OldPods(frozenset({"db-2"}), frozenset({"db-1"}))
    assert known.after(now) == OldPods(frozenset({"db-0", "db-2"}), frozenset({"db-1"}))

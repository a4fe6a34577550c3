"""What a take-over removes with it, and when an undo changes no pod."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.plan import Plan, PlannedObject, PlannedWrite, Target
from gate.core.plan.taken_fields import removes_taken_fields
from gate.core.plan.undone_version import changes_no_pod
from gate.core.rollout.policy import Policy
from gate.core.writes.removed_owners import are_owners_removed
from gate.core.writes.take_over import take_over_now
from tests.table import each
from tests.unit.core.kinds.test_stateful_set import ALL_NEW, DB, stateful_set
from tests.unit.core.world import config_ref, snapshot_of, template

SETTINGS = config_ref()
DATA = {"a": "1", "b": "2"}


def owner(manager: str, *keys: str) -> dict[str, Any]:
    """Return an entry of managed fields that owns keys of `data`."""
    fields: dict[str, Any] = {"f:data": {f"f:{key}": {} for key in keys}}
    return {"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsV1": fields}


def settings(*owners: dict[str, Any], data: dict[str, str] | None = None) -> LiveObject:
    """Return a ConfigMap with these owners."""
    body = Body.of({"data": DATA if data is None else data})
    managed = Body.of({"managedFields": list(owners)})
    return LiveObject(SETTINGS, "u", "1", body, managed)


def take_over(*owners: dict[str, Any], ref: Ref = SETTINGS) -> PlannedWrite:
    """Return a take-over that leaves these owners."""
    return PlannedWrite(ref, Verb.TAKE_OVER, Body.of({"managedFields": list(owners)}))


BEFORE = Known(settings(owner("kubectl", "a", "b")))
TRIAL = settings(owner(FIELD_MANAGER, "a"), owner("kubectl", "a", "b"))
ALL_OURS = take_over(owner(FIELD_MANAGER, "a", "b"))


@pytest.mark.contract("B62")
@each(
    ("before", "trial", "write", "goes"),
    [
        (BEFORE, TRIAL, ALL_OURS, True),
        (BEFORE, TRIAL, take_over(owner(FIELD_MANAGER, "a", "b"), owner("other", "b")), False),
        (BEFORE, TRIAL, take_over(owner(FIELD_MANAGER, "a", "b"), ref=config_ref("more")), False),
        (BEFORE, TRIAL, PlannedWrite(SETTINGS, Verb.APPLY, ALL_OURS.body), False),
        (BEFORE, None, ALL_OURS, False),
        (Absent(), TRIAL, ALL_OURS, False),
    ],
)
def test_what_is_taken_over_and_not_applied_goes(
    before: Fact[LiveObject], trial: LiveObject | None, write: PlannedWrite, *, goes: bool
) -> None:
    """If nobody else owns it: of this object alone, and where there is something to compare."""
    planned = PlannedObject(SETTINGS, before, trial)
    assert removes_taken_fields(planned, (write,)) is goes


@pytest.mark.contract("B62")
def test_a_take_over_of_what_is_as_it_was_is_sent_as_it_was_planned() -> None:
    """Whoever writes the status as well keeps that, and loses all else."""
    status = {**owner("operator"), "subresource": "status"}
    before = settings(owner("operator", "a", "b"), status)
    planned = take_over(owner(FIELD_MANAGER, "a", "b"), status)
    live = replace(before, resource_version="2")
    assert take_over_now(planned, before, None, live) == planned.body


@pytest.mark.contract("B69")
def test_a_take_over_counts_for_an_object_whose_status_was_written_since() -> None:
    """That is no reason to leave its fields to their manager, and the apply to a conflict."""

    def status(time: str) -> dict[str, Any]:
        return {**owner("operator"), "subresource": "status", "time": time}

    before = settings(owner("operator", "a", "b"), status("2026-01-01T00:00:00Z"))
    live = settings(owner("operator", "a", "b"), status("2026-01-01T00:00:09Z"))
    planned = take_over(owner(FIELD_MANAGER, "a", "b"), status("2026-01-01T00:00:00Z"))
    taken = take_over_now(planned, before, None, live)
    assert taken is not None
    owners = {one["manager"]: one for one in taken.thaw()["managedFields"]}
    assert owners[FIELD_MANAGER]["fieldsV1"] == {"f:data": {"f:a": {}, "f:b": {}}}
    assert owners["operator"] == status("2026-01-01T00:00:09Z")


SERVERS = owner("before-first-apply", "b")


@pytest.mark.contract("B149")
@each(
    ("after", "now", "are_removed"),
    [
        ((owner(FIELD_MANAGER, "a"),), (SERVERS, owner("theirs", "a")), True),
        ((owner(FIELD_MANAGER, "a"), SERVERS), (SERVERS, owner("theirs", "a")), False),
        ((owner(FIELD_MANAGER, "a"), SERVERS), (), True),
    ],
)
def test_owners_that_the_server_made_before_our_apply_show_no_removal(
    after: tuple[dict[str, Any], ...], now: tuple[dict[str, Any], ...], *, are_removed: bool
) -> None:
    """Somebody has taken our fields over by name: they are theirs."""
    assert are_owners_removed(FIELD_MANAGER, settings(*after), settings(*now)) is are_removed


COMPLETE = stateful_set(updated_replicas=3, ready_replicas=3, available_replicas=3)


@pytest.mark.contract("B1301")
@each(
    ("after", "is_idle"),
    [
        (replace(COMPLETE, partition=2), True),
        (replace(COMPLETE, partition=2, template=template("shop/db:1")), False),
        (COMPLETE, False),
    ],
)
def test_an_undo_changes_no_pod_where_it_raises_a_partition_alone(
    after: StatefulSet, *, is_idle: bool
) -> None:
    """Another template comes to the pods above the partition."""
    target = Target(DB, snapshot_of(DB, COMPLETE, *ALL_NEW), Absent())
    trial = LiveObject(DB, "db-uid", "2", Body.of({}), Body.of({}), workload=after)
    objects = (PlannedObject(DB, Absent(), trial),)
    plan = Plan("undo", (target,), objects, (), Policy())
    assert changes_no_pod(plan, target) is is_idle

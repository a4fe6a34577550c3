"""An object at the end as it was left, and what is remembered of a version by then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.ending import Ending
from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.last_look import Finding, FindingKind, LeftObject, compare
from gate.core.attempt.left_version import find_left_version
from gate.core.attempt.parts import Rejection
from gate.core.attempt.record import record_of
from gate.core.attempt.state import Attempt
from gate.core.attempt.version_before import is_same_throughout
from gate.core.attempt.version_failures import find_doubt_of_jobs, find_failed_return
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.phases import Phase
from gate.core.plan.plan import Target
from gate.core.plan.record import Resumed
from gate.core.rollout.policy import Budgets, Policy
from tests.table import check_each
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import STARTED_AT, Player, serving
from tests.unit.core.recovery.test_resumption import plan_of
from tests.unit.core.world import WEB, config_ref

AS_WRITTEN = Finding(FindingKind.AS_WRITTEN)
DELETED = Finding(FindingKind.DELETED)


def deleting(live: LiveObject, *finalizers: str) -> LiveObject:
    """Return an object whose deletion waits for finalizers."""
    body = live.body.thaw()
    metadata = {**body["metadata"], "deletionTimestamp": "2026-11-22T10:00:00Z"}
    metadata |= {"finalizers": list(finalizers)} if finalizers else {}
    return replace(live, body=Body.of({**body, "metadata": metadata}), resource_version="99999")


def live(
    managed: list[dict[str, Any]], data: dict[str, Any] | None = None, **over: Any
) -> LiveObject:
    """Return a ConfigMap as a read gives it."""
    metadata = {"name": "settings", "namespace": "shop"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data or {}}
    fields = {"managedFields": managed}
    given = {"uid": "u", "resource_version": "1", "body": Body.of(body), **over}
    return LiveObject(Ref("v1", "ConfigMap", "shop", "settings"), managed=Body.of(fields), **given)


def entry(manager: str, *keys: str, operation: str = "Apply", time: str = "1") -> dict[str, Any]:
    """Return an entry of managed fields that owns keys of `data`."""
    owned: dict[str, Any] = {"f:data": {f"f:{key}": {} for key in keys}}
    return {"manager": manager, "operation": operation, "time": time, "fieldsV1": owned}


OURS = entry("rollout-gate", "a", "b")
BOTH, OTHER = {"a": "1", "b": "2"}, {"a": "1", "b": "x"}
WRITTEN = live([OURS], BOTH)
TWO_OWNERS = [
    entry("rollout-gate", "a"),
    entry("one", "b"),
    entry("two", "b", operation="Update"),
]


def b_changed_by(*managers: str) -> Finding:
    """Return that the key `b` has changed, by whom the object says."""
    return Finding(FindingKind.CHANGED, managers, ("data.b",))


@pytest.mark.contract("B49")
@pytest.mark.parametrize(
    ("now", "found"),
    [
        (live([OURS], {**BOTH, "c": "3"}), AS_WRITTEN),
        (live([entry("rollout-gate", "a")], {"a": "1"}), b_changed_by()),
        (live([entry("rollout-gate", "a", "b", time="2")], OTHER), b_changed_by("rollout-gate")),
        (live([OURS, entry("labeller", "c")], OTHER), b_changed_by()),
        (live(TWO_OWNERS, OTHER), b_changed_by("one", "two")),
    ],
    ids=["added-to", "removed", "same-manager", "no-owner-tells", "two-owners"],
)
def test_who_changed_it_is_named_only_where_the_object_says_so(
    now: LiveObject, found: Finding
) -> None:
    """A field that is gone has no owner, and a bystander is not blamed."""
    assert compare(LeftObject(WRITTEN), Known(now)) == found


@pytest.mark.contract("B49", "B143")
def test_an_item_of_a_list_is_found_without_a_key_that_the_server_defaults() -> None:
    """A Service's port is restored as it was applied, without its protocol."""

    def service(port: int, *managed: dict[str, Any]) -> LiveObject:
        ports = [{"port": port, "protocol": "TCP", "targetPort": 8080}]
        body = Body.of({"kind": "Service", "metadata": {}, "spec": {"ports": ports}})
        return live([*managed], body=body)

    def owner(manager: str, port: int) -> dict[str, Any]:
        item: dict[str, Any] = {
            f'k:{{"port":{port},"protocol":"TCP"}}': {"f:port": {}, "f:targetPort": {}}
        }
        owned = {"f:spec": {"f:ports": item}}
        return {"manager": manager, "operation": "Apply", "fieldsV1": owned}

    ours = owner("rollout-gate", 80)
    sent = Body.of({"spec": {"ports": [{"port": 80, "targetPort": 8080}]}})
    left = LeftObject(service(80, ours), sent)
    path = 'spec.ports[port=80,protocol="TCP"]'
    assert compare(left, Known(service(80, ours))) == AS_WRITTEN
    theirs = compare(left, Known(service(9090, owner("mesh", 9090))))
    assert theirs == Finding(FindingKind.CHANGED, ("mesh",), (path,))
    altered = LeftObject(service(9090, ours), sent)
    never = compare(altered, Known(service(9090, ours)))
    assert never == Finding(FindingKind.NOT_AS_SENT, (), (path,))


@pytest.mark.contract("B49")
def test_an_object_without_managed_fields_is_compared_whole() -> None:
    """Some servers keep none: then all of it counts."""
    left = LeftObject(live([], {"a": "1"}))
    assert compare(left, Known(live([], {"a": "1"}, resource_version="2"))) == AS_WRITTEN
    changed = compare(left, Known(live([], {"a": "2"}, resource_version="2")))
    assert changed == Finding(FindingKind.CHANGED)


@pytest.mark.contract("B49", "B176")
def test_names_that_could_not_be_printed_come_escaped() -> None:
    """A finalizer or a manager is text of others."""
    finding = compare(LeftObject(WRITTEN), Known(deleting(WRITTEN, "a\u202eb")))
    assert finding == Finding(FindingKind.BEING_DELETED, finalizers=('"a\\u202eb"',))
    assert compare(LeftObject(WRITTEN), Absent()) == DELETED


def changed_beside(behaviour: str) -> Player:
    """Change configuration and create some beside v1, whose pods then behave so for good.

    What was created is used by another Deployment by then, and stays.
    """
    server = serving(config("a"))
    policy = Policy(budgets=Budgets(bake_seconds=60.0))
    plan = plan_of(server, config("b"), config("a", "new"), manifest("v1"), policy=policy)
    player = Player(server, plan)
    player.users = {config_ref("new"): "deployment/api"}
    player.pass_to(STARTED_AT + 10.0)
    player.behave(behaviour, "v1")
    return player


def refused(attempt: Attempt) -> Attempt:
    """Return an attempt whose configuration could not go back."""
    no = Rejection(config_ref(), Reason.REJECTED, CleanText("no"))
    return replace(attempt, writes=replace(attempt.writes, refusals=FrozenMap({no.ref: no})))


def after_another(attempt: Attempt) -> Attempt:
    """Return an attempt on a workload that another version served."""
    target = attempt.plan.target(WEB)
    assert isinstance(target.baseline, Known)
    served = Known(replace(target.baseline.value, revision_name="web-0"))
    return replace(attempt, plan=replace(attempt.plan, targets=(replace(target, baseline=served),)))


@pytest.mark.contract("B1440")
def test_a_version_fails_again_only_by_its_own_pods_once_all_else_went_back() -> None:
    """Any other fact keeps it from that."""
    crashed, kept_out = changed_beside("crash").run(), changed_beside("over-quota").run()
    assert crashed.result.endings[WEB].outcome is Outcome.ROLLBACK_FAILED

    def check(fact: tuple[Attempt, Outcome, bool]) -> None:
        attempt, outcome, is_held = fact
        ending = replace(attempt.result.endings[WEB], outcome=outcome)
        assert (find_failed_return(attempt, WEB, ending) is not None) is is_held

    stuck = Outcome.ROLLBACK_FAILED
    check_each(
        check,
        [
            ("its own pods", (crashed, stuck, True)),
            ("it went back", (crashed, Outcome.ROLLED_BACK, False)),
            ("what changed did not", (refused(crashed), stuck, False)),
            ("another version served", (after_another(crashed), stuck, False)),
            ("its pods have time", (replace(crashed, now=crashed.course.leg_at), stuck, False)),
            ("a quota keeps them out", (kept_out, stuck, False)),
        ],
    )


@pytest.mark.contract("B1440")
def test_a_version_that_fails_again_failed_without_what_was_created_beside_it() -> None:
    """It was verified before that was there."""
    (closing,) = closed_of(changed_beside("crash").run()).workloads
    assert [set(one.members) for one in closing.versions if one.template] == [{WEB, config_ref()}]


@pytest.mark.contract("B1425")
def test_where_a_record_does_not_say_what_was_tried_it_may_have_been_a_version() -> None:
    """A gate that lives knows; one that finishes what another one began does not."""
    attempt = changed_beside("crash").run()
    objects = tuple(replace(one, trial=None) for one in attempt.plan.objects)
    plan = replace(attempt.plan, objects=objects)
    assert is_same_throughout(replace(attempt, plan=plan), WEB)
    resumed = replace(plan, resumed=Resumed(record_of(plan), written=FrozenMap()))
    assert not is_same_throughout(replace(attempt, plan=resumed), WEB)


@pytest.mark.contract("B1441", "B1275")
def test_a_job_speaks_against_a_version_after_all_else_or_where_its_end_is_unknown() -> None:
    """The failure of a Job beside it that lasts says nothing of the version."""
    attempt = Player(serving(), plan_of(serving(), manifest("v2"))).attempt
    job = Ref("batch/v1", "Job", "shop", "smoke")

    def check(end: tuple[Ref, Phase, Outcome, bool]) -> None:
        ref, phase, outcome, is_in_doubt = end
        targets = (Target(ref, unseen(ref), Absent(), phase),)
        endings = FrozenMap({ref: Ending(outcome, Reason.TIMEOUT, CleanText("why"))})
        result = replace(attempt.result, endings=endings)
        ended = replace(attempt, plan=replace(attempt.plan, targets=targets), result=result)
        assert (find_doubt_of_jobs(ended) is not None) is is_in_doubt

    check_each(
        check,
        [
            ("after", (job, Phase.AFTER, Outcome.FAILED, True)),
            ("beside", (job, Phase.MAIN, Outcome.FAILED, False)),
            ("unknown", (job, Phase.MAIN, Outcome.INCONCLUSIVE, True)),
            ("passed", (job, Phase.AFTER, Outcome.VERIFIED, False)),
            ("no Job", (WEB, Phase.AFTER, Outcome.FAILED, False)),
        ],
    )


@pytest.mark.contract("B705", "B1443")
def test_an_undo_leaves_a_version_only_where_it_ends_well() -> None:
    """One that failed, or was cut off, may have left it serving; no other command leaves any."""
    server = serving()
    player = Player(server, plan_of(server, manifest("v2"), command="undo"))
    ended = player.run()
    undo = record_of(ended.plan)

    def check(end: tuple[str, Outcome, bool]) -> None:
        command, outcome, is_left = end
        ending = replace(ended.result.endings[WEB], outcome=outcome)
        left = find_left_version(ended, replace(undo, command=command), WEB, ending)
        assert (left is not None) is is_left

    well = (Outcome.VERIFIED, Outcome.APPLIED)
    ends = [("undo", one, one in well) for one in Outcome] + [("apply", well[0], False)]
    check_each(check, [(f"{command}-{one}", (command, one, left)) for command, one, left in ends])

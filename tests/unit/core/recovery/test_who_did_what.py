"""What a recovery makes of objects that did not change, and of Jobs that may have run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.checks.spec import OnInconclusive
from gate.core.endings.differences import differences
from gate.core.kinds.job.objects import Job
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.record import Followed, Kept, Reach, Record
from gate.core.plan.target_set import TargetSet
from gate.core.protocol.effects import Write
from gate.core.recovery.gone_after_end import find_gone_after_end
from gate.core.recovery.resumption import resume
from gate.core.rollout.policy import OnFailure, OnFirstFailure, Policy, Response
from gate.wire import trace as traces
from tests.table import each
from tests.unit.core.kinds.test_job import TRACES
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.player import ends, rejected, target
from tests.unit.core.recovery.test_resumption import (
    LATER,
    Dying,
    finished,
    plan_of,
    serving,
)
from tests.unit.core.server import Server
from tests.unit.core.world import WEB, config_ref

API = ref_of(manifest("v1", "api"))
SETTINGS = config_ref()
NO_DOUBTS = Policy(response=Response(on_inconclusive=OnInconclusive.ROLLBACK))


@pytest.mark.contract("B530")
def test_a_complete_version_without_checks_is_verified_whatever_they_were_to_decide() -> None:
    """Nothing was left open that a rollback for want of evidence could be about."""
    server = serving()
    bodies = (manifest("v2"), manifest("v2", "api"))
    record = Dying(server, plan_of(server, *bodies, policy=NO_DOUBTS)).die_after_writes(2)
    assert not record.checks
    end = ends(finished(server, record).attempt)
    assert end == (0, Outcome.VERIFIED, Reason.COMPLETE)


@pytest.mark.contract("B530")
@pytest.mark.parametrize("served", [False, True])
def test_an_undo_takes_back_only_what_served_before(*, served: bool) -> None:
    """One workload of the dead attempt has nothing to return to: it is finished as it was to be."""
    server = Server()
    server.put(manifest("v1"))
    if served:
        server.put(manifest("v1", "api"))
    bodies = (manifest("v2"), manifest("v2", "api"))
    record = Dying(server, plan_of(server, *bodies)).die_after_writes(2)
    lives = {kept.ref: server.read(kept.ref) for kept in record.objects}
    found = {ref: Absent() if live is None else Known(live) for ref, live in lives.items()}
    snapshots = {one.ref: target(server, one.ref).snapshot for one in record.followed}
    plan = resume(record, found, snapshots, LATER, takes_back=True)
    assert plan is not None
    assert plan.resumed is not None
    assert plan.resumed.led_back.by_undo is plan.resumed.back is served


@pytest.mark.contract("B530", "B533")
def test_what_was_to_stay_as_it_is_and_was_not_written_is_nobody_elses() -> None:
    """It looks as its write would have left it, since that was to change nothing."""
    server = serving()
    player = Dying(server, plan_of(server, config("b"), manifest("v2"), manifest("v1", "api")))
    player.let_pass(Write)
    player.bend(Write, rejected)
    record = player.die_going_back()
    assert [one.reach.is_unreached for one in record.objects if one.ref == API] == [True]
    end = ends(finished(server, record).attempt)
    assert end == (4, Outcome.ROLLED_BACK, Reason.APPLY_REJECTED)


# -- Jobs ------------------------------------------------------------------------------------------


(WANTED,) = traces.read(TRACES / "job-good.jsonl").applied
MIGRATE = WANTED.ref
NOTHING: frozenset[Ref] = frozenset()


def record_of(phase: Phase, *unchanged: Ref, policy: Policy | None = None) -> Record:
    """Return the record of configuration, `web` and a Job, which goes some time after its end."""
    assert isinstance(WANTED.workload, Job)
    job = replace(WANTED, workload=replace(WANTED.workload, has_time_to_live=True))
    kept = (
        Kept(ref, Absent(), wanted, FIELD_MANAGER, changes=ref not in unchanged)
        for ref, wanted in ((SETTINGS, None), (WEB, None), (MIGRATE, job))
    )
    followed = (Followed(WEB, Absent()), Followed(MIGRATE, Absent(), phase=phase))
    return Record("apply", Leg.FORWARD, tuple(kept), followed, policy or Policy())


@pytest.mark.contract("B1247", "B530")
@each(("policy", "gone"), [(Policy(), {MIGRATE}), (NO_DOUBTS, set())])
def test_a_job_that_may_have_run_last_is_a_lack_of_evidence(policy: Policy, gone: set[Ref]) -> None:
    """A policy that takes a version back for want of evidence does so for this one, too."""
    record = record_of(Phase.AFTER, policy=policy)
    assert find_gone_after_end(record, {SETTINGS, WEB}, {SETTINGS, WEB}) == gone


@pytest.mark.contract("B1247")
def test_only_a_workload_that_was_to_change_shows_that_the_job_before_it_had_ended() -> None:
    """One that is as it was tells nothing: the Job may never have run."""
    assert record_of(Phase.BEFORE).find_passed({WEB}) == {MIGRATE}
    assert record_of(Phase.BEFORE, WEB).find_passed({WEB}) == NOTHING


@pytest.mark.contract("B2005")
@each(
    ("reach", "passed"),
    [(Reach(), {MIGRATE}), (Reach(is_unreached=True), set()), (Reach(is_open=True), set())],
)
def test_what_the_way_back_restored_had_been_written_behind_the_job(
    reach: Reach, passed: set[Ref]
) -> None:
    """By the record alone: nothing is left that was written."""
    record = record_of(Phase.BEFORE)
    objects = tuple(replace(one, reach=reach) for one in record.objects)
    assert replace(record, leg=Leg.BACK, objects=objects).find_passed(()) == passed
    assert replace(record, objects=objects).find_passed(()) == NOTHING


@pytest.mark.contract("B1247")
def test_what_was_to_stay_as_it_is_need_not_be_written_before_the_last_job() -> None:
    """What somebody else has changed of that since says nothing of whether the Job was written."""
    assert record_of(Phase.AFTER).find_perhaps_gone({WEB}, ()) == NOTHING
    assert record_of(Phase.AFTER, SETTINGS).find_perhaps_gone({WEB}, ()) == {MIGRATE}


@pytest.mark.contract("B2028")
def test_what_comes_after_a_job_that_was_not_replaced_yet_was_not_written_either() -> None:
    """What comes before it may have run."""
    record = record_of(Phase.AFTER, SETTINGS)
    jobs = tuple(replace(MIGRATE, name=name) for name in ("first", "second", "third"))
    *others, last = record.objects
    record = replace(
        record,
        objects=(*others, *(replace(last, ref=ref) for ref in jobs)),
        followed=tuple(Followed(ref, Absent(), phase=Phase.AFTER) for ref in jobs),
    )
    assert record.find_perhaps_gone({WEB}, ()) == set(jobs)
    assert record.find_perhaps_gone({WEB}, {WEB, jobs[1]}) == {jobs[0]}


@pytest.mark.contract("B533")
def test_a_workload_that_did_not_change_was_not_paused_by_the_dead_gate() -> None:
    """The other one was to be: that this one is as it was says nothing of anybody."""
    server = serving()
    server.behaviour["shop/web:v2"] = "crash"
    policy = Policy(response=Response(on_failure=OnFailure.PAUSE))
    plan = plan_of(server, manifest("v1"), manifest("v2", "api"), policy=policy)
    record = Dying(server, plan).die_going_back()
    bodies = {WEB: Body.of(manifest("v1")), API: Body.of(manifest("v1", "api"))}
    record = replace(record, target_set=TargetSet(FrozenMap(bodies)))
    attempt = finished(server, record).attempt
    assert attempt.interference.departures == FrozenMap()
    assert attempt.outcome is not Outcome.SUPERSEDED


@pytest.mark.contract("B535", "B1012")
def test_what_a_dead_gate_wrote_and_nobody_kept_is_not_called_written_late() -> None:
    """It was written all along: what cannot be taken back is said once, as what it is."""
    server = Server(v1="crash")
    server.put(config("a"))
    policy = Policy(response=Response(on_first_failure=OnFirstFailure.DELETE))
    plan = plan_of(server, config("b"), manifest("v1"), policy=policy)
    record = Dying(server, plan).die_after_writes(2)
    kept = tuple(
        replace(one, before=Unknown("too large"), expected=None) if one.ref == SETTINGS else one
        for one in record.objects
    )
    attempt = finished(server, replace(record, objects=kept)).attempt
    assert attempt.course.leg is Leg.BACK
    assert SETTINGS not in attempt.ledger.findings
    assert not any("too late" in line for line in differences(attempt))


@pytest.mark.contract("B1962")
def test_what_is_not_kept_of_an_unchanged_object_does_not_make_it_created() -> None:
    """The gate dies before it changes a workload: what it created goes, and nothing else."""
    server = serving()
    prune = Policy(response=Response(prune_created=True))
    bodies = (config("a"), config("c", "more"), manifest("v2"))
    record = Dying(server, plan_of(server, *bodies, policy=prune)).die_after_writes(2)
    members = {SETTINGS: Body.of(config("a")), WEB: Body.of(manifest("v1"))}
    kept = tuple(
        replace(one, before=Unknown("it is in no record"), expected=None)
        if one.ref == SETTINGS
        else one
        for one in record.objects
    )
    record = replace(record, objects=kept, target_set=TargetSet(FrozenMap(members)))
    player = finished(server, record)
    assert player.attempt.ledger.deleted == (ref_of(bodies[1]),)
    assert SETTINGS in server.stored

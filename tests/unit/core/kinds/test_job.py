"""Jobs are judged by their conditions, and stay as they ended, by the states of a real one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gate.core.attempt.new_rollout import applied_of
from gate.core.kinds.check_variables import is_measured
from gate.core.kinds.job.kind import JobKind
from gate.core.kinds.job.objects import JOB, Job
from gate.core.kinds.registry import has_way_back, unseen
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.objects import CleanText, Condition, Pod
from gate.core.model.outcome import Reason
from gate.core.rollout.judge import Rollout
from gate.core.rollout.observations import Observed, Vanished
from gate.core.rollout.policy import FailFast, Policy
from gate.core.rollout.verdict import VerdictKind
from gate.wire import trace as traces
from tests.table import each
from tests.unit.core.world import pod, snapshot_of, warning

TRACES = Path(__file__).parents[3] / "traces"


def followed(name: str) -> tuple[Rollout, list[Observed]]:
    """Return the rollout of a recorded Job at its write, and what was observed of it then."""
    recording = traces.read(TRACES / f"{name}.jsonl")
    (live,) = recording.applied
    rollout = Rollout.start(
        applied_of(0.0, None, live, FIELD_MANAGER), unseen(live.ref), Policy(), total_seconds=600.0
    )
    return rollout, [event for event in recording.events() if isinstance(event, Observed)]


def played(name: str) -> Rollout:
    """Return the rollout after all that was observed."""
    rollout, events = followed(name)
    for event in events:
        rollout = rollout.observe(event)
    return rollout


def last(name: str) -> Job:
    """Return the last state of a recorded Job."""
    live = played(name).snapshot.live
    assert isinstance(live, Job)
    return live


@pytest.mark.contract("B957")
def test_nothing_but_the_condition_complete_is_success() -> None:
    """Not the pod's success, not `succeeded`, not `SuccessCriteriaMet`."""
    rollout, events = followed("job-good")
    for event in events:
        rollout = rollout.observe(event)
        live = rollout.snapshot.live
        ruled = rollout.ruling(event.at)
        is_complete = live is not None and live.condition("Complete") is not None
        assert (ruled is not None) == is_complete
    counted = replace(last("job-good"), conditions=(), resource_version="9999")
    ruled = rollout.observe(Observed(3.0, counted)).ruling(3.0)
    assert ruled is None


@pytest.mark.contract("B969")
@pytest.mark.parametrize("goes", ["at once", "in the foreground"])
def test_what_was_seen_to_end_counts_when_it_is_gone(goes: str) -> None:
    """What deletes Jobs after their time to live does so in the foreground: a mark comes first."""
    rollout, live = played("job-good"), last("job-good")
    if goes == "in the foreground":
        going = replace(live, deleting=True, resource_version="9998")
        rollout = rollout.observe(Observed(3.0, going))
        assert_complete(rollout)
    assert_complete(rollout.observe(Vanished(4.0, JOB, live.uid)))


def assert_complete(rollout: Rollout) -> None:
    """Assert that the rollout is complete."""
    ruled = rollout.ruling(5.0)
    assert ruled is not None
    assert (ruled.kind, ruled.reason) == (VerdictKind.COMPLETE, Reason.COMPLETE)


@pytest.mark.contract("B969")
def test_one_that_is_gone_before_it_ended_was_deleted() -> None:
    """Nobody knows how it would have ended."""
    rollout, events = followed("job-good")
    for event in events[:5]:
        rollout = rollout.observe(event)
    live = rollout.snapshot.live
    assert live is not None
    ruled = rollout.observe(Vanished(0.5, JOB, live.uid)).ruling(0.5)
    assert ruled is not None
    assert ruled.reason is Reason.DELETED


@pytest.mark.contract("B961")
def test_crashes_are_left_to_the_back_off_limit() -> None:
    """A pod that is restarted in place may fail `backoffLimit` times, however many that are."""
    rollout, events = followed("job-failed")
    for event in events:
        if isinstance(event.object, Pod) and event.object.containers:
            crashing = tuple(
                replace(one, restarts=5, ready=False, running=False)
                for one in event.object.containers
            )
            pod = replace(event.object, phase="Running", containers=crashing)
            rollout = rollout.observe(replace(event, object=pod))
        elif not isinstance(event.object, Job) or event.object.failure is None:
            rollout = rollout.observe(event)
    assert rollout.ruling(30.0) is None


@pytest.mark.contract("B967")
def test_a_suspended_job_is_held() -> None:
    """As a paused Deployment: whoever suspended it has to let it go on."""
    rollout, events = followed("job-good")
    live = next(event.object for event in events if isinstance(event.object, Job))
    held = rollout.observe(Observed(1.0, replace(live, paused=True, resource_version="9999")))
    ruled = held.ruling(1.0)
    assert ruled is not None
    assert (ruled.kind, ruled.reason) == (VerdictKind.HELD, Reason.PAUSED)
    assert ruled.message == "the Job is suspended"


@pytest.mark.contract("B960")
def test_its_own_deadline_makes_the_total_longer() -> None:
    """A total that ended before would call a Job late that may run."""
    kind, live = JobKind(), last("job-good")
    assert kind.longest_legal_seconds(live, Policy()) == 900.0
    own = replace(live, active_deadline_seconds=7200)
    assert kind.longest_legal_seconds(own, Policy()) > 7200.0


@pytest.mark.contract("B970")
def test_checks_and_rollbacks_are_not_about_it() -> None:
    """Nothing of it serves, and nothing takes it back."""
    ref = last("job-good").ref
    assert not is_measured(ref)
    assert not has_way_back(ref)


@pytest.mark.contract("B1071")
def test_only_a_job_none_of_whose_pods_can_have_run_has_done_nothing() -> None:
    """What its status does not count, or no longer has, may have run."""
    kind, untouched = JobKind(), unseen(last("job-good").ref)
    nothing = {"succeeded": 0, "failed": 0, "terminating": 0, "active": 0, "conditions": ()}
    new = replace(last("job-good"), **nothing)  # type: ignore[arg-type]
    assert kind.lasting_effect(untouched, new) == ""
    suspended = Condition("Suspended", "False", CleanText("JobResumed"), CleanText(""))
    for ran in (
        {"succeeded": 1},
        {"failed": 1},
        {"terminating": 1},
        {"active": 1},
        {"ignores_failures": True},
        {"conditions": (suspended,)},
    ):
        live = replace(new, **ran)
        assert kind.lasting_effect(untouched, live) == "what the Job does", ran
    rollout, events = followed("job-good")
    seen = [(rollout := rollout.observe(event)).snapshot for event in events]
    with_pod = [one for one in seen if one.pods]
    said = [kind.lasting_effect(one, replace(new, active=1)) for one in with_pod]
    assert "" in said
    assert said == sorted(said)  # nothing until its container runs
    assert said[-1] == "what the Job does"
    assert kind.lasting_effect(played("job-good").snapshot, last("job-good")) == "what the Job did"


BEFORE, DENIED_AT, AFTER = (f"2026-11-21T1{hour}:00:00Z" for hour in (1, 2, 3))
QUOTA = "Error creating: pods is forbidden: exceeded quota: full"
POLICY = "Error creating: admission webhook denied the request"


def at_work(**changes: object) -> Job:
    """Return a Job that is to run three pods at once, and has none yet."""
    begun = {"conditions": (), "succeeded": 0, "active": 0, "replicas": 3, "completions": 3}
    return replace(last("job-good"), **{**begun, **changes})  # type: ignore[arg-type]


def denial(live: Job, said: str) -> Observed:
    """Return that the controller was denied a pod, at `DENIED_AT` and after 1 s."""
    about = pod(name=live.ref.name, uid=live.uid)
    return Observed(1.0, replace(warning(about, "FailedCreate", said), at=DENIED_AT))


@pytest.mark.contract("B1316", "B1341")
@each(
    ("live", "created", "is_denied"),
    [
        (at_work(), "", True),
        (at_work(), BEFORE, True),
        (at_work(), AFTER, False),
        (at_work(active=2), BEFORE, True),
        (at_work(active=3), BEFORE, False),
        (at_work(active=1, succeeded=2), BEFORE, False),
        (at_work(active=1, succeeded=1), BEFORE, True),
        (at_work(active=1, completions=None), BEFORE, True),
        (at_work(active=1, completions=None, succeeded=1), BEFORE, False),
        (at_work(paused=True), "", False),
    ],
)
def test_a_denial_counts_while_a_pod_is_lacking_and_none_came_since(
    live: Job, created: str, *, is_denied: bool
) -> None:
    """Near its end a Job wants fewer at once, and a work queue none after its first success."""
    snapshot = snapshot_of(live.ref, live).fold(denial(live, POLICY))
    if created:
        own = pod(owner_uid=live.uid, created_at=created, namespace=live.ref.namespace)
        snapshot = snapshot.fold(Observed(0.0, own))
    found = snapshot.kind.faults(snapshot, live, FailFast())
    assert [one.reason for one in found] == [Reason.POD_CREATE_DENIED] * is_denied
    assert any(one.is_evidence for one in found) is (is_denied and not live.active)


@pytest.mark.contract("B1316", "B95")
@each(
    ("said", "later", "fails_at"),
    [
        (QUOTA, None, 121.0),
        (QUOTA, {"active": 1}, None),
        (POLICY, None, 16.0),
        (POLICY, {"active": 1}, None),
        (POLICY, {"active": 0, "failed": 1}, 215.0),
    ],
)
def test_a_denied_job_fails_after_the_grace_unless_a_pod_of_it_runs(
    said: str, later: dict[str, int] | None, fails_at: float | None
) -> None:
    """The event alone starts the grace, and so does the end of the last pod that ran."""
    live = at_work(active=0 if later is None else 1)
    applied = followed("job-good")[0].applied
    rollout = Rollout.start(applied, snapshot_of(live.ref, live), Policy(), total_seconds=600.0)
    rollout = rollout.observe(denial(live, said))
    assert [one.reason for one in rollout.causes(1.0)] == [Reason.POD_CREATE_DENIED]
    if later is not None:
        now = replace(live, **later, resource_version="9999")  # type: ignore[arg-type]
        rollout = rollout.observe(Observed(200.0, now))
    times = (15.9, 16.0, 120.9, 121.0, 214.9, 215.0, 599.0)
    assert next((at for at in times if rollout.ruling(at) is not None), None) == fails_at

"""What the live tree shows of an attempt, and of a workload that `status --watch` follows."""

from __future__ import annotations

from collections.abc import Mapping

from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.model.fact import Known
from gate.core.model.objects import Ref
from gate.core.model.signal_names import signal_name
from gate.core.plan.leg import Leg
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.snapshot import Snapshot
from gate.report.document.versions import new_revision
from gate.report.live.checks import check_views
from gate.report.live.clocks import attempt_clocks, rollout_clocks
from gate.report.live.view import Mark, View, WorkloadView
from gate.report.live.workloads import MARKS, rollout_view, snapshot_view

_DOING: Mapping[Leg, Mapping[State, str]] = {
    Leg.FORWARD: {
        State.RECORDING: "writing the attempt record",
        State.WRITING: "applying",
        State.AWAITING: "waiting for what has to be ready",
        State.FOLLOWING: "rolling out",
        State.BAKING: "complete, and watched for a while",
        State.CONFIRMING: "reading everything again before the verdict",
        State.INSPECTING: "reading what was written once more",
        State.CLOSING: "giving the lock back",
        State.ENDED: "done",
    },
    Leg.BACK: {
        State.RECORDING: "rolling back: writing the attempt record",
        State.WRITING: "rolling back: writing",
        State.FOLLOWING: "rolling back",
        State.BAKING: "rolled back",
        State.CONFIRMING: "rolled back: reading everything again",
        State.INSPECTING: "rolled back: reading what was written once more",
        State.CLOSING: "rolled back: giving the lock back",
        State.ENDED: "done",
    },
}


def attempt_view(attempt: Attempt, now: float, started_at: float) -> View:
    """Return the view of an attempt at `now`, in a run that began at `started_at`.

    Both are monotonic seconds of the attempt's clock.
    """
    workloads = tuple(_workload(attempt, target.ref, now) for target in attempt.plan.targets)
    return View(
        _phase(attempt, now),
        _mark(attempt, now),
        max(0.0, now - started_at),
        workloads,
        check_views(attempt) if attempt.course.leg is Leg.FORWARD else (),
        attempt_clocks(attempt, now),
    )


def status_view(rollout: Rollout, now: float, started_at: float) -> View:
    """Return the view of a workload that somebody else rolls out."""
    kind = rollout.verdict(now).kind
    phase = "paused" if kind is VerdictKind.HELD else kind.value
    workload = rollout_view(rollout, now)
    clocks = rollout_clocks([rollout], now)
    return View(phase, MARKS[kind], max(0.0, now - started_at), (workload,), clocks=clocks)


def _phase(attempt: Attempt, now: float) -> str:
    doing = _DOING[attempt.course.leg][attempt.course.state]
    if attempt.interference.signal_number is not None:
        doing = f"{signal_name(attempt.interference.signal_number)}: {doing}"
    trouble = attempt.interference.contact.describe_trouble(now)
    return doing if trouble is None else trouble


def _mark(attempt: Attempt, now: float) -> Mark:
    if (
        attempt.interference.contact.describe_trouble(now) is not None
        or attempt.interference.signal_number is not None
    ):
        return Mark.UNSURE
    if attempt.course.leg is Leg.BACK:
        return Mark.BAD
    return Mark.GOOD if attempt.course.state in (State.BAKING, State.CONFIRMING) else Mark.MOVING


def _workload(attempt: Attempt, ref: Ref, now: float) -> WorkloadView:
    rollout = attempt.workloads.rollouts.get(ref)
    if rollout is not None:
        return rollout_view(rollout, now, _roles(attempt, ref, rollout.snapshot))
    snapshot = attempt.workloads.snapshots.get(ref) or attempt.plan.target(ref).snapshot
    return snapshot_view(snapshot, _roles(attempt, ref, snapshot))


def _roles(attempt: Attempt, ref: Ref, snapshot: Snapshot) -> dict[str, str]:
    """Return the roles of the versions in this attempt, by uid.

    On the forward leg the one that is judged is "new"; on the way back it is "failed", or still
    "new" if its workload goes back for another reason, and what served before is "back".
    """
    if attempt.course.leg is Leg.FORWARD:
        judged = attempt.workloads.rollouts.get(ref)
        new = new_revision(judged) if judged is not None else None
        return {new.uid: "new"} if new is not None else {}
    judged = attempt.workloads.followed_before.get(ref)
    new = new_revision(judged) if judged is not None else None
    roles = (
        {new.uid: "failed" if ref in attempt.result.failures else "new"} if new is not None else {}
    )
    baseline = attempt.plan.target(ref).baseline
    back = baseline.value.revision_name if isinstance(baseline, Known) else ""
    return {**roles, **{rs.uid: "back" for rs in snapshot.list_owned() if rs.name == back}}

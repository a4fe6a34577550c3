"""One line for each change, and a sign of life while nothing changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.cluster_name import ClusterName
from gate.core.attempt.awaited_objects import find_awaited, readiness_of
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.kinds.registry import has_way_back
from gate.core.model.fact import Known
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.model.outcome import ON_THEIR_WAY, Reason
from gate.core.model.remedy import Remedy
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Announce
from gate.core.rollout.causes import Cause
from gate.core.rollout.early_evidence import early_causes, has_evidence
from gate.core.rollout.judge import Rollout, VerdictKind
from gate.core.rollout.policy import OnInterrupt
from gate.core.versions.judged_version import template_digest
from gate.duration import format_seconds
from gate.report.kinds import registry

_MOST_TOLD = 3
_UNNAMED: Final = ClusterName()
_STANDING = {
    State.RECORDING: "waiting for the attempt record to be written",
    State.CONFIRMING: "reading everything again before the verdict",
    State.INSPECTING: "reading what was written once more",
    State.CLOSING: "giving the lock back",
    State.ENDED: "done",
}


def timeline_line(announce: Announce, started_at: float) -> str:
    """Return a line of the timeline; `started_at` is the run's start on the clock of `announce`."""
    seconds = max(0.0, announce.at - started_at)
    message = " ".join(announce.message.split())
    return f"{seconds:6.1f}s  {announce.event:<10}  {message}"


def waiting_for(attempt: Attempt, now: float, cluster: ClusterName = _UNNAMED) -> str:
    """Return what an attempt waits for, and why it has not come yet: the heartbeat's message.

    A command in it is for `cluster`.
    """
    return "; ".join(_waits(attempt, now, cluster))


def _waits(attempt: Attempt, now: float, cluster: ClusterName) -> Iterator[str]:
    if (trouble := attempt.interference.contact.describe_trouble(now)) is not None:
        yield trouble
    match attempt.course.state:
        case State.WRITING:
            rest = ", ".join(str(write.ref) for write in attempt.writes.queue[:_MOST_TOLD])
            yield f"writing {rest}" if rest else "waiting for the answer to a write"
            yield from _held_back(attempt, now)
        case State.FOLLOWING | State.BAKING | State.AWAITING:
            yield from _following(attempt, now, cluster)
        case state:
            yield _STANDING[state]


def _held_back(attempt: Attempt, now: float) -> Iterator[str]:
    """Say which workloads stay at what is new while a write before theirs gets errors."""
    queue = attempt.writes.queue
    if attempt.course.leg is not Leg.BACK or not (queue and attempt.writes.uncertain):
        return
    first, followed = queue[0].ref, attempt.workloads.followed_before
    restored = dict.fromkeys(write.ref for write in queue if write.verb is Verb.APPLY)
    held = [ref for ref in restored if ref in followed and _has_version_before(attempt, ref)]
    if not held or first in followed:
        return
    names = ", ".join(map(str, held[:_MOST_TOLD]))
    stays = "stays at the new version" if len(held) == 1 else "stay at the new versions"
    left = format_seconds(max(0.0, round(attempt.leg_ends_at - now)))
    yield f"until {first} is back, for another {left} at most, {names} {stays}"


def _has_version_before(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload returns to another pod template than it has now."""
    baseline, written = attempt.plan.target(ref).baseline, attempt.ledger.written.get(ref)
    now = written.after.workload if written is not None else None
    if not isinstance(baseline, Known) or now is None:
        return False
    return template_digest(now.template) != template_digest(baseline.value.template)


def _following(attempt: Attempt, now: float, cluster: ClusterName) -> Iterator[str]:
    lines = [
        (ref, _line(attempt, rollout, now, cluster))
        for ref, rollout in attempt.workloads.rollouts.items()
        if ref not in attempt.interference.departures
    ]
    waiting = [(registry.of_ref(ref), line) for ref, line in lines if line]
    objects = list(_objects(attempt))
    texts = [line for _, line in waiting] + objects
    yield from texts[:_MOST_TOLD]
    if len(texts) > _MOST_TOLD:
        kinds = registry.name_kinds(kind for kind, _ in waiting[_MOST_TOLD:])
        yield f"{len(texts) - _MOST_TOLD} more {'objects' if objects else kinds}"
    if not texts and attempt.course.state is State.BAKING and attempt.course.leg is Leg.FORWARD:
        left = attempt.course.baked_since + attempt.bake_seconds - now
        yield f"complete; watching for another {max(0.0, left):.0f} s"
    elif not texts:
        yield "waiting for the verdict to be read again"
    if attempt.course.leg is Leg.FORWARD:
        yield from _open_comparisons(attempt)


def _open_comparisons(attempt: Attempt) -> Iterator[str]:
    """Yield how far the comparisons by counts are that have not decided yet."""
    for run in attempt.health.checks.values():
        looks = run.tally.measured
        if run.counts is not None and looks and not run.settled:
            yield f"{run.check.name}: undecided after {looks} look{'' if looks == 1 else 's'}"


def _objects(attempt: Attempt) -> Iterator[str]:
    """Yield what the objects lack that are waited for."""
    for ref in find_awaited(attempt):
        why = readiness_of(attempt, ref).why
        yield f"{ref} is not ready{f': {why}' if why else ''}"


def _line(attempt: Attempt, rollout: Rollout, now: float, cluster: ClusterName) -> str:
    """Return what one workload still lacks, "" if it is complete."""
    verdict = rollout.verdict(now)
    if verdict.kind is VerdictKind.COMPLETE:
        return ""
    if verdict.reason is Reason.PAUSED:
        return f"{rollout.ref}: {verdict.message}{_on_pause(attempt, rollout, now, cluster)}"
    causes = verdict.causes or rollout.causes(now)
    said = f"{rollout.ref}: {verdict.message}{_because(causes)}"
    return said + _name_deletion(rollout.ref, causes, cluster)


def _on_pause(attempt: Attempt, rollout: Rollout, now: float, cluster: ClusterName) -> str:
    """Say what ends a pause; first how to go back if anything is wrong with the new pods.

    To resume what fails rolls out more of it.
    """
    ref = rollout.ref
    why_kubectl = "(rollout-gate resume waits for a run that has the lock)"
    after = f"it goes on after {end_of_pause(ref, cluster)} {why_kubectl}"
    causes = early_causes(rollout, now) if attempt.course.leg is Leg.FORWARD else ()
    wrong = tuple(one for one in causes if one.reason not in ON_THEIR_WAY)
    if not wrong or not has_way_back(ref):
        return f": {after}"
    look = cluster.command("rollout-gate", "history", str(ref), namespace=ref.namespace)
    back = f"what there is to return to: {look}"
    if _returns_on_signal(attempt, rollout, now):
        back = "to go back, end this run with Ctrl-C, or cancel its job"
    return f"{_because(wrong)}: {back}; {after}"


def _returns_on_signal(attempt: Attempt, rollout: Rollout, now: float) -> bool:
    """Tell whether a signal takes a workload back to what served before."""
    is_kept = attempt.plan.policy.response.on_interrupt is OnInterrupt.KEEP
    if is_kept or not attempt.plan.may_retreat or not has_evidence(rollout, now):
        return False
    return isinstance(attempt.plan.target(rollout.ref).baseline, Known)


def end_of_pause(ref: Ref, cluster: ClusterName) -> str:
    """Return what ends a pause while a run has the lock: our own `resume` would wait for it."""
    words = (word.format(called=ref) for word in registry.of_ref(ref).end_of_pause)
    return cluster.command("kubectl", *words, namespace=ref.namespace)


def _name_deletion(ref: Ref, causes: tuple[Cause, ...], cluster: ClusterName) -> str:
    """Name the command that replaces a pod for which everything else waits, "" without one."""
    waits = (one for one in causes if one.remedy in (Remedy.REPLACE_POD, Remedy.DELETE_POD))
    pod = next((one.subject for one in waits), "")
    if not pod:
        return ""
    delete = cluster.command("kubectl", "delete", pod, namespace=ref.namespace)
    return f"; to go on at once: {delete}"


def _because(causes: tuple[Cause, ...]) -> str:
    return f" ({causes[0].reason}: {causes[0].message})" if causes else ""

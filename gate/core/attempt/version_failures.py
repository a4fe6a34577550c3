"""Why a version is not verified: its own failure, a doubt of Jobs, a return that failed."""

from __future__ import annotations

from dataclasses import replace

from gate.core.attempt.ending import Ending
from gate.core.attempt.state import Attempt
from gate.core.attempt.version_before import is_same_throughout
from gate.core.kinds.registry import has_way_back
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.phases import Phase
from gate.core.rollout.verdict import VerdictKind
from gate.core.versions.judged_version import is_failure
from gate.core.versions.surroundings import STANDSTILLS, is_excused


def find_failure(attempt: Attempt, ref: Ref) -> Ending | None:
    """Return why a workload's version failed, None if that is not known.

    The end of a gate is no failure of a version.
    """
    resumed = attempt.plan.resumed
    if resumed is None or not resumed.record.why or len(resumed.record.followed) > 1:
        why = attempt.result.failures.get(ref)
    else:
        why = attempt.result.why_back
        why = None if why is not None and why.reason is Reason.INTERRUPTED else why
    return None if why is None else weigh_standstill(attempt, ref, why)


def weigh_standstill(attempt: Attempt, ref: Ref, why: Ending) -> Ending:
    """Return the end of a version, with another reason where the clocks blamed it for others.

    It is no failure that nobody has replaced its pods where the controller leaves that to people,
    or that no node could run them: `NoRollout` then. Where too little of it could be seen, or its
    surroundings held it up, nobody knows.
    """
    if why.reason not in STANDSTILLS:
        return why
    if not why.causes and _is_left(attempt, ref):
        message = CleanText(f"nobody has replaced its pods (OnDelete): {why.message}")
        return replace(why, reason=Reason.NO_ROLLOUT, message=message)
    if attempt.plan.resumed is None and _had_no_ready_node(attempt, ref):
        message = CleanText(f"no node of its pods was Ready: {why.message}")
        return replace(why, reason=Reason.NO_ROLLOUT, message=message)
    if is_excused(why.reason, [cause.reason for cause in why.causes]):
        return replace(why, reason=why.causes[0].reason)
    return why


def find_doubt_of_jobs(attempt: Attempt) -> Ending | None:
    """Return the end of a Job that leaves a complete version unverified, None for none.

    What runs once all else is complete, as a smoke test, speaks against that by its failure, as a
    failed check does; the failure of another one that lasts does not. Of one that may have been
    written and is gone nobody knows what it found.
    """
    ends = [
        (target.phase, attempt.result.endings.get(target.ref))
        for target in attempt.plan.targets
        if not has_way_back(target.ref)
    ]
    failed = (
        one for phase, one in ends if phase is Phase.AFTER and _has_ended(one, Outcome.FAILED)
    )
    doubted = (one for _, one in ends if _has_ended(one, Outcome.INCONCLUSIVE))
    return next(failed, None) or next(doubted, None)


def _has_ended(ending: Ending | None, outcome: Outcome) -> bool:
    return ending is not None and ending.outcome is outcome


def find_failed_return(attempt: Attempt, ref: Ref, ending: Ending) -> Ending | None:
    """Return why a version fails to which a way back returned, None unless its pods show that.

    Where what had changed went back without any help, it is the version that fails. That it takes
    too long says so only where its pods were of it all along: new ones may merely start slowly.
    """
    rollout = attempt.workloads.rollouts.get(ref)
    is_stuck = ending.outcome is Outcome.ROLLBACK_FAILED
    if rollout is None or not is_stuck or attempt.writes.refusals:
        return None
    verdict = rollout.verdict(attempt.now)
    is_too_slow = verdict.reason in STANDSTILLS and not is_same_throughout(attempt, ref)
    if verdict.kind is not VerdictKind.FAILED or is_too_slow:
        return None
    weighed = weigh_standstill(attempt, ref, Ending.of_failure(verdict))
    return weighed if is_failure(weighed.reason) else None


def _is_left(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether the controller replaced no pod by itself, as the workload was written."""
    written = attempt.ledger.written.get(ref)
    workload = written.after.workload if written is not None else None
    return workload is not None and workload.leaves_old_pods


def _had_no_ready_node(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether no pod of it is evidence, where a kind looks at the nodes of its pods."""
    followed = attempt.workloads.followed_before.get(ref) or attempt.workloads.rollouts.get(ref)
    live = followed.snapshot.live if followed is not None else None
    if followed is None or live is None or not followed.kind.looks_at_nodes:
        return False
    snapshot = followed.snapshot
    own = [track.pod for track in snapshot.pods.values() if track.pod.owner_uid == live.uid]
    return bool(own) and not any(followed.kind.is_evidence(snapshot, pod) for pod in own)


def is_known_failure(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload's own version led back, whoever has changed it since.

    A write that the server refused says nothing about the version.
    """
    why = find_failure(attempt, ref)
    return why is not None and is_failure(why.reason) and why.reason is not Reason.APPLY_REJECTED


def has_rollback_failed(attempt: Attempt, ref: Ref) -> bool:
    """Tell whether a workload did not go back, in an attempt that finishes no other one's."""
    is_stuck = attempt.result.endings[ref].outcome is Outcome.ROLLBACK_FAILED
    return is_stuck and attempt.plan.resumed is None

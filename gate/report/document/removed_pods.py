"""Warnings about pods that were in the way: those that this run removed, and those it could not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gate.core.attempt.pod_replacement import LEFT, Replacement, Stage
from gate.core.attempt.state import Attempt
from gate.core.model.objects import Ref
from gate.core.rollout.policy import BlockedPods
from gate.report.document.versions import latest_snapshot


def describe_removed(attempt: Attempt) -> Iterator[str]:
    """Name the pods of each workload that the server let this run remove, in one line.

    Another line has those that are gone after this run had asked for it, where no answer says that
    it was done: somebody else may have deleted them.
    """
    how = attempt.plan.policy.response.blocked_pods
    done = "evicted" if how is BlockedPods.EVICT else "deleted"
    for ref in dict.fromkeys(one.workload for one in _replacements(attempt)):
        name, its = attempt.plan.name_of(ref), [*_of_workload(attempt, ref)]
        removed = _names_of(one for one in its if _is_let_go(one))
        if removed:
            logs, them = ("its log", "it") if len(removed) == 1 else ("their logs", "them")
            why = f"for the controller to replace {them}"
            yield f"{name}: this run {done} {_join(removed)} with {logs}, {why}"
        gone = _names_of(one for one in its if _is_perhaps_ours(attempt, one))
        if gone:
            are, logs = ("is", "its log") if len(gone) == 1 else ("are", "their logs")
            asked = "this run asked for that, but no answer says that it did it"
            yield f"{name}: {_join(gone)} {are} gone or going, with {logs}: {asked}"


def describe_not_removed(attempt: Attempt) -> Iterator[str]:
    """Name the pods that the server did not let go, where no cause does; not those that went."""
    for one in _replacements(attempt):
        if one.stage not in LEFT or _is_gone(attempt, one):
            continue
        ending = attempt.result.endings.get(one.workload)
        said = [cause.message for cause in ending.causes] if ending is not None else []
        if not any(each.endswith(one.message) for each in said):
            name = attempt.plan.name_of(one.workload)
            yield f"{name}: {one.pod} is in the way, and was not replaced: {one.message}"


def _replacements(attempt: Attempt) -> Iterator[Replacement]:
    return iter(attempt.workloads.replacements.values())


def _of_workload(attempt: Attempt, ref: Ref) -> Iterator[Replacement]:
    return (one for one in _replacements(attempt) if one.workload == ref)


def _is_let_go(one: Replacement) -> bool:
    """Tell whether the server accepted a removal; with a message the pod was gone before."""
    return one.stage is Stage.ACCEPTED and not one.message


def _is_perhaps_ours(attempt: Attempt, one: Replacement) -> bool:
    """Tell whether a pod is gone of which no answer says that a removal of this run did it."""
    if one.stage is Stage.ACCEPTED:
        return bool(one.message)
    return one.stage in (Stage.SENT, Stage.UNANSWERED) and _is_gone(attempt, one)


def _is_gone(attempt: Attempt, one: Replacement) -> bool:
    """Tell whether a pod was gone, or on its way, at the last look."""
    snapshot = latest_snapshot(attempt, one.workload)
    if snapshot is None:
        return False
    track = snapshot.pods.get(one.uid)
    return track is None or track.pod.deleting


def _names_of(removals: Iterable[Replacement]) -> list[str]:
    """Return the names of pods; one of a StatefulSet has the name of the one before it."""
    return list(dict.fromkeys(one.pod for one in removals))


def _join(names: list[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last

"""Why a Job has failed or, while it goes on, what keeps it from its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gate.core.kinds.job.descriptions import add_last_words, describe_condition, own_pods
from gate.core.kinds.job.objects import PARKED, Job
from gate.core.kinds.job.reasons import JobReason
from gate.core.model.objects import CleanText, Revision
from gate.core.rollout.controller_faults import Fault, denial_of_pods, find_denial
from gate.core.rollout.policy import FailFast
from gate.core.rollout.workload_kind import View


def faults(view: View[Revision], live: Job, limits: FailFast) -> Iterator[Fault]:
    """Yield that the Job has failed or, while it may go on, what keeps it from its end."""
    if live.failure is not None:
        said = add_last_words(view, live, describe_condition(live.failure))
        yield Fault(JobReason.JOB_FAILED, said, 0.0, is_evidence=True, remedy=live.next_run)
    elif live.complete is None:
        if live.is_parked:
            yield Fault(JobReason.NO_PARALLELISM, CleanText(PARKED))
        yield from _find_denial(view, live, limits)
        yield from _describe_failed_pods(view, live)


def _find_denial(view: View[Revision], live: Job, limits: FailFast) -> Iterator[Fault]:
    """Yield that pods are denied: an Event says why, as a Job has no condition for it.

    While a pod of it runs, nothing has to move, and the next one may come when that one has ended:
    the denial is named, and no grace counts.
    """
    if live.paused or live.active >= live.wanted_at_once:
        return
    denied = find_denial(view.events.list_denials(live.uid), own_pods(view, live))
    if denied is None:
        return
    fault = denial_of_pods(denied.message, None, limits)
    yield replace(fault, grace_seconds=None, is_evidence=False) if live.active else fault


def _describe_failed_pods(view: View[Revision], live: Job) -> Iterator[Fault]:
    """Yield that pods have failed, whether or not the Job's policy counts them; it goes on."""
    failed = [track for track in own_pods(view, live) if track.pod.phase == "Failed"]
    if not failed:
        return
    pods = "1 pod has" if len(failed) == 1 else f"{len(failed)} pods have"
    ignored = " (its podFailurePolicy ignores some failures)" if live.ignores_failures else ""
    said = add_last_words(view, live, f"{pods} failed{ignored}")
    yield Fault(JobReason.POD_FAILED, said)

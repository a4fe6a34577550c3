"""How far a Job came, and how it ended: in the words of the pod that failed last."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.kinds.job.objects import Job
from gate.core.model.objects import CleanText, Condition, ContainerStatus, Revision, Termination
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.workload_kind import LastWords, View

_OVER = ("Failed", "Succeeded")


def add_last_words(view: View[Revision], live: Job, said: str) -> CleanText:
    """Say as well how the container ended that failed last."""
    ended = _last_failure(view, live)
    if ended is None:
        return CleanText(said)
    track, status, termination = ended
    name = f"init container {status.name}" if status.init else status.name
    last = f": {termination.message}" if termination.message else ""
    reason = termination.reason or "Error"
    pod = f"pod/{track.pod.name}: {name}: {reason}, exit code {termination.exit_code}{last}"
    return CleanText(f"{said}; {pod}")


def describe_condition(condition: Condition) -> str:
    """Return a condition's reason with its message."""
    return ": ".join(filter(None, (condition.reason, condition.message)))


def last_words(view: View[Revision], live: Job) -> LastWords | None:
    """Return whose log explains a Job: what failed last, else what still ran when it failed.

    A deadline ends pods that have not failed. None if no pod was seen that explains it.
    """
    ended = _last_failure(view, live)
    if ended is not None:
        return LastWords(ended[0].pod.name, ended[1].name)
    if live.failure is None:
        return None
    running = [track for track in own_pods(view, live) if track.pod.phase not in _OVER]
    for track in sorted(running, key=lambda track: (-track.seen_at, track.pod.name)):
        main = next((one for one in track.pod.containers if not one.init), None)
        if main is not None:
            return LastWords(track.pod.name, main.name)
    return None


def may_have_run(view: View[Revision], live: Job) -> bool:
    """Tell whether a container of it may have run: one has, or it had pods that are gone.

    Pods that are deleted while it is suspended, or whose failures its policy ignores, are counted
    nowhere.
    """
    pods = [track.pod for track in own_pods(view, live)]
    if live.succeeded or live.failed or live.terminating or live.active > len(pods):
        return True
    if live.ignores_failures or live.condition("Suspended") is not None:
        return True
    return any(_has_begun(status) for pod in pods for status in pod.containers)


def _has_begun(status: ContainerStatus) -> bool:
    ended = status.terminated or status.last_terminated
    return status.running or status.restarts > 0 or ended is not None


def describe_counts(live: Job) -> str:
    """Describe how far it is in one line, by its own status."""
    if live.complete is not None:
        pods = "1 pod has" if live.succeeded == 1 else f"{live.succeeded} pods have"
        parts = [f"{pods} succeeded"]
    else:
        parts = [f"{live.succeeded} of {live.wanted} completions"]
    for count, what in (
        (live.active, "running or starting"),
        (live.terminating, "terminating"),
        (live.failed, "failed"),
    ):
        if count:
            parts.append(f"{count} {'pod' if count == 1 else 'pods'} {what}")
    return ", ".join(parts)


def _last_failure(
    view: View[Revision], live: Job
) -> tuple[PodTrack, ContainerStatus, Termination] | None:
    """Return the container that failed last, by the kubelets' times; of several the first name."""
    found = sorted(_failures(view, live), key=lambda one: (one[0].pod.name, one[1].name))
    return max(found, key=lambda one: one[2].at, default=None)


def _failures(
    view: View[Revision], live: Job
) -> Iterator[tuple[PodTrack, ContainerStatus, Termination]]:
    for track in own_pods(view, live):
        for status in track.pod.containers:
            ended = status.terminated or status.last_terminated
            if ended is not None and ended.exit_code != 0:
                yield track, status, ended


def own_pods(view: View[Revision], live: Job) -> list[PodTrack]:
    """Return its pods, those that have ended or are on their way out too."""
    return [track for track in view.pods.values() if track.pod.owner_uid == live.uid]

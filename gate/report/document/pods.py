"""Why each pod is as it is, in words, with similar pods grouped."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Sequence

from gate.core.frozen import dataclass
from gate.core.model.objects import ContainerStatus, Pod
from gate.core.rollout.controller_faults import describe_deletion
from gate.core.rollout.pod_history import PodTrack

_READY = "ready"
_MOST_NAMED = 3
_MOST_GROUPS = 8


class PodRank(enum.IntEnum):
    """The order in which pods need a reader's attention."""

    FAILING = 0
    HINDERED = 1
    STARTING = 2
    RESTARTED = 3
    OVER = 4
    READY = 5


@dataclass(frozen=True, slots=True)
class PodState:
    """A pod's state: `kind` is equal for similar pods, `text` describes this one."""

    rank: PodRank
    kind: str
    text: str


def pod_state(track: PodTrack) -> PodState:
    """Return why a pod is as it is: the first thing that is wrong with it."""
    pod = track.pod
    if pod.deleting:
        said = describe_deletion(pod)
        return PodState(PodRank.OVER, said, said)
    if pod.phase in ("Failed", "Succeeded"):
        said = f"{pod.phase}: {pod.reason}" if pod.reason else pod.phase
        return PodState(PodRank.OVER, said, said)
    if pod.unschedulable:
        return PodState(PodRank.HINDERED, "unschedulable", f"unschedulable: {pod.unschedulable}")
    for status in pod.containers:
        state = _container_state(track, status, alone=len(pod.containers) == 1)
        if state is not None:
            return state
    return _readiness(track)


def _container_state(track: PodTrack, status: ContainerStatus, *, alone: bool) -> PodState | None:
    """Return what is wrong with a container, None if it runs or has done its work."""
    name = "" if alone else f"{status.name}: "
    if status.waiting_reason not in ("", "ContainerCreating", "PodInitializing"):
        kept = track.containers.get(status.name)
        said = (kept.pull_message if kept is not None else "") or status.waiting_message
        kind = f"{name}{status.waiting_reason}"
        detail = "" if said == status.waiting_reason or _is_crash_loop(status) else said
        text = _join_parts(kind, detail, _history(status))
        return PodState(PodRank.FAILING, kind, text)
    if status.terminated is not None and status.terminated.exit_code != 0:
        ended = status.terminated
        kind = f"{name}{ended.reason or 'ended'}, exit code {ended.exit_code}"
        return PodState(PodRank.FAILING, kind, _join_parts(kind, ended.message, _restarts(status)))
    if status.waiting_reason and not status.init:
        return PodState(
            PodRank.STARTING, f"{name}{status.waiting_reason}", f"{name}{status.waiting_reason}"
        )
    return None


def _readiness(track: PodTrack) -> PodState:
    pod = track.pod
    histories = _join_parts(*(_history(status) for status in pod.containers if not status.init))
    if not pod.containers:
        return PodState(PodRank.STARTING, "not started", "not started yet")
    if not pod.ready:
        lost = f"readiness lost {track.readiness_losses} times" if track.readiness_losses else ""
        text = _join_parts("running, not ready", lost, histories)
        return PodState(PodRank.HINDERED, "running, not ready", text)
    if histories:
        return PodState(PodRank.RESTARTED, "ready, restarted", _join_parts(_READY, histories))
    return PodState(PodRank.READY, _READY, _READY)


def _history(status: ContainerStatus) -> str:
    """Return restarts and the last termination of a container, "" if it never restarted."""
    ended = status.last_terminated
    if ended is None:
        return _restarts(status)
    at = f" at {ended.at}" if ended.at else ""
    last = f"last: {ended.reason or 'ended'}, exit code {ended.exit_code}{at}"
    return _join_parts(_restarts(status), last, ended.message)


def _is_crash_loop(status: ContainerStatus) -> bool:
    """Tell a crash loop: the kubelet's message repeats names, the last termination says more."""
    return status.waiting_reason == "CrashLoopBackOff"


def _restarts(status: ContainerStatus) -> str:
    if not status.restarts:
        return ""
    return f"{status.restarts} restart{'' if status.restarts == 1 else 's'}"


def _join_parts(*parts: str) -> str:
    return "; ".join(" ".join(part.split()) for part in parts if part)


def alike(tracks: Iterable[PodTrack]) -> list[list[tuple[Pod, PodState]]]:
    """Return similar pods in groups, each sorted by name; what is wrong comes first."""
    groups: dict[tuple[int, str], list[tuple[Pod, PodState]]] = {}
    for track in sorted(tracks, key=lambda track: track.pod.name):
        state = pod_state(track)
        groups.setdefault((state.rank, state.kind), []).append((track.pod, state))
    return [groups[key] for key in sorted(groups)]


def pod_lines(tracks: Iterable[PodTrack]) -> list[str]:
    """Return lines for the pods of one version: what is wrong first, similar pods grouped.

    Each group shows its first three pods by name, but many ready ones only their number: a thousand
    pods fit on a screen.
    """
    ordered = alike(tracks)
    lines = [line for group in ordered[:_MOST_GROUPS] for line in _group_lines(group)]
    rest = sum(len(group) for group in ordered[_MOST_GROUPS:])
    return [*lines, f"{rest} pods in other states"] if rest else lines


def _group_lines(group: Sequence[tuple[Pod, PodState]]) -> Iterator[str]:
    more = len(group) - _MOST_NAMED
    if more > 0 and group[0][1].kind == _READY:
        yield f"{len(group)} pods {_READY}"
        return
    for pod, state in group[:_MOST_NAMED]:
        yield f"pod/{pod.name}: {state.text}"
    if more > 0:
        yield f"{more} more pod{'' if more == 1 else 's'} {group[0][1].kind}"

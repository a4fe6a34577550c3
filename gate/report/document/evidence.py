"""The evidence of one workload, bounded: logs, last terminations, warnings of its new pods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gate.core.attempt.state import Attempt
from gate.core.model.objects import CleanText, ClusterEvent, ContainerStatus, Pod, Ref, Termination
from gate.core.model.outcome import Outcome
from gate.core.protocol.events import Evidence
from gate.core.rollout.judge import Rollout
from gate.report.document.versions import is_drawn_in, latest_snapshot, new_revision
from gate.report.schema.result import EvidenceKind, EvidenceResult

MOST_PIECES = 10
MOST_LINES = 20
_MOST_OF_A_KIND: dict[EvidenceKind, int] = {"log": 4, "termination": 3, "event": 6}
_IN_POD = re.compile(r" in pod \S+_\S+\([0-9a-f-]+\)$")
"""The end of the kubelet's message about a container that backs off: the pod that it is about."""
_COMBINED = "(combined from similar events): "
"""What client-go's event recorder puts before the last of many similar events."""
_NAME_OF_A_POD = re.compile(r'(?<=pods ")[^"]+(?=")')
"""In a FailedCreate: each try of a ReplicaSet names another pod."""
_EMPTY_EVENTS = ("Error: ErrImagePull", "Error: ImagePullBackOff")
"""What the kubelet says in addition to the event that has the registry's answer."""
_HEALTHY = (Outcome.VERIFIED, Outcome.APPLIED, Outcome.SUPERSEDED, Outcome.REFUSED)


def evidence(attempt: Attempt, ref: Ref) -> list[EvidenceResult]:
    """Return what speaks against the versions that failed, most telling kinds first.

    At most 10 pieces of 20 lines: what was collected before the way back, then what the last
    snapshot of the failed pods shows. Of equal pieces only the first is kept.
    """
    # One that failed and was returned ends as superseded where its namespace goes.
    goes = ref.namespace in attempt.workloads.terminating_namespaces
    has_failed = goes and ref in attempt.result.failures
    is_healthy = attempt.result.endings[ref].outcome in _HEALTHY and not has_failed
    if is_healthy or is_drawn_in(attempt, ref):
        return []
    distinct: dict[tuple[str, ...], EvidenceResult] = {}
    for piece in _pieces(attempt, ref):
        distinct.setdefault(_identity(piece), piece)
    chosen: list[EvidenceResult] = []
    for kind, most in _MOST_OF_A_KIND.items():
        chosen.extend([piece for piece in distinct.values() if piece["kind"] == kind][:most])
    return chosen[:MOST_PIECES]


def _identity(piece: EvidenceResult) -> tuple[str, ...]:
    """Return what pieces are compared by: not the pod, nor the names of pods in an event's text."""
    text = piece["text"]
    if piece["kind"] == "event":
        text = _NAME_OF_A_POD.sub("pod", text)
    return (piece["kind"], piece["container"], text)


def _pieces(attempt: Attempt, ref: Ref) -> Iterator[EvidenceResult]:
    rollouts = [*_failed_rollouts(attempt, ref)]
    yield from _iter_collected(attempt, rollouts)
    for rollout in rollouts:
        yield from _terminations(rollout)
    for rollout in rollouts:
        yield from _events(attempt, rollout)


def _failed_rollouts(attempt: Attempt, ref: Ref) -> Iterator[Rollout]:
    """Yield the rollouts that failed: that of the new version, and the rollback's if it failed."""
    before, last = (
        attempt.workloads.followed_before.get(ref),
        attempt.workloads.rollouts.get(ref),
    )
    if before is not None:
        yield before
    if last is not None and (
        before is None or attempt.result.endings[ref].outcome is Outcome.ROLLBACK_FAILED
    ):
        yield last


def _iter_collected(attempt: Attempt, rollouts: Iterable[Rollout]) -> Iterator[EvidenceResult]:
    """Yield what was collected about this workload's pods; everything if it is the only one."""
    pods = {track.pod.name for rollout in rollouts for track in rollout.snapshot.pods.values()}
    alone = len(attempt.plan.targets) == 1
    for piece in attempt.result.evidence:
        if alone or piece.pod in pods:
            found = _piece(_kind(piece), piece.pod, piece.container, piece.text, piece.at)
            yield {**found, "previous": True} if piece.previous else found


def _kind(piece: Evidence) -> EvidenceKind:
    match piece.kind:
        case "event":
            return "event"
        case "termination":
            return "termination"
        case _:
            return "log"


def _piece(kind: EvidenceKind, pod: str, container: str, text: str, at: str) -> EvidenceResult:
    lines = text.splitlines()
    kept = lines[-MOST_LINES:] if kind == "log" else lines[:MOST_LINES]
    return {
        "kind": kind,
        "pod": pod,
        "container": container,
        "text": "\n".join(kept),
        "at": at,
        "previous": False,
    }


def _terminations(rollout: Rollout) -> Iterator[EvidenceResult]:
    """Yield how containers of pods in trouble last ended, pods in the order of their names."""
    pods = sorted(rollout.new_pods(), key=lambda track: track.pod.name)
    for track in pods:
        if track.pod.uid in rollout.troubles:
            for status, ended in _iter_terminations(track.pod):
                text = termination_text(ended)
                yield _piece("termination", track.pod.name, status.name, text, ended.at)


def _iter_terminations(pod: Pod) -> Iterator[tuple[ContainerStatus, Termination]]:
    for status in pod.containers:
        ended = status.terminated or status.last_terminated
        if ended is not None and (ended.exit_code or not status.init):
            yield status, ended


def termination_text(ended: Termination) -> CleanText:
    """Say how a container ended, with its termination message below."""
    first = f"{ended.reason or 'ended'}, exit code {ended.exit_code}"
    return CleanText(f"{first}\n{ended.message}" if ended.message else first)


def _events(attempt: Attempt, rollout: Rollout) -> Iterator[EvidenceResult]:
    """Yield the warnings about the followed version and its pods, latest first.

    They arrive a moment after what they report, so the last snapshot counts, not that of the
    verdict.
    """
    snapshot = latest_snapshot(attempt, rollout.ref) or rollout.snapshot
    revision = new_revision(rollout)
    about = {track.pod.uid for track in rollout.new_pods()}
    about |= {revision.uid} if revision is not None else set()
    events = [
        event
        for event in snapshot.events.latest.values()
        if event.about_uid in about and event.message not in _EMPTY_EVENTS
    ]
    for event in sorted(events, key=lambda event: (event.at, event.uid), reverse=True):
        pod = event.about_name if event.about_kind == "Pod" else ""
        yield _piece("event", pod, "", _event_text(event), event.at)


def _event_text(event: ClusterEvent) -> str:
    if event.about_kind != "Pod":
        about = f"{event.about_kind.lower()}/{event.about_name}: "
        return f"{about}{event.reason}: {event.message.removeprefix(_COMBINED)}"
    return f"{event.reason}: {_IN_POD.sub('', event.message)}"

"""Events as a kubelet and a scheduler write them: said again, one event counts up."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sandbox.json import JSON
from sandbox.kubelet.requests import Author, PodRef, WriteEvent
from sandbox.kubelet.states import Note


@dataclass(slots=True)
class _Said:
    first_at: str
    count: int = 0


class EventWriter:
    """Turns notes into requests; remembers what it said of each pod until `forget`."""

    def __init__(self) -> None:
        self._said: dict[str, dict[str, _Said]] = {}

    def write(self, pod: PodRef, note: Note, node: str, wall: str) -> WriteEvent:
        """Return the request that says `note` of `pod`: a new event, or one more of the old."""
        digest = hashlib.sha256(f"{pod.uid}{note}".encode()).hexdigest()[:16]
        said = self._said.setdefault(pod.uid, {}).setdefault(digest, _Said(wall))
        said.count += 1
        author = Author.SCHEDULER if note.reason == "FailedScheduling" else Author.KUBELET
        event = _event(pod, note, said, wall)
        event["metadata"]["name"] = f"{pod.name}.{digest}"
        event |= _reporter(author, node)
        return WriteEvent(pod, event, author, again=said.count > 1)

    def forget(self, uid: str) -> None:
        """Drop what was said of a pod that has gone."""
        self._said.pop(uid, None)


def _event(pod: PodRef, note: Note, said: _Said, wall: str) -> JSON:
    involved = {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": pod.namespace,
        "name": pod.name,
        "uid": pod.uid,
    }
    if note.container:
        involved["fieldPath"] = f"spec.containers{{{note.container}}}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"namespace": pod.namespace},
        "involvedObject": involved,
        "type": note.type,
        "reason": note.reason,
        "message": note.message,
        "count": said.count,
        "firstTimestamp": said.first_at,
        "lastTimestamp": wall,
    }


def _reporter(author: Author, node: str) -> JSON:
    if author is Author.SCHEDULER:
        component = "default-scheduler"
        return {"source": {"component": component}, "reportingComponent": component}
    return {
        "source": {"component": author.value, "host": node},
        "reportingComponent": author.value,
        "reportingInstance": node,
    }

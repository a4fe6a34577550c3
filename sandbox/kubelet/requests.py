"""What a kubelet and a scheduler ask of the API server, as values: a driver sends them.

Requests for one pod are to be sent in their order. A pod that has gone meanwhile, or a namespace
that is going, makes a refusal without meaning. An event said again is one event that counts up.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass

from sandbox.json import JSON
from sandbox.kubelet.container import Note


class Author(enum.StrEnum):
    """Whose work a request is, by the name that it has as a field manager."""

    KUBELET = "kubelet"
    SCHEDULER = "kube-scheduler"


@dataclass(frozen=True, slots=True)
class PodRef:
    """Which pod a request is about."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Bind:
    """Give the pod its node, by its name."""

    pod: PodRef
    node: str


@dataclass(frozen=True, slots=True)
class ReportStatus:
    """Patch the pod's status: `body` is a strategic merge patch for the subresource `status`.

    So conditions that it does not name stay as they are, as with a node's kubelet.
    """

    pod: PodRef
    body: JSON
    author: Author


@dataclass(frozen=True, slots=True)
class WriteEvent:
    """Say something about the pod: `event` whole, `again` where it was said before.

    Said again, an Event counts up: `count_patch`, a merge patch; where it has expired meanwhile,
    it is created again.
    """

    pod: PodRef
    event: JSON
    author: Author
    again: bool

    @property
    def count_patch(self) -> JSON:
        """What changes in an Event that is said again."""
        return {name: self.event[name] for name in ("count", "lastTimestamp")}


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete the pod at once: its containers have ended."""

    pod: PodRef


Request = Bind | ReportStatus | WriteEvent | Remove


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

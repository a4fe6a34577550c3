"""What a kubelet and a scheduler ask of the API server, as values: a driver sends them.

Requests for one pod are to be sent in their order. A pod that has gone meanwhile, or a namespace
that is going, makes a refusal without meaning.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from sandbox.json import JSON


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
    it is created anew.
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

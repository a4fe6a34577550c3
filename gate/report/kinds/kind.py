"""What a report has to know of a kind of workload: its words, and its versions as a tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Branch:
    """One version of a workload in a tree, with the pods that belong to it.

    `name` is that of the object that holds the version, `number` its revision, None before the
    controller gave one. `has_pods` is whether it wants pods or has some by its controller's count;
    `failure` is why the controller cannot create them, "" if it can.
    """

    uid: str
    name: str
    number: int | None
    images: tuple[str, ...]
    wanted: int
    ready: int
    available: int
    has_pods: bool
    failure: str
    pods: tuple[PodTrack, ...]


@dataclass(frozen=True, slots=True)
class WorkloadKind:
    """A kind whose rollouts are judged.

    `name` and `version` are the API's names of the kind and of the objects that hold its versions,
    "" if these have no object of their own. `parts` are the resources that `kubectl get` shows of
    what belongs to it. `branches` returns the versions of a workload, the newest first, and
    `counts` says what is wanted and ready of one that exists, and `counters` has each number that
    its status tells, by the word that `status --output json` has for it.
    """

    name: str
    version: str
    parts: str
    branches: Callable[[Snapshot], tuple[Branch, ...]]
    counts: Callable[[Snapshot], str]
    counters: Callable[[Snapshot], Mapping[str, int]]

    @property
    def plural(self) -> str:
        """Return several of them in a sentence."""
        return f"{self.name}s"

    def call(self, name: str) -> str:
        """Return what people call a workload of this kind, as in `deployment/web`."""
        return f"{self.name.lower()}/{name}"

    def call_version(self, name: str) -> str:
        """Return what people call what holds a version of it, as in `replicaset/web-5d4`."""
        return f"{self.version.lower()}/{name}"

"""The versions of a workload with their pods, as every tree shows them."""

from __future__ import annotations

from collections import defaultdict

from gate.core.frozen import dataclass
from gate.core.rollout.pod_history import PodTrack
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import PodCounts


@dataclass(frozen=True, slots=True)
class Branch:
    """One version.

    `name` is that of the object that keeps it, `number` its revision, None before the controller
    gave one. `failure` is why the controller cannot create its pods, "" if it can.
    """

    uid: str
    name: str
    number: int | None
    images: tuple[str, ...]
    count: PodCounts
    failure: str
    pods: tuple[PodTrack, ...]

    @property
    def has_pods(self) -> bool:
        """Whether it has pods, or is to have some."""
        return bool(self.count.wanted or self.count.created)


def branches_of(snapshot: Snapshot) -> tuple[Branch, ...]:
    """Return the versions of a workload, the newest first."""
    pods: dict[str, list[PodTrack]] = defaultdict(list)
    for track in snapshot.pods.values():
        pods[snapshot.kind.key_of_pod(track.pod)].append(track)
    owned = sorted(snapshot.list_owned(), key=lambda one: -(one.revision or 0))
    return tuple(
        Branch(
            one.uid,
            one.name,
            one.revision,
            one.template.images(),
            snapshot.count_pods(one),
            one.failure.message if one.failure is not None else "",
            tuple(pods[snapshot.kind.key_of_revision(one)]),
        )
        for one in owned
    )

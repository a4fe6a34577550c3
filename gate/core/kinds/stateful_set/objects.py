"""StatefulSets as values, and the places of their pods.

Field names follow the API (apps/v1); counters that the server omits are 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import Pod, Workload
from gate.core.model.remedy import Remedy
from gate.core.rollout.observations import Kind
from gate.core.rollout.pod_history import PodTrack

API_VERSION: Final = "apps/v1"
STATEFUL_SET: Final = Kind("StatefulSet")
DEFAULT_REPLICAS: Final = 1
"""`spec.replicas` of a StatefulSet that does not set it (apps/v1 StatefulSetSpec)."""
_ORDINAL: Final = re.compile(r".*-([0-9]{1,9})", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulSet(Workload):
    """An apps/v1 StatefulSet.

    `partition` is an index into the range of pods, whatever `first_ordinal` (`ordinals.start`) is.
    `max_unavailable` is as the API gives it, a number or a percentage. `claims` are the names of
    its `volumeClaimTemplates`. `grace_seconds` is how long its pods may take to terminate.
    `is_parallel` is whether its pods wait for none of each other (`podManagementPolicy`).
    """

    min_ready_seconds: int
    on_delete: bool
    partition: int
    max_unavailable: str
    first_ordinal: int
    grace_seconds: int
    claims: tuple[str, ...]
    deletes_scaled_claims: bool
    status_replicas: int
    ready_replicas: int
    available_replicas: int
    updated_replicas: int
    current_revision: str
    update_revision: str
    is_parallel: bool = False

    @property
    def is_observed(self) -> bool:
        """Whether its status is about its present spec."""
        return self.observed_generation >= self.generation

    @property
    def to_update(self) -> int:
        """How many pods the controller brings to a new version by itself."""
        return 0 if self.on_delete else max(0, self.replicas - self.partition)

    @property
    def overlaps_versions(self) -> bool:
        """Whether pods of both versions serve side by side: a single one goes before it is new."""
        return self.replicas > 1

    @property
    def leaves_old_pods(self) -> bool:
        """Whether its controller replaces no pod of an older version by itself."""
        return self.on_delete

    @property
    def old_pods_kept(self) -> int:
        """How many pods its partition holds, or all of them with OnDelete."""
        return self.replicas - self.to_update

    @property
    def remedy(self) -> Remedy:
        """What brings its pods to the live template where its controller replaces none."""
        if self.partition and not self.on_delete:
            return Remedy.LOWER_PARTITION
        return Remedy.DELETE_POD if self.on_delete else Remedy.NONE

    def strategy_put_back(self, failed: Workload) -> str:
        """Name what of its strategy keeps pods of `failed` from being replaced, "" if nothing."""
        if isinstance(failed, StatefulSet) and not (self.on_delete or failed.on_delete):
            return f"the partition {self.partition}" if self.partition > failed.partition else ""
        return Workload.strategy_put_back(self, failed)

    @property
    def updates_all_pods(self) -> bool:
        """Whether its controller brings each pod to a new version by itself."""
        return self.to_update == self.replicas

    @property
    def holds_last_complete(self) -> bool:
        """Whether it has a partition, below which a pod comes back at the current revision.

        The controller makes that the new one as soon as all pods run it (`completeRollingUpdate`).
        """
        return bool(self.partition) and not self.on_delete

    @property
    def strategy(self) -> str:
        """What its controller goes by, as people call it."""
        return "OnDelete" if self.on_delete else f"partition {self.partition}"

    def holds_pod(self, pod: Pod) -> bool:
        """Tell whether its partition holds a pod, or OnDelete does each."""
        index = self.index_of(pod)
        return index is not None and self.holds(index)

    def holds(self, index: int) -> bool:
        """Tell whether its controller leaves the pod at a place as it is, whatever its version."""
        return self.on_delete or index < self.partition

    def revision_after(self, pod: Pod) -> str:
        """Return the revision at which a pod would come back (`newVersionedStatefulSetPod`)."""
        is_below = (self.index_of(pod) or 0) < self.partition
        return self.current_revision if is_below and not self.on_delete else self.update_revision

    @property
    def warnings(self) -> tuple[str, ...]:
        """A partition that no pod is above, and volumes that go with pods."""
        found, noun = [], "replica" if self.replicas == 1 else "replicas"
        if self.partition > self.replicas and not self.on_delete:
            found.append(
                f"its partition {self.partition} is larger than its {self.replicas} {noun}:"
                " no pod is updated"
            )
        if self.loses_by_scaling_down:
            found.append(
                "persistentVolumeClaimRetentionPolicy.whenScaled is Delete: a failure does not"
                " scale it down again, which would delete claims"
            )
        return tuple(found)

    @property
    def loses_by_scaling_down(self) -> bool:
        """Whether its controller deletes the claims of pods that are scaled away."""
        return self.deletes_scaled_claims and bool(self.claims)

    @property
    def pod_names(self) -> tuple[str, ...]:
        """The names of the pods that it is to have (`getPodName`)."""
        ordinals = range(self.first_ordinal, self.first_ordinal + self.replicas)
        return tuple(f"{self.ref.name}-{ordinal}" for ordinal in ordinals)

    @property
    def claims_of_pods(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the claims that each of its pods has (`getPersistentVolumeClaimName`)."""
        return {pod: tuple(f"{claim}-{pod}" for claim in self.claims) for pod in self.pod_names}

    def index_of(self, pod: Pod) -> int | None:
        """Return the place of a pod in the range, None for one outside of it.

        A pod is named after its StatefulSet and its ordinal (`getPodName`).
        """
        found = _ORDINAL.fullmatch(pod.name)
        index = int(found[1]) - self.first_ordinal if found is not None else -1
        return index if 0 <= index < self.replicas else None

    def own_pods(self, pods: Iterable[PodTrack]) -> list[PodTrack]:
        """Return its pods among those of the namespace, those on their way out too."""
        return [track for track in pods if track.pod.owner_uid == self.uid]

    def find_places(self, pods: Iterable[PodTrack], suits: Callable[[Pod], bool]) -> set[int]:
        """Return the places in the range of those pods that suit and do not terminate."""
        staying = (track.pod for track in pods if not track.pod.deleting)
        places = (self.index_of(pod) for pod in staying if suits(pod))
        return {place for place in places if place is not None}

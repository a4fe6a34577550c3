"""ControllerRevisions, which keep the pod templates of StatefulSets and of DaemonSets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import Revision
from gate.core.rollout.observations import Kind

CONTROLLER_REVISION: Final = Kind("ControllerRevision")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRevision(Revision):
    """An apps/v1 ControllerRevision of a StatefulSet or a DaemonSet.

    `template` is what its `data` holds, and equals that of a workload with the same version: no
    replicas, strategy or `minReadySeconds` are kept. `label_value` is that of the label
    `controller-revision-hash` of its pods: a StatefulSet's carry the revision's whole name, a
    DaemonSet's the bare hash. A template that comes back raises `revision` of the same object.
    `template_generation` is the number of its template when it was made, which the server counts
    for DaemonSets alone.
    """

    template_generation: int | None = None


def find_newest(revisions: Iterable[ControllerRevision]) -> ControllerRevision | None:
    """Return the one with the highest number, which controllers raise when a template comes back.

    Two of one number are a moment's work of a controller (`createControllerRevision`): the older
    counts.
    """
    return max(
        sorted(revisions, key=lambda one: (one.created_at, one.name)),
        key=lambda one: one.revision or 0,
        default=None,
    )

"""Which kinds of workload are judged. A new kind has its line here and nowhere else in the core."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.deployment.kind import DeploymentKind
from gate.core.model.objects import Ref
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import AnyKind

KINDS: Final[tuple[AnyKind, ...]] = (DeploymentKind(),)

_BY_NAME: Final = {(kind.api_version, kind.name): kind for kind in KINDS}


def is_workload(ref: Ref) -> bool:
    """Tell whether the rollout of an object is judged, by its kind."""
    return (ref.api_version, ref.kind) in _BY_NAME


def kind_of(ref: Ref) -> AnyKind:
    """Return the kind of a workload; KeyError if its rollout is not judged."""
    return _BY_NAME[ref.api_version, ref.kind]


def unseen(ref: Ref) -> Snapshot:
    """Return the snapshot of a workload of which nothing is known yet."""
    return Snapshot(ref, kind_of(ref))

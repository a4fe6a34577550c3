"""The kinds of workload that are judged: to add one, a line here and its package in `__init__`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gate.core.kinds.daemon_set.kind import DaemonSetKind
from gate.core.kinds.deployment.kind import DeploymentKind
from gate.core.kinds.job.kind import JobKind
from gate.core.kinds.stateful_set.kind import StatefulSetKind
from gate.core.model.lock import Lock, lock_of, lock_of_objects
from gate.core.model.objects import Ref
from gate.core.model.outcome import AnyReason, Reason
from gate.core.rollout.snapshot import Snapshot
from gate.core.rollout.workload_kind import AnyKind

KINDS: Final[tuple[AnyKind, ...]] = (
    DeploymentKind(),
    StatefulSetKind(),
    DaemonSetKind(),
    JobKind(),
)

_BY_NAME: Final[Mapping[tuple[str, str], AnyKind]] = {
    (kind.api_version, kind.name): kind for kind in KINDS
}


BOOKKEEPING: Final = frozenset().union(*(kind.bookkeeping for kind in KINDS))
"""The annotations that controllers write into workloads: a change of them is nobody's."""


_REASONS: Final[Mapping[str, AnyReason]] = {
    reason.value: reason
    for reason in (*Reason, *(reason for kind in KINDS for reason in kind.reasons))
}


def reason_of(text: str) -> AnyReason:
    """Return the reason of that name; ValueError if nothing gives it."""
    reason = _REASONS.get(text)
    if reason is None:
        raise ValueError(f"{text!r:.60} is no reason")
    return reason


def all_reasons() -> tuple[AnyReason, ...]:
    """Return the closed set of reasons: those that all kinds share, then those of each kind."""
    return tuple(_REASONS.values())


def is_workload(ref: Ref) -> bool:
    """Tell whether the rollout of an object is judged, by its kind."""
    return (ref.api_version, ref.kind) in _BY_NAME


def locks_of(refs: Iterable[Ref], namespace: str) -> tuple[Lock, ...]:
    """Return the locks for objects that are written together, in the order of taking.

    The first keeps the record. Without a workload there is one lock (`lock_of_objects`). What has
    no versions, as a Job, is locked with what it comes with: it has a lock only where it is alone.
    """
    objects = tuple(refs)
    objects = tuple(filter(has_way_back, objects)) or objects
    workloads = {ref for ref in objects if is_workload(ref) and has_way_back(ref)}
    if workloads:
        return tuple(sorted(map(lock_of, workloads)))
    return (lock_of_objects(objects, namespace),)


def kind_of(ref: Ref) -> AnyKind:
    """Return the kind of a workload; KeyError if its rollout is not judged."""
    return _BY_NAME[ref.api_version, ref.kind]


def kind_of_body(body: Mapping[str, Any]) -> AnyKind | None:
    """Return the kind of an object given as its JSON, None if its rollout is not judged."""
    return _BY_NAME.get((str(body.get("apiVersion")), str(body.get("kind"))))


def kinds_that_last() -> tuple[AnyKind, ...]:
    """Return the kinds whose workloads run until somebody deletes them, in versions."""
    return tuple(kind for kind in KINDS if kind.has_way_back)


def has_way_back(ref: Ref) -> bool:
    """Tell whether a failure can return an object to what it was; what a Job did stays."""
    return not is_workload(ref) or kind_of(ref).has_way_back


def unseen(ref: Ref) -> Snapshot:
    """Return the snapshot of a workload of which nothing is known yet."""
    return Snapshot(ref, kind_of(ref))

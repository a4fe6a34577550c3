"""Which pods of the old version were started at about the same time as pods of the new one.

By `metadata.creationTimestamp`, which the API server sets on both: no two clocks are compared. That
of readiness would not do, since it depends on what is to be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from gate.core.checks.old_pods import FRESH_SECONDS, OldPods
from gate.core.model.objects import Pod, Revision
from gate.core.rollout.creation_times import created_at
from gate.core.rollout.snapshot import Snapshot


def sort_old_pods(snapshot: Snapshot, baseline: str) -> OldPods:
    """Return the pods of the revision of that name by their age; none if it is not known.

    A pod whose time is not known is not fresh, and makes none so.
    """
    old = _find_old(snapshot, baseline)
    if old is None:
        return OldPods()
    births = [at for pod in _pods(snapshot, snapshot.current_key) if (at := created_at(pod))]
    fresh: set[str] = set()
    others: set[str] = set()
    for pod in _pods(snapshot, snapshot.kind.key_of_revision(old)):
        born_at = created_at(pod)
        is_fresh = born_at is not None and any(_is_close(born_at, other) for other in births)
        (fresh if is_fresh else others).add(pod.name)
    return OldPods(frozenset(fresh), frozenset(others), are_there=bool(fresh))


def has_old_pods(snapshot: Snapshot, baseline: str) -> bool:
    """Tell whether the revision of that name, which is not the current one, still has pods."""
    old = _find_old(snapshot, baseline)
    return old is not None and bool(snapshot.pods_of(old))


def _find_old(snapshot: Snapshot, baseline: str) -> Revision | None:
    found = (one for one in snapshot.list_owned() if one.name == baseline)
    return next((one for one in found if one.uid != snapshot.current_uid), None)


def _pods(snapshot: Snapshot, key: str) -> Iterator[Pod]:
    """Yield the pods of a revision, those that are on their way out as well."""
    key_of = snapshot.kind.key_of_pod
    return (track.pod for track in snapshot.pods.values() if key and key_of(track.pod) == key)


def _is_close(one: datetime, other: datetime) -> bool:
    return abs((one - other).total_seconds()) <= FRESH_SECONDS

"""What earlier applies under the same locks made that runs once, as the API still shows it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from gate.app.runtime.session import Session
from gate.core.kinds.registry import has_way_back
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref
from gate.core.model.run_annotations import AFTER, LOCKS, PHASE, has_lock_of
from gate.kube.failures import Forbidden
from gate.kube.kinds.registry import WORKLOADS
from gate.kube.lists import list_live
from gate.manifests.body import value_at

_KINDS = tuple(
    one.watched.resource
    for one in WORKLOADS
    if not has_way_back(Ref(one.watched.resource.api_version, one.watched.resource.kind, "", ""))
)


def list_earlier_runs(
    session: Session, namespaces: Iterable[str], locks: Collection[Lock]
) -> tuple[LiveObject, ...]:
    """Return what runs once in some namespaces and names one of the locks, oldest first.

    Nothing of what may not be listed; raises ApiError for another failure.
    """
    found: list[LiveObject] = []
    for namespace in sorted(set(namespaces)):
        for resource in _KINDS:
            try:
                found += list_live(session.client, resource, namespace)
            except Forbidden:
                continue
    made = [one for one in found if has_lock_of(_annotation(one, LOCKS), locks)]
    return tuple(sorted(made, key=_created_at))


def list_runs_since(session: Session, ref: Ref, since: str) -> tuple[LiveObject, ...]:
    """Return those of applies of a workload that were created after `since` (RFC 3339).

    Without those that come after their workloads, which test them.
    """
    made = list_earlier_runs(session, [ref.namespace], [lock_of(ref)])
    return tuple(
        one for one in made if _created_at(one) > since and _annotation(one, PHASE) != AFTER
    )


def _created_at(live: LiveObject) -> str:
    return str(value_at(live.body.thaw(), "metadata", "creationTimestamp") or "")


def _annotation(live: LiveObject, name: str) -> object:
    return value_at(live.body.thaw(), "metadata", "annotations", name)

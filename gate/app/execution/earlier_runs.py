"""What earlier applies under the same locks made that runs once, as the API still shows it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final, TypeGuard

from gate.app.runtime.session import Session
from gate.core.kinds.registry import has_way_back, kind_of
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref, Workload
from gate.core.model.run_annotations import AFTER, LOCKS, PHASE, has_lock_of
from gate.kube.answers.failures import Forbidden
from gate.kube.client.client import Query
from gate.kube.kinds.pod import PODS
from gate.kube.kinds.registry import WORKLOADS
from gate.kube.reads.lists import list_live
from gate.manifests.body import value_at

_KINDS = tuple(
    one.watched.resource
    for one in WORKLOADS
    if not has_way_back(Ref(one.watched.resource.api_version, one.watched.resource.kind, "", ""))
)

_PODS_AT_WORK: Final[Query] = (
    ("labelSelector", "batch.kubernetes.io/job-name"),
    ("fieldSelector", "status.phase!=Succeeded,status.phase!=Failed"),
)
"""The pods of Jobs but those with a `manualSelector`, until all their containers have ended."""


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


def is_running(workload: Workload | None) -> bool:
    """Tell whether what runs once goes on to an end of its own, so that one can wait for that.

    Of what is being deleted or suspended its pods alone tell (`list_left_behind`).
    """
    return _goes_on(workload) and not kind_of(workload.ref).has_ended(workload)


def list_left_behind(
    session: Session, namespaces: Iterable[str], locks: Collection[Lock]
) -> Iterator[LiveObject]:
    """Yield the pods at work of Jobs under these locks that are gone, being deleted or suspended.

    Such a Job does not tell any more how its pods are. Nothing of what may not be listed, as an
    attempt with a Job is refused for that later; ApiError for another failure.
    """
    for namespace in sorted(set(namespaces)):
        try:
            pods = list_live(session.client, PODS, namespace, selection=_PODS_AT_WORK)
            jobs = [one for kind in _KINDS for one in list_live(session.client, kind, namespace)]
        except Forbidden:
            continue
        telling = {one.uid for one in jobs if _goes_on(one.workload)}
        for one in pods:
            if has_lock_of(_annotation(one, LOCKS), locks) and telling.isdisjoint(_owners(one)):
                yield one


def _goes_on(workload: Workload | None) -> TypeGuard[Workload]:
    """Tell whether it is there, and neither being deleted nor suspended."""
    return workload is not None and not (workload.deleting or workload.paused)


def _owners(live: LiveObject) -> list[str]:
    owners = value_at(live.body.thaw(), "metadata", "ownerReferences") or ()
    return [str(one.get("uid")) for one in owners]


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

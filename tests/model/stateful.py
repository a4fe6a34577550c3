"""The model's StatefulSet controller: in order, and stopping at the first pod that is not ready.

It goes upwards and makes what is missing, one at a time; where all are ready it replaces the
highest pod of another version. A pod that never gets ready blocks it, whatever is applied then:
only who removes that pod lets it go on.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.model.cluster import (
    READY,
    STARTING,
    Cluster,
    Pod,
    ReplicaSet,
    Serials,
    Status,
    Template,
    deployment_controlled,
    name_of,
    with_set,
)


def controlled(cluster: Cluster, serials: Serials) -> Cluster:
    """Let the workload's controller look once, whichever kind it is."""
    if not cluster.ordered:
        return deployment_controlled(cluster, serials)
    if not cluster.uid:
        return cluster
    counted = _counted(cluster)
    after = _went_on(_with_revision(cluster), serials)
    if (after.observed, after.status) == (after.generation, counted):
        return after
    latest = after.latest + 1
    return after._replace(observed=after.generation, status=counted, version=latest, latest=latest)


def pods_of(cluster: Cluster) -> Iterator[tuple[Template, Pod]]:
    """Iterate all pods with their templates."""
    return ((one.template, pod) for one in cluster.sets for pod in one.pods)


def find_blocking(cluster: Cluster) -> tuple[Template, int] | None:
    """Return the template and serial of the pod at which the controller stops for ever.

    The rule of the contract, stated a second time: the lowest pod that is not ready, where it is of
    another version than the live one, which the controller has seen, and does not go already.
    """
    if not cluster.uid or cluster.observed != cluster.generation:
        return None
    by_ordinal = {pod.ordinal: (template, pod) for template, pod in pods_of(cluster)}
    for ordinal in range(cluster.replicas):
        template, pod = by_ordinal.get(ordinal, (cluster.template, None))
        if pod is None or pod.going:
            return None
        if pod.phase != READY:
            return None if template == cluster.template else (template, pod.serial)
    return None


def going(cluster: Cluster, template: Template, serial: int) -> Cluster:
    """Let a pod begin to terminate."""
    one = next(each for each in cluster.sets if each.template == template)
    latest = cluster.latest + 1
    pods = tuple(
        pod._replace(going=True, version=latest) if pod.serial == serial else pod
        for pod in one.pods
    )
    return with_set(cluster, one._replace(pods=pods))._replace(latest=latest)


def gone(cluster: Cluster) -> Cluster:
    """Take away all pods that terminate; the same where none does."""
    sets = tuple(
        one._replace(pods=tuple(pod for pod in one.pods if not pod.going)) for one in cluster.sets
    )
    return cluster._replace(sets=sets) if sets != cluster.sets else cluster


def _counted(cluster: Cluster) -> Status:
    current = cluster.current
    pods = [pod for _, pod in pods_of(cluster)]
    updated = sum(not pod.going for pod in current.pods) if current is not None else 0
    ready = sum(one.ready for one in cluster.sets)
    update = name_of(cluster.template)
    whole = len(pods) == updated == ready == cluster.replicas
    return Status(
        replicas=len(pods),
        updated=updated,
        ready=ready,
        available=ready > 0,
        current=update if whole or not cluster.status.current else cluster.status.current,
        update=update,
    )


def _with_revision(cluster: Cluster) -> Cluster:
    """Keep the live template as a revision."""
    if cluster.current is not None:
        return cluster
    latest = cluster.latest + 1
    made = (*cluster.sets, ReplicaSet(cluster.template, latest))
    return cluster._replace(sets=tuple(sorted(made)), latest=latest)


def _went_on(cluster: Cluster, serials: Serials) -> Cluster:
    """Make, take away or replace one pod, or wait for one."""
    by_ordinal = {pod.ordinal: (template, pod) for template, pod in pods_of(cluster)}
    for ordinal in range(cluster.replicas):
        template, pod = by_ordinal.get(ordinal, (cluster.template, None))
        if pod is None:
            return _made(cluster, ordinal, serials)
        if pod.going or pod.phase != READY:
            return cluster
    highest_first = sorted(by_ordinal.items(), reverse=True)
    for ordinal, (template, pod) in highest_first:
        if pod.going:
            return cluster
        if ordinal >= cluster.replicas or template != cluster.template:
            return going(cluster, template, pod.serial)
    return cluster


def _made(cluster: Cluster, ordinal: int, serials: Serials) -> Cluster:
    one = cluster.current
    assert one is not None
    serial = serials(one.template, [pod.serial for pod in one.pods])
    latest = cluster.latest + 1
    pod = Pod(serial, STARTING, latest, ordinal)
    return with_set(cluster, one._replace(pods=(*one.pods, pod)))._replace(latest=latest)

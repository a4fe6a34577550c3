"""The model cluster: one workload of two pods, its revisions, and who owns which field.

A cluster is a value; each rule returns the next one, or the same where it does not apply. Two
pods may be had beside a third that surges. A ReplicaSet's counters are always those of its pods;
the Deployment's are those of the moment at which its controller last looked. Where it is `ordered`
it is a StatefulSet (`tests.model.stateful`), and a ReplicaSet stands for a ControllerRevision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

GATE: Final = 1
OTHER: Final = 2
PATCHED: Final = 4
"""Who owns a field: the gate's applies, somebody else, the gate's patches; a set of bits."""

STARTING: Final = 0
READY: Final = 1
CRASHING: Final = 2
"""What a pod is at: one that crashes has restarted three times, which is unrecoverable."""

DEFAULT_REPLICAS: Final = 1
MAX_SURGE: Final = 1


class Template(NamedTuple):
    """A pod template: its image, and whether somebody else has set an annotation."""

    image: str
    marked: bool = False


class Pod(NamedTuple):
    """A pod of a ReplicaSet; `serial` tells it from those before it.

    `ordinal` is its place in a StatefulSet, `going` whether it terminates.
    """

    serial: int
    phase: int
    version: int
    ordinal: int = 0
    going: bool = False


class ReplicaSet(NamedTuple):
    """A ReplicaSet with the pods that it has, in the order of their making."""

    template: Template
    version: int
    pods: tuple[Pod, ...] = ()

    @property
    def ready(self) -> int:
        """How many of its pods are ready, which makes them available."""
        return sum(pod.phase == READY and not pod.going for pod in self.pods)


class Status(NamedTuple):
    """The workload's counters, as its controller wrote them last.

    `current` and `update` are the names of a StatefulSet's revisions.
    """

    replicas: int = 0
    updated: int = 0
    ready: int = 0
    available: bool = False
    exceeded: bool = False
    current: str = ""
    update: str = ""


class Cluster(NamedTuple):
    """All that the API server stores; `uid` 0 is that there is no Deployment.

    `uid` counts the Deployments that there have been under the name, `made` how many; `latest`
    is the last resourceVersion that was given out.
    """

    uid: int = 0
    made: int = 0
    template: Template = Template("")
    image_by: int = 0
    replicas: int = 0
    replicas_by: int = 0
    paused: bool = False
    paused_by: int = 0
    generation: int = 0
    observed: int = 0
    version: int = 0
    status: Status = Status()
    sets: tuple[ReplicaSet, ...] = ()
    latest: int = 0
    ordered: bool = False

    @property
    def current(self) -> ReplicaSet | None:
        """The ReplicaSet of the Deployment's template."""
        return next((one for one in self.sets if one.template == self.template), None)


Serials = Callable[[Template, Iterable[int]], int]
"""Names a pod that comes into being: a serial number that nobody knows yet, beside those given."""


def name_of(template: Template) -> str:
    """Return the name of a template's revision."""
    return f"web-{template.image}{'-marked' if template.marked else ''}"


# -- what holds ------------------------------------------------------------------------------------


def serves(cluster: Cluster) -> str:
    """Return the image that is complete by all that is stored, "" for none.

    The strict predicate of the contract, stated here a second time and over other values: the
    generation is observed, all counters agree, and the ReplicaSet of the template has all pods.
    """
    current = cluster.current
    if not cluster.uid or current is None or cluster.observed < cluster.generation:
        return ""
    counters = (cluster.status.replicas, cluster.status.updated, cluster.status.ready)
    pods = (len(current.pods), current.ready)
    whole = all(count == cluster.replicas for count in (*counters, *pods))
    if cluster.ordered and cluster.status.current != cluster.status.update:
        return ""
    return cluster.template.image if whole else ""


def stands(cluster: Cluster) -> str:
    """Return the image that serves as a baseline: available, and no pod of another is."""
    current = cluster.current
    if not cluster.uid or current is None or not cluster.status.available or not current.ready:
        return ""
    others = any(one.ready for one in cluster.sets if one is not current)
    return "" if others else cluster.template.image


def was_ready(cluster: Cluster, image: str) -> bool:
    """Tell whether all pods of an image have come as far as to be ready, whatever became of them.

    Where the Deployment was not replaced since.
    """
    own = (one for one in cluster.sets if one.template.image == image)
    pods = [pod.phase for one in own for pod in one.pods]
    return len(pods) >= cluster.replicas and STARTING not in pods


def differs(before: Cluster, after: Cluster) -> bool:
    """Tell whether a write changed anything that runs, its owners aside."""
    return any(
        getattr(before, name) != getattr(after, name)
        for name in ("uid", "template", "replicas", "paused")
    )


# -- the controllers -------------------------------------------------------------------------------


def deployment_controlled(cluster: Cluster, serials: Serials) -> Cluster:
    """Let the Deployment's controller look once: it scales, and writes what it counted before.

    The counters are of the moment before it scaled, as those of the real one are, so that a
    generation may be observed with the counters of the template before.
    """
    if not cluster.uid:
        return cluster
    counted = _counted(cluster)
    after = cluster if cluster.paused else _scaled(cluster, serials)
    if (after.observed, after.status) == (after.generation, counted):
        return after
    latest = after.latest + 1
    return after._replace(observed=after.generation, status=counted, version=latest, latest=latest)


def _counted(cluster: Cluster) -> Status:
    current = cluster.current
    ready = sum(one.ready for one in cluster.sets)
    counted = Status(
        replicas=sum(len(one.pods) for one in cluster.sets),
        updated=len(current.pods) if current is not None else 0,
        ready=ready,
        available=ready >= cluster.replicas,
        exceeded=cluster.status.exceeded,
    )
    return counted if counted == cluster.status else counted._replace(exceeded=False)


def _scaled(cluster: Cluster, serials: Serials) -> Cluster:
    """Roll by one round: maxSurge 1, maxUnavailable 0, as 25 % of two pods are."""
    if cluster.current is None:
        latest = cluster.latest + 1
        made = (*cluster.sets, ReplicaSet(cluster.template, latest))
        cluster = cluster._replace(sets=tuple(sorted(made)), latest=latest)
    for one in cluster.sets:
        if one.template == cluster.template:
            cluster = _grown(cluster, one, serials)
    for one in cluster.sets:
        cluster = _shrunk(cluster, one)
    return cluster


def _grown(cluster: Cluster, one: ReplicaSet, serials: Serials) -> Cluster:
    total = sum(len(each.pods) for each in cluster.sets)
    room = cluster.replicas + MAX_SURGE - total
    wanted = min(room, cluster.replicas - len(one.pods))
    for _ in range(wanted):
        serial = serials(one.template, [pod.serial for pod in one.pods])
        latest = cluster.latest + 1
        one = ReplicaSet(one.template, latest, (*one.pods, Pod(serial, STARTING, latest)))
        cluster = with_set(cluster, one)._replace(latest=latest)
    return cluster


def _shrunk(cluster: Cluster, one: ReplicaSet) -> Cluster:
    """Take away what is too many: of an old ReplicaSet as much as the ready pods allow."""
    if one.template == cluster.template:
        spare = len(one.pods) - cluster.replicas
    else:
        ready = sum(each.ready for each in cluster.sets)
        unready = len(one.pods) - one.ready
        spare = unready + max(0, min(one.ready, ready - cluster.replicas))
    if spare <= 0:
        return cluster
    kept = sorted(one.pods, key=lambda pod: pod.phase != READY)[: len(one.pods) - spare]
    latest = cluster.latest + 1
    smaller = ReplicaSet(one.template, latest, tuple(sorted(kept)))
    return with_set(cluster, smaller)._replace(latest=latest)


def with_set(cluster: Cluster, changed: ReplicaSet) -> Cluster:
    """Put a changed ReplicaSet in the place of the one with its template."""
    same = changed.template
    sets = tuple(changed if one.template == same else one for one in cluster.sets)
    return cluster._replace(sets=sets)


def exceeded(cluster: Cluster) -> Cluster:
    """Let the controller write that the progress deadline has passed, whether it has or not."""
    late = cluster.observed == cluster.generation and not serves(cluster)
    if not cluster.uid or not late or cluster.status.exceeded or cluster.ordered:
        return cluster
    latest = cluster.latest + 1
    status = cluster.status._replace(exceeded=True)
    return cluster._replace(status=status, version=latest, latest=latest)


def pod_became(cluster: Cluster, template: Template, index: int, phase: int) -> Cluster:
    """Let the pod at `index` of a ReplicaSet become what `phase` says."""
    one = next(each for each in cluster.sets if each.template == template)
    latest = cluster.latest + 1
    pods = list(one.pods)
    pods[index] = pods[index]._replace(phase=phase, version=latest)
    return with_set(cluster, ReplicaSet(template, latest, tuple(pods)))._replace(latest=latest)


# -- who writes ------------------------------------------------------------------------------------


def edited(cluster: Cluster, changed: Cluster) -> Cluster:
    """Store a changed spec or its owners: a new version, and a new generation of the spec."""
    if changed == cluster:
        return cluster
    spec = ("template", "replicas", "paused")
    new = any(getattr(changed, name) != getattr(cluster, name) for name in spec)
    latest = cluster.latest + 1
    return changed._replace(generation=cluster.generation + new, version=latest, latest=latest)


def created(cluster: Cluster, by: int, image: str, replicas: int) -> Cluster:
    """Create the Deployment."""
    latest = cluster.latest + 1
    return Cluster(
        uid=cluster.made + 1,
        made=cluster.made + 1,
        template=Template(image),
        image_by=by,
        replicas=replicas,
        replicas_by=by,
        generation=1,
        version=latest,
        latest=latest,
        ordered=cluster.ordered,
    )


def deleted(cluster: Cluster) -> Cluster:
    """Delete the Deployment, and with it what it owns."""
    return Cluster(made=cluster.made, latest=cluster.latest + 1, ordered=cluster.ordered)


class Apply(NamedTuple):
    """What a server-side apply wants; `replicas` None leaves them to others."""

    image: str
    replicas: int | None


def conflicts(cluster: Cluster, wanted: Apply) -> tuple[str, ...]:
    """Return the fields that somebody else owns with another value."""
    found = []
    if cluster.replicas_by & ~GATE and wanted.replicas not in (None, cluster.replicas):
        found.append("replicas")
    if cluster.image_by & ~GATE and wanted.image != cluster.template.image:
        found.append("image")
    return tuple(found)


def applied(cluster: Cluster, wanted: Apply) -> Cluster:
    """Apply as the gate's manager, without a conflict: what it leaves out it owns no more."""
    if not cluster.uid:
        return created(cluster, GATE, wanted.image, wanted.replicas or DEFAULT_REPLICAS)
    replicas, replicas_by = wanted.replicas, cluster.replicas_by | GATE
    if replicas is None:
        replicas_by = cluster.replicas_by & ~GATE
        replicas = cluster.replicas if replicas_by else DEFAULT_REPLICAS
    changed = cluster._replace(
        template=cluster.template._replace(image=wanted.image),
        image_by=cluster.image_by | GATE,
        replicas=replicas,
        replicas_by=replicas_by,
    )
    return edited(cluster, changed)


def is_crashing(cluster: Cluster, image: str) -> bool:
    """Tell whether two pods of what runs, an image's, or all of them crash unrecoverably.

    It has to be observed and not paused.
    """
    if cluster.paused or cluster.observed != cluster.generation:
        return False
    own = (one for one in cluster.sets if one.template == cluster.template)
    crashes = [pod.phase == CRASHING for one in own for pod in one.pods]
    return cluster.template.image == image and any(crashes) and (all(crashes) or sum(crashes) > 1)

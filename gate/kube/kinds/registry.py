"""The workload kinds; whoever adds one adds its line to `WORKLOADS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from gate.core.model.objects import SUBDOMAIN, Ref
from gate.core.rollout.observations import Kind
from gate.kube.kinds import daemon_set, deployment, job, node, pod, stateful_set
from gate.kube.kinds.kind import WatchedKind, WorkloadResources
from gate.kube.kinds.resource import Resource

WORKLOADS: Final[tuple[WorkloadResources, ...]] = (
    deployment.WORKLOAD,
    stateful_set.WORKLOAD,
    daemon_set.WORKLOAD,
    job.WORKLOAD,
)

UNJUDGED: Final = (
    Resource("", "v1", "ReplicationController", "replicationcontrollers"),
    Resource("batch", "v1", "CronJob", "cronjobs"),
)
"""Kinds with pods that are applied, and not judged; a judged one has its module instead."""

_WATCHED: Final = (
    *(kind for one in WORKLOADS for kind in (one.watched, *one.children)),
    pod.POD,
    pod.EVENT,
    node.NODE,
)
RESOURCES: Final[Mapping[Kind, Resource]] = {one.kind: one.resource for one in _WATCHED}
"""Where each watched kind lives."""

WATCHED_PLURALS: Final = frozenset(one.resource.plural for one in _WATCHED)
WORKLOAD_PLURALS: Final = frozenset(one.watched.resource.plural for one in WORKLOADS)
"""How paths name them."""

_PLACES: Final[Mapping[Kind, int]] = {
    **dict.fromkeys((child.kind for one in WORKLOADS for child in one.children), 1),
    **dict.fromkeys((one.watched.kind for one in WORKLOADS), 0),
    pod.POD.kind: 2,
    pod.EVENT.kind: 3,
    node.NODE.kind: 3,
}

OPTIONAL: Final = frozenset({pod.EVENT.kind, node.NODE.kind})
"""What a run goes on without where it may not be read."""

DEFAULT: Final = deployment.WORKLOAD
"""What a command means by a name alone."""

SCALED_BY_DEFAULT: Final = deployment.DEPLOYMENTS
"""What a KEDA ScaledObject scales that names no kind (keda.sh/v1alpha1 ScaleTarget)."""

_LIKENESS: Final = 0.8
"""How alike a misspelt word is: CronJob and DeploymentConfig are kinds of their own."""

_BY_NAME: Final = {
    (one.watched.resource.api_version, one.watched.resource.kind): one for one in WORKLOADS
}


def find_workload(ref: Ref) -> WorkloadResources | None:
    """Return the workload kind of an object, None if it is of another kind."""
    return _BY_NAME.get((ref.api_version, ref.kind))


def find_by_word(word: str) -> WorkloadResources | None:
    """Return the workload kind that a word on a command line means, as in `sts`, else None."""
    return next((one for one in WORKLOADS if one.is_called(word)), None)


def find_near_word(word: str) -> WorkloadResources | None:
    """Return the workload kind that a word misspells, or names with another group, else None."""
    from difflib import get_close_matches

    known = {each: one for one in WORKLOADS for each in one.all_words}
    called = word.lower().partition(".")[0]
    near = [] if "/" in word else get_close_matches(called, known, n=1, cutoff=_LIKENESS)
    return known[near[0]] if near else None


def parse_name(text: str) -> tuple[WorkloadResources | None, str]:
    """Return the workload kind, None if it is none, and the name that `NAME` means, as in `sts/db`.

    A name alone means one of the default kind; whether it can be a name is not asked.
    """
    word, slash, name = text.rpartition("/")
    return (find_by_word(word) if slash else DEFAULT), name


def guess_name(text: str) -> str:
    """Ask whether another form is meant where `text` names no workload kind; "" if none is near."""
    word, _, name = text.rpartition("/")
    near = find_near_word(word) if SUBDOMAIN.fullmatch(name) else None
    return f" (did you mean {near.words[0]}/{name}?)" if near is not None else ""


def workload_of(ref: Ref) -> WorkloadResources:
    """Return the workload kind of an object that is followed."""
    return _BY_NAME[ref.api_version, ref.kind]


def place_of(kind: Kind) -> int:
    """Return the place of a kind among the watched ones: owners come before what they own."""
    return _PLACES[kind]


def needed_kinds(ref: Ref) -> tuple[Kind, ...]:
    """Return what has to be listed, or refused, before a workload is known; Events only explain."""
    workload = workload_of(ref)
    others = (*workload.children, *workload.surroundings)
    return (workload.watched.kind, *(other.kind for other in others))


def children_of(refs: tuple[Ref, ...]) -> Mapping[WatchedKind, tuple[Ref, ...]]:
    """Return the kinds of what belongs to some workloads, each with those that have such parts."""
    owners: dict[WatchedKind, tuple[Ref, ...]] = {}
    for ref in refs:
        for child in workload_of(ref).children:
            owners[child] = (*owners.get(child, ()), ref)
    return owners


def surroundings_of(refs: Iterable[Ref]) -> Mapping[WatchedKind, tuple[Ref, ...]]:
    """Return the cluster-scoped kinds that verdicts look at, each with the workloads that do."""
    concerned: dict[WatchedKind, tuple[Ref, ...]] = {}
    for ref in refs:
        for kind in workload_of(ref).surroundings:
            concerned[kind] = (*concerned.get(kind, ()), ref)
    return concerned

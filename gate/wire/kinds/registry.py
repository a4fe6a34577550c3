"""The kinds that are read; whoever adds a workload kind adds its line to `WORKLOADS`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from gate.core.model.objects import Watched
from gate.core.rollout.observations import Kind
from gate.wire.kinds import daemon_set, deployment, event, job, node, pod, stateful_set
from gate.wire.kinds.kind import WatchedKind, WorkloadFormat

WORKLOADS: Final[tuple[WorkloadFormat, ...]] = (
    deployment.WORKLOAD,
    stateful_set.WORKLOAD,
    daemon_set.WORKLOAD,
    job.WORKLOAD,
)

_KINDS: Final[tuple[WatchedKind[Watched], ...]] = (
    *(kind for one in WORKLOADS for kind in (one.watched, *one.children)),
    pod.POD,
    event.EVENT,
    node.NODE,
)
WATCHED: Final[Mapping[Kind, WatchedKind[Watched]]] = {one.kind: one for one in _KINDS}
"""Each watched kind once: workloads may share a kind of child."""

SHAPES: Final[Any] = functools.reduce(operator.or_, (one.shape for one in WATCHED.values()))
"""The union of all shapes, by which an object is read that says its kind."""

_BUILDERS: Final[Mapping[type[Struct], Callable[[Any], Watched]]] = {
    one.shape: one.build for one in WATCHED.values()
}
_BY_VALUE: Final[Mapping[type[Watched], Kind]] = {one.value: one.kind for one in WATCHED.values()}
_BY_NAME: Final = {(one.watched.api_version, str(one.watched.kind)): one for one in WORKLOADS}


def build_watched(found: Struct) -> Watched:
    """Build the value of an object of any watched kind; ValueError if it lacks what it needs."""
    return _BUILDERS[type(found)](found)


def watched_kind(name: str) -> Kind:
    """Return the watched kind of that name; ValueError if objects of it are not watched."""
    kind = Kind(name)
    if kind not in WATCHED:
        raise ValueError(f"{name!r:.60} is not a watched kind")
    return kind


def kind_of(value: Watched) -> Kind:
    """Return the kind of a value."""
    return _BY_VALUE[type(value)]


def find_workload(api_version: str, kind: str) -> WorkloadFormat | None:
    """Return the workload kind of that name, None if it is none."""
    return _BY_NAME.get((api_version, kind))


def header_of(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return how the header of a recording names a workload, of which this is the JSON."""
    return _BY_NAME[body["apiVersion"], body["kind"]].header(body["metadata"]["name"])

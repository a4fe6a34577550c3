"""Which groups of a Pushgateway are stale: those of workloads that the cluster no longer has.

A Pushgateway never drops a group by itself: its readers would see its last outcome forever.
A group is stale only if it is certainly ours and its workload certainly gone; all others stay.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.metrics.families import LAST_INFO, PLACE
from gate.metrics.run import Place
from gate.report.kinds.registry import DEFAULT

MARGIN_SECONDS: Final = 60.0
"""How much older than the list of workloads a stale group has to be: clocks differ."""


@dataclass(frozen=True, slots=True)
class Existing:
    """What the cluster has: the names of each namespace and kind that was listed completely.

    `at` is when they were listed, in Unix time; a `cluster_uid` of "" is not known.
    """

    cluster_uid: str
    at: float
    names: Mapping[tuple[str, str], Collection[str]]


def stale_groups(answer: bytes, labels: Mapping[str, str], existing: Existing) -> tuple[Place, ...]:
    """Return the places of stale groups in `answer`; `labels` are those that all of ours share.

    ValueError if the answer is not a list of groups.
    """
    if not existing.cluster_uid:
        return ()
    return tuple(_stale(_groups(answer), labels, existing))


def _stale(groups: list[Any], labels: Mapping[str, str], existing: Existing) -> Iterator[Place]:
    for group in groups:
        place = _place_in(group, labels)
        known = existing.names.get((place.namespace, place.kind)) if place is not None else None
        if place is None or known is None:
            continue
        gone = place.name not in known
        if gone and _is_of_cluster(group, existing) and _is_older(group, existing):
            yield place


def _groups(answer: bytes) -> list[Any]:
    try:
        document = json.loads(answer)
    except (ValueError, RecursionError):
        document = None
    groups = document.get("data") if isinstance(document, dict) else None
    if isinstance(groups, list):
        return groups
    raise ValueError("no list of groups")


def _place_in(group: Any, wanted: Mapping[str, str]) -> Place | None:
    """Return the workload of a group that has exactly our labels, None for others."""
    labels = group.get("labels") if isinstance(group, dict) else None
    if not isinstance(labels, dict):
        return None
    own = {name: value for name, value in labels.items() if name in PLACE}
    rest = {name: value for name, value in labels.items() if name not in PLACE}
    if rest != wanted or not all(isinstance(value, str) and value for value in own.values()):
        return None
    name = own.get("deployment") or own.get("workload") or ""
    kind = DEFAULT.name if "deployment" in own else own.get("workload_kind", "")
    place = Place(own.get("namespace", ""), kind, name)
    return place if name and place.key == own else None


def _is_of_cluster(group: Mapping[str, Any], existing: Existing) -> bool:
    uids = [labels.get("cluster_uid") for labels, _ in _samples(group, LAST_INFO.name)]
    return bool(uids) and set(uids) == {existing.cluster_uid}


def _is_older(group: Mapping[str, Any], existing: Existing) -> bool:
    """Tell whether it was last pushed well before the workloads were listed."""
    times = [value for _, value in _samples(group, "push_time_seconds")]
    try:
        return bool(times) and max(map(float, times)) < existing.at - MARGIN_SECONDS
    except (TypeError, ValueError):
        return False


def _samples(group: Mapping[str, Any], name: str) -> Iterator[tuple[Mapping[str, Any], Any]]:
    family = group.get(name)
    metrics = family.get("metrics") if isinstance(family, dict) else None
    for metric in metrics if isinstance(metrics, list) else ():
        if isinstance(metric, dict) and isinstance(metric.get("labels"), dict):
            yield metric["labels"], metric.get("value")

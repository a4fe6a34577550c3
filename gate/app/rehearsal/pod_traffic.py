"""Which part of its traffic a version gets in a rehearsal: that of its pods that are ready.

Nobody sends requests. A Service would share them evenly among the ready pods, so a version that has
none at a moment gets none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from gate.core.frozen import dataclass
from gate.core.kinds.registry import KINDS
from sandbox.face import JSON, Api, Change, dig

_HASH_LABELS: Final = tuple(
    kind.variables.label.replace("_", "-") for kind in KINDS if kind.variables is not None
)
"""The labels of pods that tell one version from another."""


@dataclass(frozen=True, slots=True)
class ServedPod:
    """A pod, and what it has answered since it exists; `uid` tells it from its namesakes.

    `traffic_seconds` are seconds in which it would have answered all requests to both versions.
    """

    uid: str
    name: str
    traffic_seconds: float


class PodTraffic:
    """Which pods were ready when; times are seconds of the cluster's clock, and of the gate's."""

    def __init__(self, api: Api) -> None:
        """Follow the pods of a cluster from now on."""
        self._now = api.timers.now
        self._pods: dict[str, tuple[str, str]] = {}
        self._since: list[float] = [self._now()]
        self._ready: list[frozenset[str]] = [frozenset()]
        api.store.listen("pods", self._follow)

    def list_served(self, query: str, other: str, at: float) -> list[ServedPod]:
        """Return the pods that a query names, gone ones too, with what they had answered by `at`.

        Those of the other version, which the `other` query names, get their part of the traffic.
        """
        named = self._named_by(query)
        sharing = named | self._named_by(other)
        sums = dict.fromkeys(named, 0.0)
        ends = [*self._since[1:], at]
        for since, end, ready in zip(self._since, ends, self._ready, strict=True):
            serving = ready & sharing
            for uid in serving & named:
                sums[uid] += max(0.0, min(end, at) - since) / len(serving)
        return [ServedPod(uid, self._pods[uid][0], sums[uid]) for uid in sorted(sums)]

    def has_answered(self, query: str, since: float, until: float) -> bool:
        """Tell whether a pod that a query names was ready at any time from `since` to `until`."""
        named = self._named_by(query)
        first = max(0, bisect_right(self._since, since) - 1)
        last = bisect_right(self._since, until)
        return any(ready & named for ready in self._ready[first:last])

    def _named_by(self, query: str) -> frozenset[str]:
        """Return the pods whose version a query names, by the hash that all its names end with."""
        return frozenset(uid for uid, (_, version) in self._pods.items() if version in query)

    def _follow(self, change: Change) -> None:
        body = change.before if change.after is None else change.after
        version = _version_of(body or {})
        if body is None or not version:
            return
        uid = body["metadata"]["uid"]
        self._pods[uid] = (body["metadata"]["name"], version)
        before = self._ready[-1]
        is_serving = change.after is not None and _is_serving(change.after)
        after = before | {uid} if is_serving else before - {uid}
        if after != before:
            self._since.append(self._now())
            self._ready.append(after)


def _version_of(pod: JSON) -> str:
    labels: Mapping[str, str] = dig(pod, "metadata", "labels") or {}
    found = next((labels[name] for name in _HASH_LABELS if name in labels), "")
    return found.rpartition("-")[2]


def _is_serving(pod: JSON) -> bool:
    """Tell whether a Service sends requests to a pod: it is ready, and is not about to go."""
    if dig(pod, "metadata", "deletionTimestamp"):
        return False
    conditions = dig(pod, "status", "conditions") or []
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)

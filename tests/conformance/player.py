"""Plays a scenario on a bed, and hands over what there was to see."""

from __future__ import annotations

from collections.abc import Sequence

from tests.cluster.kubelet.api import JSON
from tests.conformance.bed import APPLY_PATCH, JSON_PATCH, Bed
from tests.conformance.recording import Played, Recording
from tests.conformance.scenarios import (
    GATE,
    NAME,
    SOMEBODY,
    Apply,
    DeletePod,
    Edit,
    Later,
    LimitPods,
    Scenario,
    edits,
)
from tests.conformance.watched import RECORDED, Watched, has_given_up, is_settled, path_of

QUOTA = "q"
MOST_SECONDS = 40.0
QUIET_SECONDS = 0.6


def play(bed: Bed, scenario: Scenario, namespace: str) -> Played:
    """Play a scenario in a namespace of its own, which goes afterwards."""
    bed.json("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    try:
        return _Player(bed, namespace).play(scenario)
    finally:
        bed.leave()
        bed.json("DELETE", f"/api/v1/namespaces/{namespace}")


class _Player:
    def __init__(self, bed: Bed, namespace: str) -> None:
        self._bed = bed
        self._namespace = namespace

    def play(self, scenario: Scenario) -> Played:
        kubernetes: str = self._bed.json("GET", "/version")["gitVersion"]
        self._prepare(scenario.before)
        seen = Watched(self._bed, self._namespace)
        applied = self.apply(scenario.applied)
        applied_at = self._bed.now()
        for later in scenario.later:
            self._happen(seen, later, applied_at)
        self._end(seen, at_deadline=scenario.at_deadline)
        lines = [line for line in seen.lines if line.object["kind"] != "ResourceQuota"]
        lists = [seen.lists[resource] for resource in RECORDED]
        return Played(kubernetes, lists, applied_at, Recording(seen.before, applied, lines))

    def _prepare(self, steps: Sequence[Apply | LimitPods]) -> None:
        if not steps:
            return
        seen = Watched(self._bed, self._namespace)
        for step in steps:
            if isinstance(step, Apply):
                self.apply(step.body)
                self._end(seen, at_deadline=step.until_deadline)
            else:
                self._limit(step.most)
                seen.wait(_counts, MOST_SECONDS)
        self._bed.leave()

    def _end(self, seen: Watched, *, at_deadline: bool) -> None:
        holds = has_given_up if at_deadline else is_settled
        seen.wait_quiet(holds, MOST_SECONDS, QUIET_SECONDS)

    def _happen(self, seen: Watched, later: Later, applied_at: float) -> None:
        seconds = applied_at + later.seconds - self._bed.now()
        self._bed.wait(lambda: False, seconds)
        if isinstance(later.do, Edit):
            self._edit(later.do)
        else:
            self._delete(seen, later.do)

    def apply(self, body: JSON) -> JSON:
        path = f"{self._path('deployments', NAME)}?fieldManager={GATE}"
        return self._bed.json("PATCH", path, body, APPLY_PATCH)

    def _limit(self, most: int) -> None:
        quota = {"metadata": {"name": QUOTA}, "spec": {"hard": {"pods": str(most)}}}
        self._bed.json("POST", self._path("resourcequotas"), quota)

    def _edit(self, edit: Edit) -> None:
        path = f"{self._path('deployments', NAME)}?fieldManager={SOMEBODY}"
        self._bed.json("PATCH", path, edits(edit), JSON_PATCH)

    def _delete(self, seen: Watched, asked: DeletePod) -> None:
        names = [
            pod["metadata"]["name"]
            for pod in seen.pods
            if pod["spec"]["containers"][0]["image"] == asked.image
            and "deletionTimestamp" not in pod["metadata"]
        ]
        self._bed.json("DELETE", self._path("pods", names[0]))

    def _path(self, resource: str, name: str = "") -> str:
        return path_of(resource, self._namespace, name)


def _counts(seen: Watched) -> bool:
    """Whether the quota has counted the pods that are there."""
    found = (quota.get("status", {}) for quota in seen.of("ResourceQuota"))
    return any(status.get("used", {}).get("pods") == str(len(seen.pods)) for status in found)

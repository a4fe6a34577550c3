"""The disruption controller: how many of the pods of a budget may go.

Rules of `pkg/controller/disruption/disruption.go`.
"""

from __future__ import annotations

from sandbox.api.api import Api
from sandbox.api.deletion import BUDGETS, with_allowance
from sandbox.controllers.ownership import DISRUPTIONS, controller_of, key_of
from sandbox.controllers.pods import is_deleting, is_ready, resolve_bound
from sandbox.controllers.queue import Informer, WorkQueue
from sandbox.controllers.recorder import Recorder
from sandbox.failure import qualify_resource
from sandbox.json import JSON
from sandbox.kinds import BY_KIND
from sandbox.objects.selectors import matches
from sandbox.storage.store import Change, Key

DELETION_SECONDS = 120.0
"""How long an eviction counts that was granted and has not begun."""


class _NoScaleError(Exception):
    """The pods belong to what cannot be scaled, so nobody knows how many there ought to be."""


class DisruptionController:
    """Keeps the status of each PodDisruptionBudget."""

    def __init__(self, api: Api, budgets: Informer, pods: Informer) -> None:
        self._api = api
        self._timers = api.timers
        self._recorder = Recorder(api, DISRUPTIONS, "controllermanager")
        self._budgets = budgets
        self._pods = pods
        self._queue: WorkQueue[Key] = WorkQueue(api.timers, self._sync, work_seconds=0.005)

    def start(self) -> None:
        """Begin to follow changes."""
        self._budgets.watch(lambda change: self._queue.add(change.key))
        self._pods.watch(self._on_pod)

    def _on_pod(self, change: Change) -> None:
        states = [pod["metadata"].get("labels") for pod in (change.before, change.after) if pod]
        for budget in self._budgets.all():
            is_near = budget["metadata"]["namespace"] == change.key.namespace
            selector = budget["spec"].get("selector")
            if is_near and any(matches(selector, labels) for labels in states):
                self._queue.add(key_of(BUDGETS, budget))

    def _sync(self, key: Key) -> None:
        budget = self._budgets.get(key)
        if budget is None:
            return
        pods = [
            pod
            for pod in self._pods.all()
            if pod["metadata"]["namespace"] == key.namespace
            and matches(budget["spec"].get("selector"), pod["metadata"].get("labels"))
        ]
        if not pods:
            self._recorder.normal(budget, "NoPods", "No matching pods found")
        try:
            status = self._calculate(budget, pods)
        except _NoScaleError as error:
            message = f"Failed to calculate the number of expected pods: {error}"
            self._recorder.warning(budget, "CalculateExpectedPodCountFailed", message)
            failed = {**budget["status"], "disruptionsAllowed": 0}
            status = with_allowance(failed, self._timers.wall(), failure=str(error))
        if status != budget["status"]:
            body = {**budget, "status": status}
            self._api.update(key, body, DISRUPTIONS, subresource="status")
        granted = status.get("disruptedPods", {}).values()
        waits = [self._timers.seconds_until(at, DELETION_SECONDS) for at in granted]
        if waits:
            self._queue.add_after(key, max(min(waits), 1.0))

    def _calculate(self, budget: JSON, pods: list[JSON]) -> JSON:
        expected, desired = self._expect(budget["spec"], pods)
        known = budget["status"].get("disruptedPods") or {}
        staying = [pod for pod in pods if not is_deleting(pod)]
        granted = {
            name: known[name]
            for name in (pod["metadata"]["name"] for pod in staying)
            if name in known and self._timers.seconds_until(known[name], DELETION_SECONDS) >= 0
        }
        healthy = sum(is_ready(pod) and pod["metadata"]["name"] not in granted for pod in staying)
        status: JSON = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "disruptionsAllowed": max(healthy - desired, 0) if expected > 0 else 0,
            "observedGeneration": budget["metadata"]["generation"],
            **({"disruptedPods": granted} if granted else {}),
            "conditions": budget["status"].get("conditions") or [],
        }
        return with_allowance(status, self._timers.wall())

    def _expect(self, spec: JSON, pods: list[JSON]) -> tuple[int, int]:
        """Return how many pods there ought to be, and how many of them healthy."""
        if "maxUnavailable" in spec:
            expected = self._scale(pods)
            unavailable = resolve_bound(spec["maxUnavailable"], expected, up=True)
            return expected, max(expected - unavailable, 0)
        least = spec.get("minAvailable")
        if isinstance(least, int):
            return len(pods), least
        if least is None:
            return 0, 0
        expected = self._scale(pods)
        return expected, resolve_bound(least, expected, up=True)

    def _scale(self, pods: list[JSON]) -> int:
        """Return the size asked of all that control the pods; a Deployment's, not its parts'."""
        sizes: dict[str, int] = {}
        for pod in pods:
            owner = self._owner(pod)
            if owner is not None and owner["kind"] == "ReplicaSet":
                owner = self._owner(owner) or owner
            if owner is None:
                continue
            resource = BY_KIND[owner["apiVersion"], owner["kind"]]
            if "scale" not in resource.subresources:
                name = qualify_resource(resource.plural, resource.group)
                raise _NoScaleError(f"{name} does not implement the scale subresource")
            sizes[owner["metadata"]["uid"]] = owner["spec"].get("replicas", 0)
        return sum(sizes.values())

    def _owner(self, body: JSON) -> JSON | None:
        reference = controller_of(body)
        resource = BY_KIND.get((reference["apiVersion"], reference["kind"])) if reference else None
        if reference is None or resource is None:
            return None
        key = Key(resource.key, body["metadata"]["namespace"], reference["name"])
        return self._api.store.get(key)

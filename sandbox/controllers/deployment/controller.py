"""The Deployment controller: what wakes it, and what one sync does.

Rules of `pkg/controller/deployment/deployment_controller.go`.
"""

from __future__ import annotations

from sandbox.api.api import Api
from sandbox.controllers.adoption import Claim
from sandbox.controllers.deployment.facts import (
    REPLICA_SETS,
    RESOURCE,
    Sets,
    Writes,
    deadline_seconds,
    is_paused,
    is_rolling,
    size,
)
from sandbox.controllers.deployment.new_replica_set import NewReplicaSets
from sandbox.controllers.deployment.scaling import (
    clean_up,
    empty_old,
    grow_new,
    old_pods_run,
    scale,
    shrink_old,
    was_scaled,
)
from sandbox.controllers.deployment.status import (
    PROGRESSING,
    TIMED_OUT,
    calculate_rollout_status,
    calculate_status,
    is_complete,
    set_progress,
)
from sandbox.controllers.ownership import DEPLOYMENTS, controller_of
from sandbox.controllers.pods import is_deleting
from sandbox.controllers.queue import Informer, WorkQueue
from sandbox.controllers.recorder import Recorder
from sandbox.json import JSON, copy_json
from sandbox.objects.conditions import conditions_of, find
from sandbox.objects.selectors import selects
from sandbox.storage.store import Change, ChangeType, Key

MOST_RETRIES = 15

WORK_SECONDS = 0.007
"""How long a sync holds its Deployment: it writes up to three times, a few milliseconds each, and
what changes meanwhile is seen by one sync after it."""


class DeploymentController:
    """Syncs each Deployment that changed, or whose ReplicaSets did."""

    def __init__(
        self, api: Api, deployments: Informer, replica_sets: Informer, pods: Informer
    ) -> None:
        self._api = api
        self._timers = api.timers
        self._recorder = Recorder(api, DEPLOYMENTS, "deployment-controller")
        self._writes = Writes(api, self._recorder)
        self.new = NewReplicaSets(api, self._recorder, self._writes, replica_sets)
        self._deployments = deployments
        self._replica_sets = replica_sets
        self._pods = pods
        self._queue: WorkQueue[Key] = WorkQueue(
            api.timers, self._sync, most_retries=MOST_RETRIES, work_seconds=WORK_SECONDS
        )

    def start(self) -> None:
        """Begin to follow changes."""
        self._deployments.watch(self._on_deployment)
        self._replica_sets.watch(self._on_replica_set)
        self._pods.watch(self._on_pod)

    def _on_deployment(self, change: Change) -> None:
        if change.type is ChangeType.DELETED and change.before is not None:
            self._recorder.forget(change.before["metadata"]["uid"])
        self._queue.add(change.key)

    def _on_replica_set(self, change: Change) -> None:
        before, after = controller_of(change.before), controller_of(change.after)
        namespace = change.key.namespace
        if before is not None and before != after:
            self._wake(namespace, before)
        if after is not None:
            self._wake(namespace, after)
        elif change.after is not None and _is_new_orphan(change):
            labels = change.after["metadata"].get("labels")
            for each in self._deployments.all():
                metadata = each["metadata"]
                if metadata["namespace"] == namespace and selects(
                    each["spec"].get("selector"), labels
                ):
                    self._queue.add(Key(RESOURCE, namespace, metadata["name"]))

    def _on_pod(self, change: Change) -> None:
        """Wake a Deployment that recreates once the last of its pods is gone."""
        owner = controller_of(change.before)
        if change.type is not ChangeType.DELETED or owner is None:
            return
        replica_set = self._replica_sets.get(Key(REPLICA_SETS, change.key.namespace, owner["name"]))
        deployment = self._owner(change.key.namespace, controller_of(replica_set))
        if deployment is None or is_rolling(deployment):
            return
        owned = self._replica_sets.controlled_by(deployment["metadata"]["uid"])
        if not any(self._pods_of(each) for each in owned):
            self._queue.add(Key(RESOURCE, change.key.namespace, deployment["metadata"]["name"]))

    def _wake(self, namespace: str, reference: JSON) -> None:
        if self._owner(namespace, reference) is not None:
            self._queue.add(Key(RESOURCE, namespace, reference["name"]))

    def _owner(self, namespace: str, reference: JSON | None) -> JSON | None:
        if reference is None or reference["kind"] != "Deployment":
            return None
        found = self._deployments.get(Key(RESOURCE, namespace, reference["name"]))
        return found if found and found["metadata"]["uid"] == reference["uid"] else None

    def _pods_of(self, replica_set: JSON) -> list[JSON]:
        return self._pods.controlled_by(replica_set["metadata"]["uid"])

    def _sync(self, key: Key) -> None:
        cached = self._deployments.get(key)
        if cached is None:
            return
        deployment = copy_json(cached)
        owned = Claim(self._api, DEPLOYMENTS, key, deployment).of(self._replica_sets)
        if is_deleting(deployment):
            sets = self.new.sorted_out(deployment, owned, create=False)
            self._write_counters(deployment, sets)
            return
        self._note_pause(deployment)
        if is_paused(deployment) or was_scaled(
            deployment, self.new.sorted_out(deployment, owned, create=False)
        ):
            self._resize(deployment, owned)
        elif is_rolling(deployment):
            self._roll(key, deployment, owned)
        else:
            self._recreate(key, deployment, owned)

    def _note_pause(self, deployment: JSON) -> None:
        """Write that progress is not judged while paused, and that it is again.

        A deadline that has passed is not taken back by either.
        """
        current = find(conditions_of(deployment), PROGRESSING)
        reason = (current or {}).get("reason")
        if deadline_seconds(deployment) is None or reason == TIMED_OUT:
            return
        paused, noted = is_paused(deployment), reason == "DeploymentPaused"
        if paused == noted:
            return
        state = "paused" if paused else "resumed"
        reason, message = f"Deployment{state.capitalize()}", f"Deployment is {state}"
        set_progress(deployment, "Unknown", reason, message, now=self._timers.wall())
        self._writes.status(deployment)

    def _resize(self, deployment: JSON, owned: list[JSON]) -> None:
        sets = self.new.sorted_out(deployment, owned, create=False)
        scale(self._writes, deployment, sets)
        if is_paused(deployment):
            clean_up(self._writes, deployment, sets)
        self._write_counters(deployment, sets)

    def _roll(self, key: Key, deployment: JSON, owned: list[JSON]) -> None:
        sets = self.new.sorted_out(deployment, owned, create=True)
        writes = self._writes
        moved = grow_new(writes, deployment, sets) or shrink_old(writes, deployment, sets)
        if not moved and is_complete(deployment, deployment.get("status") or {}):
            clean_up(self._writes, deployment, sets)
        self._write_progress(key, deployment, sets)

    def _recreate(self, key: Key, deployment: JSON, owned: list[JSON]) -> None:
        # Nothing new is created while something old may run.
        sets = self.new.sorted_out(deployment, owned, create=False)
        old_pods = (pod for each in sets.old for pod in self._pods_of(each))
        if empty_old(self._writes, deployment, sets) or old_pods_run(sets, old_pods):
            self._write_progress(key, deployment, sets)
            return
        if sets.new is None:
            sets = self.new.sorted_out(deployment, owned, create=True)
        if sets.new is not None:
            self._writes.scale(deployment, sets.new, size(deployment))
        if is_complete(deployment, deployment.get("status") or {}):
            clean_up(self._writes, deployment, sets)
        self._write_progress(key, deployment, sets)

    def _write_counters(self, deployment: JSON, sets: Sets) -> None:
        status = calculate_status(deployment, sets, now=self._timers.wall())
        if status != deployment.get("status"):
            self._writes.status({**deployment, "status": status})

    def _write_progress(self, key: Key, deployment: JSON, sets: Sets) -> None:
        status = calculate_rollout_status(deployment, sets, self._timers)
        if status == deployment.get("status"):
            self._check_deadline_later(key, deployment, status)
        else:
            self._writes.status({**deployment, "status": status})

    def _check_deadline_later(self, key: Key, deployment: JSON, status: JSON) -> None:
        """Come back when the deadline will have passed: no change may ever wake a stuck rollout."""
        seconds = deadline_seconds(deployment)
        current = find(conditions_of(deployment), PROGRESSING)
        if seconds is None or current is None or current["reason"] == TIMED_OUT:
            return
        if is_complete(deployment, status):
            return
        left = self._timers.seconds_until(current["lastUpdateTime"], seconds)
        if left < 1:
            self._queue.add_rate_limited(key)
        else:
            self._queue.add_after(key, left + 1)


def _is_new_orphan(change: Change) -> bool:
    """Say whether a ReplicaSet without a controller is one that somebody may adopt now."""
    if change.before is None or controller_of(change.before) is not None:
        return True
    before, after = change.before["metadata"], (change.after or {}).get("metadata", {})
    return bool(before.get("labels") != after.get("labels"))

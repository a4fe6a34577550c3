"""The Deployment controller: what wakes it, and what one sync does.

Rules of `pkg/controller/deployment/deployment_controller.go`.
"""

from __future__ import annotations

from sandbox.api.api import Api
from sandbox.controllers.adoption import Claim
from sandbox.controllers.deployment.facts import (
    REPLICA_SETS,
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
from sandbox.controllers.owner_controller import OwnerController
from sandbox.controllers.ownership import DEPLOYMENTS, controller_of
from sandbox.controllers.pods import is_deleting
from sandbox.controllers.queue import Informer
from sandbox.json import JSON, copy_json
from sandbox.objects.conditions import conditions_of, find
from sandbox.storage.store import Change, ChangeType, Key

MOST_RETRIES = 15

WORK_SECONDS = 0.007
"""How long a sync holds its Deployment: it writes up to three times, a few milliseconds each, and
what changes meanwhile is seen by one sync after it."""


class DeploymentController(OwnerController):
    """Syncs each Deployment that changed, or whose ReplicaSets did."""

    work_seconds = WORK_SECONDS
    most_retries = MOST_RETRIES

    def __init__(
        self, api: Api, deployments: Informer, replica_sets: Informer, pods: Informer
    ) -> None:
        super().__init__(api, DEPLOYMENTS, "deployment-controller", deployments, replica_sets)
        self._writes = Writes(api, self._recorder)
        self.new = NewReplicaSets(api, self._recorder, self._writes, replica_sets)
        self._pods = pods

    def start(self) -> None:
        """Begin to follow changes."""
        super().start()
        self._pods.watch(self._on_pod)

    def _on_pod(self, change: Change) -> None:
        """Wake a Deployment that recreates once the last of its pods is gone."""
        owner = controller_of(change.before)
        if change.type is not ChangeType.DELETED or owner is None:
            return
        namespace = change.key.namespace
        replica_set = self._dependents.get(Key(REPLICA_SETS, namespace, owner["name"]))
        key = self._owner(namespace, controller_of(replica_set))
        deployment = self._owners.get(key) if key else None
        if key is None or deployment is None or is_rolling(deployment):
            return
        owned = self._dependents.controlled_by(deployment["metadata"]["uid"])
        if not any(self._pods_of(each) for each in owned):
            self._queue.add(key)

    def _pods_of(self, replica_set: JSON) -> list[JSON]:
        return self._pods.controlled_by(replica_set["metadata"]["uid"])

    def _sync(self, key: Key) -> None:
        cached = self._owners.get(key)
        if cached is None:
            return
        deployment = copy_json(cached)
        owned = Claim(self._api, DEPLOYMENTS, key, deployment).of(self._dependents)
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

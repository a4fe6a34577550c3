"""The DaemonSet controller: what wakes it, what one sync does, and the status that it writes.

Rules of `pkg/controller/daemon` (`daemon_controller.go`, `update.go`).
"""

from __future__ import annotations

from sandbox.api.api import Api
from sandbox.controllers.adoption import Claim
from sandbox.controllers.daemonset.pods import (
    HASH_LABEL,
    Plan,
    View,
    in_order,
    is_wanted,
    manage,
    new_pod,
    roll,
)
from sandbox.controllers.history import History, Revisions, hash_of
from sandbox.controllers.ownership import DAEMON_SETS, controller_of, key_of
from sandbox.controllers.pod_controller import Failure, PodController
from sandbox.controllers.pods import ENDED, is_deleting, is_ready, phase
from sandbox.controllers.queue import Informer
from sandbox.json import JSON, dig
from sandbox.objects.selectors import is_empty, target_node
from sandbox.storage.store import Change, Key

FIRST_BACK_OFF_SECONDS, LONGEST_BACK_OFF_SECONDS = 1.0, 900.0
"""How long a pod that failed waits for its replacement: doubled with each on that node."""


class DaemonSetController(PodController):
    """Syncs each DaemonSet that changed, or whose pods or nodes did."""

    def __init__(
        self, api: Api, daemon_sets: Informer, revisions: Informer, pods: Informer, nodes: Informer
    ) -> None:
        super().__init__(api, DAEMON_SETS, "daemonset-controller", daemon_sets, pods)
        self._history = History(api, DAEMON_SETS, revisions, HASH_LABEL)
        self._nodes = nodes
        self._back_offs: dict[tuple[str, int, str], tuple[float, float]] = {}

    def start(self) -> None:
        """Begin to follow changes."""
        super().start()
        self._nodes.watch(self._on_node)

    def _on_dependent(self, change: Change) -> None:
        """Come back, too, when a pod that is ready now is available, as the new one of a surge."""
        super()._on_dependent(change)
        key = self._owner(change.key.namespace, controller_of(change.after))
        if key is None or not change.before or is_ready(change.before):
            return
        seconds = dig(self._owners.get(key), "spec", "minReadySeconds")
        if seconds and is_ready(change.after or {}):
            self._queue.add_after(key, seconds + 1)

    def _on_node(self, change: Change) -> None:
        """Wake whom new labels and taints of a node concern (`syncNodeUpdate`)."""
        before, node = change.before or {}, change.after
        if node is None or all(
            dig(before, *path) == dig(node, *path)
            for path in (("metadata", "labels"), ("spec", "taints"), ("metadata", "uid"))
        ):
            return
        for each in self._owners.all():
            should_run, may_go_on = is_wanted(each, node)
            pods = self._pods.controlled_by(each["metadata"]["uid"])
            has_pod = any(pod["spec"].get("nodeName") == change.key.name for pod in pods)
            is_counted_out = bool(dig(each, "status", "numberMisscheduled"))
            if (not may_go_on or is_counted_out) if has_pod else should_run:
                self._queue.add(key_of(self._owners.resource, each))

    def _sync(self, key: Key) -> None:
        daemon_set = self._owners.get(key)
        if daemon_set is None or is_deleting(daemon_set):
            return
        if is_empty(daemon_set["spec"].get("selector") or {}):
            return
        revisions = self._history.sync(key, daemon_set)
        may_act = self._expectations.is_met(key)
        view = self._view(key, daemon_set, revisions)
        failure = self._act(key, view, revisions) if may_act else None
        self._report(key, view, is_observed=may_act)
        if failure is not None:
            raise failure

    def _view(self, key: Key, daemon_set: JSON, revisions: Revisions) -> View:
        pods: dict[str, list[JSON]] = {}
        for pod in Claim(self._api, DAEMON_SETS, key, daemon_set).of(self._pods):
            if phase(pod) not in ENDED or not is_deleting(pod):
                pods.setdefault(target_node(pod), []).append(pod)
        nodes = {each["metadata"]["name"]: each for each in self._nodes.all()}
        revision_hash = hash_of(revisions.current, HASH_LABEL)
        return View(daemon_set, dict(sorted(nodes.items())), pods, revision_hash, self._timers)

    def _act(self, key: Key, view: View, revisions: Revisions) -> Failure | None:
        failure = self._carry_out(key, view, manage(view, self._list_ended_pods(key, view)))
        if failure is not None:
            return failure
        strategy = view.daemon_set["spec"]["updateStrategy"]["type"]
        if strategy == "RollingUpdate" and self._expectations.is_met(key):
            failure = self._carry_out(key, view, roll(view))
        if failure is None:
            old = [each for each in revisions.every if each is not revisions.current]
            pods = (pod for found in view.pods.values() for pod in found)
            live = {str(pod["metadata"]["labels"].get(HASH_LABEL)) for pod in pods}
            limit = view.daemon_set["spec"]["revisionHistoryLimit"]
            self._history.truncate(old, live, len(old) - limit)
        return failure

    def _carry_out(self, key: Key, view: View, plan: Plan) -> Failure | None:
        new = [new_pod(view.daemon_set, node, view.revision_hash) for node in plan.nodes]
        return self._change_pods(key, view.daemon_set, new, plan.old)

    def _list_ended_pods(self, key: Key, view: View) -> list[JSON]:
        """Return the pods that have ended and go now: one that failed may have to wait."""
        found = []
        for node, pods in view.pods.items():
            for pod in pods:
                if is_deleting(pod) or phase(pod) not in ENDED:
                    continue
                what = f"{key.namespace}/{pod['metadata']['name']} on node {node}, will try to"
                if phase(pod) == "Succeeded":
                    message = f"Found succeeded daemon pod {what} delete it"
                    self._recorder.normal(view.daemon_set, "SucceededDaemonPod", message)
                elif self._backs_off(key, view.daemon_set, node):
                    continue
                else:
                    message = f"Found failed daemon pod {what} kill it"
                    self._recorder.warning(view.daemon_set, "FailedDaemonPod", message)
                found.append(pod)
        return found

    def _backs_off(self, key: Key, daemon_set: JSON, node: str) -> bool:
        """Say whether a failed pod stays for now; else count one more."""
        observed = (daemon_set.get("status") or {}).get("observedGeneration", 0)
        about = (daemon_set["metadata"]["uid"], observed, node)
        now = self._timers.now()
        until, seconds = self._back_offs.get(about, (0.0, FIRST_BACK_OFF_SECONDS / 2))
        if now < until:
            self._queue.add_after(key, until - now)
            return True
        seconds = min(seconds * 2, LONGEST_BACK_OFF_SECONDS)
        self._back_offs[about] = (now + seconds, seconds)
        return False

    def _report(self, key: Key, view: View, *, is_observed: bool) -> None:
        daemon_set, before = view.daemon_set, view.daemon_set.get("status") or {}
        counts = _count(view)
        generation, seen = daemon_set["metadata"]["generation"], before.get("observedGeneration", 0)
        is_same = all(before.get(name, 0) == count for name, count in counts.items())
        if not is_same or seen < generation:
            status = {**before, **counts, "observedGeneration": generation if is_observed else seen}
            self._write_status(key, daemon_set, status)
        seconds = daemon_set["spec"].get("minReadySeconds", 0)
        if seconds and counts["numberReady"] != counts["numberAvailable"]:
            self._queue.add_after(key, seconds)


def _count(view: View) -> dict[str, int]:
    """Return the counters of the status: nodes, each by the first of its pods."""
    wanted, other = [], 0
    for name, node in view.nodes.items():
        if is_wanted(view.daemon_set, node)[0]:
            wanted.append(name)
        else:
            other += bool(view.pods.get(name))
    pods = [in_order(view.pods[name])[0] for name in wanted if view.pods.get(name)]
    ready = [pod for pod in pods if is_ready(pod)]
    available = sum(map(view.is_available, ready))
    return {
        "currentNumberScheduled": len(pods),
        "numberMisscheduled": other,
        "desiredNumberScheduled": len(wanted),
        "numberReady": len(ready),
        "updatedNumberScheduled": sum(map(view.is_new, pods)),
        "numberAvailable": available,
        "numberUnavailable": len(wanted) - available,
    }

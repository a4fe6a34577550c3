"""Claims for storage: bound at once to a volume of their own, and held while a pod mounts them.

As a cluster with a dynamic provisioner and `volumeBindingMode: Immediate` does it; the volumes
themselves are not served.
"""

from __future__ import annotations

from sandbox.api.api import Api, Patch, PatchType
from sandbox.controllers.ownership import CLAIMS
from sandbox.controllers.queue import Informer, WorkQueue
from sandbox.failure import forgiving_absence
from sandbox.json import JSON, dig
from sandbox.storage.store import Change, Key

RESOURCE = "persistentvolumeclaims"
PROTECTION = "kubernetes.io/pvc-protection"
BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


class ClaimController:
    """Binds claims, and lets those go that are deleted once no pod mounts them."""

    def __init__(self, api: Api, claims: Informer, pods: Informer) -> None:
        self._api = api
        self._claims = claims
        self._pods = pods
        self._queue: WorkQueue[Key] = WorkQueue(api.timers, self._sync)

    def start(self) -> None:
        """Begin to follow changes."""
        self._claims.watch(lambda change: self._queue.add(change.key))
        self._pods.watch(self._on_pod)

    def _on_pod(self, change: Change) -> None:
        if change.after is None and change.before is not None:
            for name in _list_mounted_claims(change.before):
                self._queue.add(Key(RESOURCE, change.key.namespace, name))

    def _sync(self, key: Key) -> None:
        claim = self._claims.get(key)
        if claim is None:
            return
        with forgiving_absence():
            if "deletionTimestamp" in claim["metadata"]:
                self._release(key, claim)
            elif dig(claim, "status", "phase") != "Bound":
                self._bind(key, claim)

    def _bind(self, key: Key, claim: JSON) -> None:
        spec = {"volumeName": f"pvc-{claim['metadata']['uid']}"}
        changes = {"metadata": {"annotations": BOUND}, "spec": spec}
        self._api.patch(key, Patch(PatchType.MERGE, changes), CLAIMS)
        status = {
            "phase": "Bound",
            "accessModes": claim["spec"].get("accessModes") or [],
            "capacity": dig(claim, "spec", "resources", "requests") or {},
        }
        patch = Patch(PatchType.MERGE, {"status": status})
        self._api.patch(key, patch, CLAIMS, subresource="status")

    def _release(self, key: Key, claim: JSON) -> None:
        held = claim["metadata"].get("finalizers") or []
        pods = (pod for pod in self._pods.all() if pod["metadata"]["namespace"] == key.namespace)
        if PROTECTION in held and not any(key.name in _list_mounted_claims(pod) for pod in pods):
            left = [name for name in held if name != PROTECTION]
            changes = {"metadata": {"finalizers": left or None}}
            self._api.patch(key, Patch(PatchType.MERGE, changes), CLAIMS)


def _list_mounted_claims(pod: JSON) -> set[str]:
    """Return the names of the claims that a pod mounts."""
    volumes = pod["spec"].get("volumes") or ()
    return {dig(each, "persistentVolumeClaim", "claimName") or "" for each in volumes} - {""}

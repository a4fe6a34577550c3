"""The garbage collector: what belongs to something that is gone goes too, or stays as an orphan.

Rules of `pkg/controller/garbagecollector` for deletion in the background and for orphans; the
sandbox refuses a deletion in the foreground. Events are not looked at.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

from sandbox.api.api import Api, DeleteOptions, Patch, PatchType, Propagation
from sandbox.api.deletion import ORPHAN
from sandbox.controllers.ownership import GARBAGE
from sandbox.controllers.queue import LATENCY_SECONDS, Later, WorkQueue
from sandbox.failure import forgiving_absence
from sandbox.json import JSON
from sandbox.kinds import BY_KIND, RESOURCES
from sandbox.storage.store import Change, Key

ORPHANING_SECONDS = 0.02
"""How long it takes to release the dependents; the owner's controller sees them go meanwhile."""


class GarbageCollector:
    """Deletes what no living owner holds; releases the dependents of an owner that leaves them."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._timers = api.timers
        self._keys: dict[str, Key] = {}
        self._dependents: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._to_delete: WorkQueue[str] = WorkQueue(api.timers, self._delete_if_unowned)
        self._to_orphan: WorkQueue[str] = WorkQueue(api.timers, self._leave_orphans)

    def start(self) -> None:
        """Take in what is stored, and follow."""
        for resource in RESOURCES:
            if resource.key == "events":
                continue
            for change in self._api.store.as_changes(resource.key):
                self._hear(change)
            self._api.store.listen(resource.key, self._hear)

    def _hear(self, change: Change) -> None:
        if _concerns(change):
            self._timers.call_later(LATENCY_SECONDS, partial(self._follow, change))

    def _follow(self, change: Change) -> None:
        before, after = (_owners(body) for body in (change.before, change.after))
        metadata = (change.after or change.before or {})["metadata"]
        uid = metadata["uid"]
        for owner in before:
            self._dependents[owner["uid"]].pop(uid, None)
        if change.after is None:
            self._keys.pop(uid, None)
            for dependent in self._dependents.pop(uid, {}):
                self._to_delete.add(dependent)
            return
        self._keys[uid] = change.key
        for owner in after:
            self._dependents[owner["uid"]][uid] = None
        if "deletionTimestamp" not in metadata:
            if any(owner["uid"] not in self._keys for owner in after):
                self._to_delete.add(uid)
        elif ORPHAN in (metadata.get("finalizers") or ()):
            self._to_orphan.add(uid)

    def _live(self, uid: str) -> tuple[Key, JSON] | None:
        """Return where an object is and what it is; None where it has gone."""
        key = self._keys.get(uid)
        body = self._api.store.get(key) if key else None
        if key is None or body is None or body["metadata"]["uid"] != uid:
            return None
        return key, body

    def _delete_if_unowned(self, uid: str) -> None:
        live = self._live(uid)
        if live is None or "deletionTimestamp" in live[1]["metadata"]:
            return
        key, body = live
        owners = _owners(body)
        kept = [owner for owner in owners if self._may_be_there(key, owner)]
        if kept or not owners:
            self._forget_owners(key, body, [owner for owner in owners if owner not in kept])
            return
        options = DeleteOptions(
            propagation=Propagation.BACKGROUND,
            uid=uid,
            resource_version=body["metadata"]["resourceVersion"],
        )
        with forgiving_absence():
            self._api.delete(key, GARBAGE, options)

    def _may_be_there(self, key: Key, owner: JSON) -> bool:
        """Ask for an owner; one of a kind that is not served may exist."""
        resource = BY_KIND.get((owner["apiVersion"], owner["kind"]))
        if resource is None or (resource.namespaced and not key.namespace):
            return True
        namespace = key.namespace if resource.namespaced else ""
        found = self._api.store.get(Key(resource.key, namespace, owner["name"]))
        return found is not None and found["metadata"]["uid"] == owner["uid"]

    def _leave_orphans(self, uid: str) -> Later | None:
        if self._live(uid) is None:
            return None
        for dependent in [*self._dependents.get(uid, {})]:
            live = self._live(dependent)
            if live is not None:
                self._forget_owners(*live, [{"uid": uid}])
        return Later(ORPHANING_SECONDS, partial(self._drop_finalizer, uid))

    def _forget_owners(self, key: Key, body: JSON, owners: list[JSON]) -> None:
        if not owners:
            return
        gone = [{"$patch": "delete", "uid": owner["uid"]} for owner in owners]
        changes = {"metadata": {"uid": body["metadata"]["uid"], "ownerReferences": gone}}
        patch = Patch(PatchType.STRATEGIC, changes)
        with forgiving_absence():
            self._api.patch(key, patch, GARBAGE)

    def _drop_finalizer(self, uid: str) -> None:
        live = self._live(uid)
        if live is None:
            return
        key, body = live
        left = [each for each in body["metadata"].get("finalizers") or () if each != ORPHAN]
        patch = Patch(PatchType.MERGE, {"metadata": {"uid": uid, "finalizers": left}})
        with forgiving_absence():
            self._api.patch(key, patch, GARBAGE)


def _owners(body: JSON | None) -> list[JSON]:
    return list(((body or {}).get("metadata") or {}).get("ownerReferences") or ())


def _concerns(change: Change) -> bool:
    """Say whether a change is one of ownership or deletion: most are not."""
    if change.before is None or change.after is None:
        return True
    before, after = change.before["metadata"], change.after["metadata"]
    names = ("ownerReferences", "deletionTimestamp", "finalizers", "uid")
    return any(before.get(name) != after.get(name) for name in names)

"""Taking what a selector names and nobody controls, and letting go what it no longer names.

Rules of the controllers' reference manager (`pkg/controller/controller_ref_manager.go`).
"""

from __future__ import annotations

from collections.abc import Callable

from sandbox.api.api import Api, Patch, PatchType, Writer
from sandbox.controllers.ownership import controller_reference, controller_uid, key_of
from sandbox.controllers.queue import Informer, SyncError
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.objects.selectors import selects
from sandbox.storage.store import Key

NOT_FOUND = 404
INVALID = 422


class Claim:
    """Adopts what an owner's selector names and nobody controls; releases what it no longer names.

    `key` is where the owner is; one that is being deleted adopts nothing.
    """

    def __init__(self, api: Api, by: Writer, key: Key, owner: JSON) -> None:
        self._api = api
        self._by = by
        self._owner_key = key
        self._owner = owner
        self._reference = controller_reference(owner)
        self._deleting = "deletionTimestamp" in owner["metadata"]
        self._checked = False

    def of(self, cache: Informer, applies: Callable[[JSON], bool] = bool) -> list[JSON]:
        """Return those of a cache that the owner has; none is adopted to which `applies` is no."""
        owned = cache.controlled_by(self._reference["uid"])
        free = cache.without_controller(self._owner_key.namespace)
        bodies = [body for body in (*owned, *free) if applies(body)]
        return [body for body in bodies if self._claims(cache.resource, body)]

    def _claims(self, resource: str, body: JSON) -> bool:
        metadata = body["metadata"]
        matches = selects(self._owner["spec"].get("selector"), metadata.get("labels"))
        uid = controller_uid(body)
        if uid is not None:
            if uid != self._reference["uid"]:
                return False
            if not matches and not self._deleting:
                self._release(resource, body)
            return matches
        if self._deleting or not matches or "deletionTimestamp" in metadata:
            return False
        return self._adopt(resource, body)

    def _adopt(self, resource: str, body: JSON) -> bool:
        self._check_owner()
        owners = [self._reference]
        return self._patch(resource, body, owners, forgiven=(NOT_FOUND,))

    def _release(self, resource: str, body: JSON) -> None:
        owners = [{"$patch": "delete", "uid": self._reference["uid"]}]
        self._patch(resource, body, owners, forgiven=(NOT_FOUND, INVALID))

    def _patch(
        self, resource: str, body: JSON, owners: list[JSON], *, forgiven: tuple[int, ...]
    ) -> bool:
        changes = {"metadata": {"uid": body["metadata"]["uid"], "ownerReferences": owners}}
        try:
            patch = Patch(PatchType.STRATEGIC, changes)
            self._api.patch(key_of(resource, body), patch, self._by)
        except ApiError as error:
            if error.status not in forgiven:
                raise
            return False
        return True

    def _check_owner(self) -> None:
        """Ask the server itself before the first adoption: the cache may not know of the end."""
        if self._checked:
            return
        found = self._api.get(self._owner_key)["metadata"]
        if found["uid"] != self._reference["uid"] or "deletionTimestamp" in found:
            raise SyncError(f"cannot adopt: {self._owner_key.name} is gone or going")
        self._checked = True

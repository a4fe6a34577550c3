"""Who owns an object: controller references, and taking or letting go what a selector names.

Rules of the controllers' reference manager (kubernetes `pkg/controller`).
"""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.api.api import Api, Patch, PatchType, Writer
from sandbox.controllers.queue import SyncError
from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.objects.selectors import selects
from sandbox.storage.store import Key

MANAGER = "kube-controller-manager"


def _controller(name: str) -> Writer:
    return Writer(f"system:serviceaccount:kube-system:{name}", MANAGER)


DEPLOYMENTS = _controller("deployment-controller")
REPLICA_SETS = _controller("replicaset-controller")
GARBAGE = _controller("generic-garbage-collector")
NAMESPACES = _controller("namespace-controller")
QUOTAS = _controller("resourcequota-controller")
QUOTA_ADMISSION = Writer("system:apiserver", "kube-apiserver")


NOT_FOUND = 404
INVALID = 422


def key_of(resource: str, body: JSON) -> Key:
    """Return where an object is."""
    metadata = body["metadata"]
    return Key(resource, metadata.get("namespace", ""), metadata["name"])


def controller_of(body: JSON | None) -> JSON | None:
    """Return the owner reference that is marked as the controller's."""
    references = ((body or {}).get("metadata") or {}).get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def controller_uid(body: JSON | None) -> str | None:
    """Return the uid of the controller."""
    reference = controller_of(body)
    return reference["uid"] if reference else None


def controller_reference(owner: JSON, api_version: str, kind: str) -> JSON:
    """Return the reference that makes `owner` the controller of an object."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


class Claim:
    """Adopts what an owner's selector names and nobody controls; releases what it no longer names.

    `reference` is what adopted objects get, `owner_key` where the owner is, for an owner that is
    being deleted adopts nothing.
    """

    def __init__(self, api: Api, by: Writer, owner_key: Key, owner: JSON, reference: JSON) -> None:
        self._api = api
        self._by = by
        self._owner_key = owner_key
        self._owner = owner
        self._reference = reference
        self._deleting = "deletionTimestamp" in owner["metadata"]
        self._checked = False

    def of(self, resource: str, bodies: Iterable[JSON]) -> list[JSON]:
        """Return those that the owner has, as they were cached."""
        return [body for body in bodies if self._claims(resource, body)]

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

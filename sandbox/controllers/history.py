"""The revisions of a StatefulSet or DaemonSet: ControllerRevisions, one for each template.

Rules of `pkg/controller/history` and `pkg/controller/daemon/update.go`. A revision's `data` is the
patch that brings its template back; a template that comes back gets its revision's number raised.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sandbox.api.api import Api, Writer
from sandbox.controllers.adoption import Claim
from sandbox.controllers.ownership import controller_reference, key_of
from sandbox.controllers.queue import Informer
from sandbox.failure import ApiError
from sandbox.json import JSON, dig, go_json
from sandbox.storage.store import Key
from sandbox.times import fnv, safe_letters

RESOURCE = "controllerrevisions.apps"
LONGEST_PREFIX = 223
"""Characters of the owner's name in a revision's."""


def hash_data(data: JSON) -> str:
    """Return the hash that a real StatefulSet's revision has (`HashControllerRevision`).

    The 0 at its end is the number of collisions so far, of which there are none here.
    """
    content = f"{go_json(data)}0".encode()
    return safe_letters(str(fnv(content, xor_first=False)))


def template_of(revision: JSON, owner: JSON) -> JSON:
    """Return the pod template that a revision keeps, the owner's where it keeps none."""
    template = dig(revision, "data", "spec", "template") or owner["spec"]["template"]
    return {name: value for name, value in template.items() if name != "$patch"}


def hash_of(revision: JSON, label: str) -> str:
    """Return the hash in a revision's label, its name where somebody has taken that away."""
    metadata = revision["metadata"]
    return str((metadata.get("labels") or {}).get(label, metadata["name"]))


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revisions of an owner, `current` of its template as it is now."""

    current: JSON
    every: list[JSON]

    def find(self, name: str) -> JSON | None:
        """Return the revision of a name."""
        return next((each for each in self.every if each["metadata"]["name"] == name), None)


class History:
    """Keeps the revisions of the owners of one controller."""

    def __init__(self, api: Api, by: Writer, revisions: Informer, label: str) -> None:
        """`label` has the hash, on each revision."""
        self._api = api
        self._by = by
        self._revisions = revisions
        self._label = label

    def sync(self, key: Key, owner: JSON) -> Revisions:
        """Return the revisions; one of the owner's template is there, and is the newest."""
        every = Claim(self._api, self._by, key, owner).of(self._revisions)
        every.sort(key=_order)
        data = {"spec": {"template": {**owner["spec"]["template"], "$patch": "replace"}}}
        newest = every[-1]["revision"] if every else 0
        equal = next((each for each in reversed(every) if each["data"] == data), None)
        if equal is None:
            current = self._create(owner, data, newest + 1)
            return Revisions(current, [*every, current])
        if equal["revision"] < newest:
            bumped = {**equal, "revision": newest + 1}
            bumped = self._api.update(key_of(RESOURCE, equal), bumped, self._by)
            every = [*(each for each in every if each is not equal), bumped]
            return Revisions(bumped, every)
        return Revisions(equal, every)

    def _create(self, owner: JSON, data: JSON, revision: int) -> JSON:
        """Create a revision, or find the one that the cache does not have yet."""
        metadata = owner["metadata"]
        namespace = metadata["namespace"]
        labels = owner["spec"]["template"]["metadata"].get("labels") or {}
        hash_ = hash_data(data)
        name = f"{metadata['name'][:LONGEST_PREFIX]}-{hash_}"
        body = {
            "metadata": {
                "name": name,
                "labels": {**labels, self._label: hash_},
                "annotations": metadata.get("annotations") or {},
                "ownerReferences": [controller_reference(owner)],
            },
            "data": data,
            "revision": revision,
        }
        try:
            return self._api.create(RESOURCE, namespace, body, self._by)
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            found = self._api.get(Key(RESOURCE, namespace, name))
            if found["data"] != data:
                raise
            return found

    def truncate(self, old: list[JSON], live: Collection[str], count: int) -> None:
        """Delete the `count` oldest of `old`, but none whose hash is `live`."""
        for each in sorted(old, key=_order):
            if count > 0 and hash_of(each, self._label) not in live:
                self._api.delete(key_of(RESOURCE, each), self._by)
                count -= 1


def _order(revision: JSON) -> tuple[int, str, str]:
    metadata = revision["metadata"]
    return revision["revision"], metadata.get("creationTimestamp") or "", metadata["name"]

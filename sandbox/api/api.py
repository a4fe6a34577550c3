"""The API: get, list, watch, create, update, patch and delete, as the server answers them."""

from __future__ import annotations

from sandbox.api.deletion import delete, evict
from sandbox.api.listing import (
    LATEST,
    ListOptions,
    begin_watch,
    check_version_of_read,
    list_objects,
)
from sandbox.api.patches import bind, patch, patch_scale, scale_of
from sandbox.api.registry import (
    KIND_DEFAULT,
    LENIENT,
    Admission,
    DeleteOptions,
    Operation,
    Patch,
    PatchType,
    Propagation,
    Registry,
    Strictness,
    WriteOptions,
    Writer,
)
from sandbox.api.storing import create, update
from sandbox.api.writes import Write, found_cluster
from sandbox.failure import ApiError, not_served
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.storage.selection import Selection
from sandbox.storage.store import Key, Store
from sandbox.storage.watching import Watch
from sandbox.times import Names, Timers

__all__ = [
    "Admission",
    "Api",
    "ApiError",
    "DeleteOptions",
    "Key",
    "ListOptions",
    "Operation",
    "Patch",
    "PatchType",
    "Propagation",
    "Strictness",
    "Watch",
    "WriteOptions",
    "Writer",
]


class Api(Registry):
    """The verbs over one store, which is there to be read; refusals are `ApiError`."""

    def __init__(self, timers: Timers, names: Names | None = None) -> None:
        """Begin with the namespaces of every cluster."""
        super().__init__(timers, names or Names(), Store())
        found_cluster(self)

    def get(self, key: Key, *, subresource: str = "", resource_version: str = "") -> JSON:
        """Return an object, or its Scale for the subresource `scale`; 404."""
        check_version_of_read(self, resource_version)
        found = self.live(key)
        return scale_of(found) if subresource == "scale" else found

    def list(self, selected: Selection, options: ListOptions = LATEST) -> JSON:
        """Return the List of a selection; its items have no kind."""
        return list_objects(self, selected, options)

    def watch(self, selected: Selection, options: ListOptions = LATEST) -> Watch:
        """Begin a watch; `resourceVersion` empty or 0 tells the present objects first."""
        return begin_watch(self, selected, options)

    def create(
        self,
        resource: str,
        namespace: str,
        body: JSON,
        by: Writer,
        options: WriteOptions = LENIENT,
    ) -> JSON:
        """Create an object, named or with `generateName`; 403, 404 (namespace), 409, 422."""
        name = (body.get("metadata") or {}).get("name", "")
        return create(self._write(Key(resource, namespace, name), by, "", options), body)

    def update(
        self,
        key: Key,
        body: JSON,
        by: Writer,
        options: WriteOptions = LENIENT,
        *,
        subresource: str = "",
    ) -> JSON:
        """Replace an object, or what the subresource shows of it; 409 where it has moved on."""
        if subresource == "scale":
            raise not_served("an update of a scale: patch it")
        return update(self._write(key, by, subresource, options), key, body)

    def patch(
        self,
        key: Key,
        patch_: Patch,
        by: Writer,
        options: WriteOptions = LENIENT,
        *,
        subresource: str = "",
    ) -> JSON:
        """Change an object by a patch; an apply creates what is not there."""
        change = patch_scale if subresource == "scale" else patch
        return change(self._write(key, by, subresource, options), key, patch_)

    def delete(self, key: Key, by: Writer, options: DeleteOptions = KIND_DEFAULT) -> JSON:
        """Delete an object, or begin to; return it, or a Status where it is gone."""
        write = self._write(key, by, "", WriteOptions(dry_run=options.dry_run))
        return delete(write, key, options)

    def evict(self, key: Key, by: Writer, options: DeleteOptions = KIND_DEFAULT) -> JSON:
        """Delete a pod as its disruption budget allows; return a Status; 404, 409, 429, 500."""
        write = self._write(key, by, "eviction", WriteOptions(dry_run=options.dry_run))
        return evict(write, key, options)

    def bind(self, key: Key, uid: str, node: str, by: Writer) -> None:
        """Assign a pod to a node, as a scheduler does; 404, 409."""
        bind(self._write(key, by, "binding", LENIENT), key, uid, node)

    def _write(self, key: Key, by: Writer, subresource: str, options: WriteOptions) -> Write:
        resource = BY_KEY[key.resource]
        return Write(self, resource, key.namespace, key.name, by, subresource, options)

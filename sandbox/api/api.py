"""The API: get, list, watch, create, update, patch and delete, as the server answers them."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.api.asked import (
    KIND_DEFAULT,
    LENIENT,
    Admission,
    Admit,
    DeleteOptions,
    FieldValidation,
    Operation,
    Patch,
    PatchType,
    Propagation,
    Strictness,
    Writer,
)
from sandbox.api.deletion import delete
from sandbox.api.eviction import evict
from sandbox.api.listing import (
    LATEST,
    ListOptions,
    begin_watch,
    check_version_of_read,
    list_objects,
)
from sandbox.api.namespaces import found_cluster
from sandbox.api.patches import patch
from sandbox.api.registry import Registry
from sandbox.api.storing import create, update
from sandbox.api.subresources import bind, patch_scale, scale_of
from sandbox.api.writes import Write
from sandbox.failure import ApiError, not_served
from sandbox.json import JSON
from sandbox.kinds import BY_KEY
from sandbox.storage.selection import selection
from sandbox.storage.store import Key, Store
from sandbox.storage.watching import Watch
from sandbox.times import Names, Timers

__all__ = [
    "Admission",
    "Api",
    "ApiError",
    "DeleteOptions",
    "FieldValidation",
    "Key",
    "ListOptions",
    "Operation",
    "Patch",
    "PatchType",
    "Propagation",
    "Strictness",
    "Watch",
    "Writer",
]


class Api:
    """The verbs over one store; refusals are `ApiError`."""

    def __init__(
        self,
        timers: Timers,
        names: Names | None = None,
        store: Store | None = None,
        *,
        mutations: Sequence[Admit] = (),
        admissions: Sequence[Admit] = (),
    ) -> None:
        """Begin with the namespaces of every cluster.

        `mutations` may change a write before it is validated, `admissions` may refuse it as the
        last thing before it is stored; both lists may be added to later.
        """
        self.registry = Registry(
            timers, names or Names(), store or Store(), list(mutations), list(admissions)
        )
        found_cluster(self.registry)

    @property
    def store(self) -> Store:
        """What is stored; read it, but write through the verbs."""
        return self.registry.store

    @property
    def timers(self) -> Timers:
        """The time of the cluster."""
        return self.registry.timers

    @property
    def mutations(self) -> list[Admit]:
        """The hooks that may change a write."""
        return self.registry.mutations

    @property
    def admissions(self) -> list[Admit]:
        """The hooks that may refuse a write."""
        return self.registry.validations

    def get(self, key: Key, *, subresource: str = "", resource_version: str = "") -> JSON:
        """Return an object, or its Scale for the subresource `scale`; 404."""
        check_version_of_read(self.registry, resource_version)
        found = self.registry.live(key)
        return scale_of(found) if subresource == "scale" else found

    def list(
        self,
        resource: str,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        options: ListOptions = LATEST,
    ) -> JSON:
        """Return the List of a resource in one namespace or in all; its items have no kind."""
        return list_objects(self.registry, selection(resource, namespace, labels, fields), options)

    def watch(
        self,
        resource: str,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        options: ListOptions = LATEST,
    ) -> Watch:
        """Begin a watch; `resourceVersion` empty or 0 tells the present objects first."""
        return begin_watch(self.registry, selection(resource, namespace, labels, fields), options)

    def create(
        self,
        resource: str,
        namespace: str,
        body: JSON,
        by: Writer,
        *,
        dry_run: bool = False,
        validation: FieldValidation = LENIENT,
    ) -> JSON:
        """Create an object, named or with `generateName`; 403, 404 (namespace), 409, 422."""
        name = (body.get("metadata") or {}).get("name", "")
        key = Key(resource, namespace, name)
        return create(self._write(key, by, "", validation, dry_run=dry_run), body)

    def update(
        self,
        key: Key,
        body: JSON,
        by: Writer,
        *,
        subresource: str = "",
        dry_run: bool = False,
        validation: FieldValidation = LENIENT,
    ) -> JSON:
        """Replace an object, or what the subresource shows of it; 409 where it has moved on."""
        write = self._write(key, by, subresource, validation, dry_run=dry_run)
        if subresource == "scale":
            raise not_served("an update of a scale: patch it")
        return update(write, key, body)

    def patch(
        self,
        key: Key,
        patch_: Patch,
        by: Writer,
        *,
        subresource: str = "",
        dry_run: bool = False,
        validation: FieldValidation = LENIENT,
    ) -> JSON:
        """Change an object by a patch; an apply creates what is not there."""
        write = self._write(key, by, subresource, validation, dry_run=dry_run)
        if subresource == "scale":
            return patch_scale(write, key, patch_)
        return patch(write, key, patch_)

    def delete(
        self,
        key: Key,
        by: Writer,
        options: DeleteOptions = KIND_DEFAULT,
        *,
        dry_run: bool = False,
    ) -> JSON:
        """Delete an object, or begin to; return it, or a Status where it is gone."""
        return delete(self._write(key, by, "", LENIENT, dry_run=dry_run), key, options)

    def evict(
        self,
        key: Key,
        by: Writer,
        options: DeleteOptions = KIND_DEFAULT,
        *,
        dry_run: bool = False,
    ) -> JSON:
        """Delete a pod as its disruption budget allows; return a Status; 404, 409, 429, 500."""
        return evict(self._write(key, by, "eviction", LENIENT, dry_run=dry_run), key, options)

    def bind(self, key: Key, uid: str, node: str, by: Writer) -> None:
        """Assign a pod to a node, as a scheduler does; 404, 409."""
        bind(self._write(key, by, "binding", LENIENT, dry_run=False), key, uid, node)

    def _write(
        self,
        key: Key,
        by: Writer,
        subresource: str,
        validation: FieldValidation,
        *,
        dry_run: bool,
    ) -> Write:
        return Write(
            registry=self.registry,
            resource=BY_KEY[key.resource],
            namespace=key.namespace,
            name=key.name,
            by=by,
            subresource=subresource,
            dry_run=dry_run,
            validation=validation,
        )

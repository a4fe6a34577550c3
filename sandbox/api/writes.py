"""A write on its way: what it is held to, and who owns which field after it.

Its preconditions against the object that is there; the bridge to `sandbox.fields`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.api.registry import (
    Admission,
    Operation,
    Patch,
    Registry,
    Strictness,
    WriteOptions,
    Writer,
    internal,
    make_modified_error,
)
from sandbox.api.strategies import strategy_of
from sandbox.failure import ApiError, FieldError, bad_request, forbidden, invalid, not_found
from sandbox.fields import Conflict, NotTyped, apply, update_owners
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects import strict_errors, strict_refusal
from sandbox.schema import schema_of
from sandbox.storage.store import Key, number_of_version


@dataclass(frozen=True, slots=True)
class Write:
    """One write on its way; `name` is empty for a created object that has none yet."""

    registry: Registry
    resource: Resource
    namespace: str
    name: str
    by: Writer
    subresource: str
    options: WriteOptions

    @property
    def dry_run(self) -> bool:
        """Whether nothing shall be kept."""
        return self.options.dry_run

    def admission(self, operation: Operation, before: JSON | None, body: JSON | None) -> Admission:
        """Return what the hooks are asked."""
        return Admission(
            operation=operation,
            resource=self.resource,
            subresource=self.subresource,
            namespace=self.namespace,
            name=self.name,
            by=self.by,
            before=before,
            body=body,
            dry_run=self.dry_run,
        )


def decode_strictly(write: Write, body: JSON) -> None:
    """Refuse, tell or ignore what the schema does not know."""
    found = find_unknown(write, body)
    if found and write.options.strictness is Strictness.STRICT:
        raise strict_refusal(write.resource, found)


def find_unknown(write: Write, body: JSON) -> list[str]:
    """Return what the schema does not know, none where that is ignored; tell of it if asked to."""
    options = write.options
    if options.strictness is Strictness.IGNORE:
        return []
    found = strict_errors(write.resource, body)
    for error in found if options.strictness is Strictness.WARN else ():
        options.warn(error)
    return found


def refuse_invalid(resource: Resource, body: JSON, errors: Sequence[FieldError]) -> None:
    """422 where there is an error; an object without a name has none in the details."""
    if errors:
        name = body["metadata"].get("name", "")
        refusal = invalid(resource.kind, resource.group, name, errors)
        if not name:
            refusal.details.pop("name", None)
        raise refusal


def check_uid(key: Key, uid: str | None, live: JSON | None) -> None:
    """409 where a write is about another object of the same name, or about one that is gone."""
    found = live["metadata"]["uid"] if live else ""
    if uid and uid != found:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
        raise make_modified_error(key, why)


def check_version(write: Write, key: Key, version: str | None, live: JSON) -> None:
    """409 where the object has moved on; 400 where the kind needs a version and there is none."""
    if not version:
        if strategy_of(write.resource).needs_version and not write.subresource:
            raise bad_request(f"an update of {key.name} has to say its resourceVersion")
        return
    number = number_of_version(version)
    if number is None:
        raise bad_request(f'the resourceVersion "{version}" is no number')
    if number != int(live["metadata"]["resourceVersion"]):
        raise make_modified_error(key)


def with_managed_fields(write: Write, live: JSON | None, new: JSON) -> JSON:
    """Return `new` with the managedFields of a create, an update or a patch by its writer."""
    return update_owners(
        live,
        new,
        write.by.manager,
        now=write.registry.timers.wall(),
        schema=schema_of(write.resource),
        subresource=write.subresource,
    )


def merge_applied(write: Write, live: JSON | None, patch: Patch) -> JSON:
    """Return the live object with an applied configuration merged in; 400, 409, 500."""
    try:
        return apply(
            live,
            _check_object_type(write, patch.body),
            write.by.manager,
            force=patch.force,
            now=write.registry.timers.wall(),
            schema=schema_of(write.resource),
            subresource=write.subresource,
        )
    except Conflict as conflict:
        raise conflict.refusal() from None
    except NotTyped as error:
        raise internal(str(error)) from None


def _check_object_type(write: Write, body: JSON) -> JSON:
    resource = write.resource
    found = (body.get("apiVersion") or "", body.get("kind") or "")
    if found != (resource.api_version, resource.kind):
        api_version, kind = found
        raise bad_request(f"invalid object type: {api_version or '/'}, Kind={kind}")
    return body


DEFAULT_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
UNDELETABLE = ("default", "kube-public", "kube-system")
FINALIZER = "kubernetes"
NAME_LABEL = "kubernetes.io/metadata.name"


def namespace_key(name: str) -> Key:
    """Return where a namespace is stored."""
    return Key("namespaces", "", name)


def found_cluster(registry: Registry) -> None:
    """Create the namespaces that every cluster has; kube-system's uid names the cluster."""
    for name in DEFAULT_NAMESPACES:
        registry.keep(namespace_key(name), _namespace(registry, name))


def check_open(registry: Registry, resource: Resource, namespace: str, name: str) -> None:
    """404 where the namespace of a new object is missing, 403 where it is being terminated."""
    if not resource.namespaced:
        return
    found = registry.store.get(namespace_key(namespace))
    if found is None:
        raise not_found("namespaces", "", namespace)
    if found["metadata"].get("deletionTimestamp"):
        raise _terminating(resource, namespace, name)


def check_deletable(resource: Resource, name: str) -> None:
    """403 for the namespaces that a cluster cannot be without."""
    if resource.key == "namespaces" and name in UNDELETABLE:
        raise forbidden("namespaces", "", name, "this namespace may not be deleted")


def _terminating(resource: Resource, namespace: str, name: str) -> ApiError:
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    refusal = forbidden(resource.plural, resource.group, name, why)
    refusal.details["causes"] = [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
    ]
    return refusal


def _namespace(registry: Registry, name: str) -> JSON:
    return {
        "kind": "Namespace",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "uid": registry.names.uid(),
            "creationTimestamp": registry.timers.wall(),
            "labels": {NAME_LABEL: name},
        },
        "spec": {"finalizers": [FINALIZER]},
        "status": {"phase": "Active"},
    }

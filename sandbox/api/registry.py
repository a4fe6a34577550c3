"""The ground of the verbs: the store with the clock, the names and the hooks of a write.

Every write ends in `Registry.keep` or `Registry.drop`, which a dry run never reaches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sandbox.failure import ApiError, conflict, not_found
from sandbox.json import JSON, copy_json, dig
from sandbox.kinds import BY_KEY, Resource
from sandbox.objects import fill_defaults
from sandbox.storage.store import Key, Store
from sandbox.times import Names, Timers

EVENT_LIFETIME_SECONDS = 3_600.0
"""How long the server keeps an Event after its last write (`--event-ttl`)."""

MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@dataclass(eq=False)
class Registry:
    """What all verbs share, with the hooks of writes, to which more may be added at any time.

    `mutations` may change a write before it is validated, `admissions` may refuse it as the last
    thing before it is stored.
    """

    timers: Timers
    names: Names
    store: Store
    mutations: list[Admit] = field(default_factory=list)
    admissions: list[Admit] = field(default_factory=list)

    def live(self, key: Key) -> JSON:
        """Return the stored object; 404."""
        found = self.store.get(key)
        if found is None:
            raise missing(key)
        return found

    def admit(self, admission: Admission) -> JSON:
        """Return the body after the mutating hooks, with defaults; what they raise is the answer.

        The hooks get a copy of their own.
        """
        if not self.mutations:
            return admission.body or {}
        admission.body = copy_json(admission.body)
        for hook in self.mutations:
            hook(admission)
        return fill_defaults(admission.resource, admission.body or {})

    def validate(self, admission: Admission) -> None:
        """Ask the validating hooks; what they raise is the answer."""
        for hook in self.admissions:
            hook(admission)

    def keep(self, key: Key, body: JSON) -> JSON:
        """Store an object; Events go by themselves when their time is over."""
        kept = self.store.put(key, body)
        if key.resource == "events":
            version = kept["metadata"]["resourceVersion"]
            self.timers.call_later(EVENT_LIFETIME_SECONDS, lambda: self._fade(key, version))
        return kept

    def drop(self, key: Key) -> JSON:
        """Remove an object; return it as of its deletion."""
        return self.store.remove(key)

    def _fade(self, key: Key, version: str) -> None:
        found = self.store.get(key)
        if found is not None and found["metadata"]["resourceVersion"] == version:
            self.store.remove(key)


def resource_of(key: Key) -> Resource:
    """Return the row of the resource that a key names."""
    return BY_KEY[key.resource]


def missing(key: Key) -> ApiError:
    """404 for what a key names."""
    resource = resource_of(key)
    return not_found(resource.plural, resource.group, key.name)


def make_modified_error(key: Key, why: str = MODIFIED) -> ApiError:
    """409 for what a key names."""
    resource = resource_of(key)
    return conflict(resource.plural, resource.group, key.name, why)


def internal(message: str) -> ApiError:
    """500, which the server answers without a reason."""
    return ApiError(500, "", message)


def taken_of_services(
    registry: Registry, resource: Resource, but: JSON | None = None
) -> frozenset[str]:
    """Return the addresses and ports in use, where a kind asks for some; `but` are one's own."""
    if resource.key != "services":
        return frozenset()
    found: set[str] = set()
    for service in registry.store.items("services"):
        if but is None or service["metadata"]["uid"] != but["metadata"]["uid"]:
            ports = dig(service, "spec", "ports") or []
            found |= {str(port["nodePort"]) for port in ports if port.get("nodePort")}
            found.add(dig(service, "spec", "clusterIP") or "")
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Writer:
    """Who asks: `user` as the server authenticated it, `manager` as managedFields shows it."""

    user: str
    manager: str


class PatchType(StrEnum):
    """The four kinds of patch, by their media types."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch, decoded; `force` takes over fields in conflict and belongs to apply alone."""

    type: PatchType
    body: Any
    force: bool = False


class Propagation(StrEnum):
    """What happens to the dependents of a deleted object."""

    BACKGROUND = "Background"
    ORPHAN = "Orphan"


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How to delete; None leaves it to the kind's default."""

    grace_seconds: int | None = None
    propagation: Propagation | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False


class Strictness(StrEnum):
    """What becomes of fields that the schema does not know (`fieldValidation`)."""

    IGNORE = "Ignore"
    WARN = "Warn"
    STRICT = "Strict"


def _unheard(_warning: str) -> None:
    """Drop a warning."""


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to treat unknown fields, and whether only to try."""

    dry_run: bool = False
    strictness: Strictness = Strictness.IGNORE
    warn: Callable[[str], None] = _unheard


LENIENT = WriteOptions()
KIND_DEFAULT = DeleteOptions()


class Operation(StrEnum):
    """What a write does, as admission calls it."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(slots=True)
class Admission:
    """A write on its way: `body` is a copy that a hook may change in place.

    To refuse, a hook raises ApiError. `before` is None on a create, `body` is on a delete.
    Hooks see the write after validation, as the last thing before it is stored, unless they are
    registered as mutating (`Api.mutations`).
    """

    operation: Operation
    resource: Resource
    subresource: str
    namespace: str
    name: str
    by: Writer
    before: JSON | None
    body: JSON | None
    dry_run: bool


Admit = Callable[[Admission], None]

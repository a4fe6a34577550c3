"""Create: a whole object out of what was sent, or the reason why not."""

from __future__ import annotations

from sandbox.api.admission import Operation
from sandbox.api.metadata import (
    checked_place,
    checked_type,
    stamp_metadata,
    without_system_fields,
)
from sandbox.api.namespaces import check_open
from sandbox.api.ownership import with_managed_fields
from sandbox.api.services import taken_of_services
from sandbox.api.strategies import Strategy, has_status, strategy_of
from sandbox.api.writes import Write, decode_strictly, refuse_invalid
from sandbox.failure import already_exists
from sandbox.json import JSON, copy_json
from sandbox.kinds import Resource
from sandbox.objects import fill_defaults, prepared_for_create, validate_create
from sandbox.storage.store import Key

GENERATED_NAME_TRIES = 8
"""How often a generated name that is taken is generated anew (since Kubernetes 1.32)."""


def create(write: Write, sent: JSON) -> JSON:
    """Create an object as it was sent; return it as stored (as it would be, in a dry run)."""
    body = checked_type(write.resource, sent)
    metadata = body["metadata"] = without_system_fields(body.get("metadata") or {})
    checked_place(write.resource, write.namespace, metadata)
    body = fill_defaults(write.resource, body)
    decode_strictly(write, sent)
    return create_received(write, with_managed_fields(write, None, body))


def create_received(write: Write, body: JSON) -> JSON:
    """Create an object that is decoded, defaulted and has its managed fields."""
    registry = write.registry
    name = body["metadata"].get("name", "")
    check_open(registry, write.resource, write.namespace, name)
    body = registry.admit(write.admission(Operation.CREATE, None, body))
    for _ in range(GENERATED_NAME_TRIES - 1):
        made = _complete_creation(write, body)
        if name or _is_free(write, made):
            return _store_creation(write, made)
    return _store_creation(write, _complete_creation(write, body))


def _complete_creation(write: Write, body: JSON) -> JSON:
    registry, resource = write.registry, write.resource
    strategy = strategy_of(resource)
    metadata = stamp_metadata(body["metadata"], strategy, registry.names, registry.timers.wall())
    made = _with_status(resource, strategy, {**body, "metadata": metadata})
    taken = taken_of_services(registry, resource)
    made = prepared_for_create(resource, made, taken)
    refuse_invalid(resource, made, validate_create(resource, made))
    return made


def _with_status(resource: Resource, strategy: Strategy, body: JSON) -> JSON:
    if not has_status(resource) or strategy.keeps_sent_status:
        return body
    return {**body, "status": copy_json(strategy.initial_status)}


def _key(write: Write, body: JSON) -> Key:
    return Key(write.resource.key, write.namespace, body["metadata"].get("name", ""))


def _is_free(write: Write, body: JSON) -> bool:
    return write.registry.store.get(_key(write, body)) is None


def _store_creation(write: Write, body: JSON) -> JSON:
    write.registry.validate(write.admission(Operation.CREATE, None, body))
    if not _is_free(write, body):
        name = body["metadata"]["name"]
        raise already_exists(write.resource.plural, write.resource.group, name)
    return body if write.dry_run else write.registry.keep(_key(write, body), body)

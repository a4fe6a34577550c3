"""Create and update: a whole object out of what was sent, or the reason why not."""

from __future__ import annotations

from sandbox.api.registry import Operation, missing, taken_of_services
from sandbox.api.strategies import Strategy, has_status, strategy_of
from sandbox.api.writes import (
    Write,
    check_open,
    check_uid,
    check_version,
    decode_strictly,
    refuse_invalid,
    with_managed_fields,
)
from sandbox.failure import ApiError, already_exists, bad_request
from sandbox.fields import keep_times_if_unchanged
from sandbox.json import JSON, copy_json
from sandbox.kinds import Resource
from sandbox.objects import (
    fill_defaults,
    prepared_for_create,
    prepared_for_update,
    validate_create,
    validate_update,
)
from sandbox.storage.store import Key
from sandbox.times import Names


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
    registry, resource = write.registry, write.resource
    check_open(registry, resource, write.namespace, body["metadata"].get("name", ""))
    body = registry.admit(write.admission(Operation.CREATE, None, body))
    strategy = strategy_of(resource)
    metadata = stamp_metadata(body["metadata"], strategy, registry.names, registry.timers.wall())
    made = {**body, "metadata": metadata}
    if has_status(resource) and not strategy.keeps_sent_status:
        made["status"] = copy_json(strategy.initial_status)
    made = prepared_for_create(resource, made, taken_of_services(registry, resource))
    refuse_invalid(resource, made, validate_create(resource, made))
    registry.validate(write.admission(Operation.CREATE, None, made))
    key = Key(resource.key, write.namespace, made["metadata"]["name"])
    if registry.store.get(key) is not None:
        raise already_exists(resource.plural, resource.group, key.name)
    return made if write.dry_run else registry.keep(key, made)


STATUS_METADATA = {"deployments.apps": ("labels",), "pods": ("ownerReferences",)}
"""Metadata that a write of the status leaves alone; the rest of it may be changed that way too."""


def update(write: Write, key: Key, sent: JSON) -> JSON:
    """Replace the object at a key; 409 where it is no longer what the sender has seen."""
    body = checked_type(write.resource, sent)
    metadata = body["metadata"] = dict(body.get("metadata") or {})
    checked_name(key.name, metadata)
    checked_place(write.resource, write.namespace, metadata)
    live = write.registry.store.get(key)
    if live is None:
        return _create_by_update(write, key, sent)
    body = fill_defaults(write.resource, body)
    decode_strictly(write, sent)
    check_uid(key, metadata.get("uid"), live)
    return replace(write, key, live, with_managed_fields(write, live, body))


def replace(write: Write, key: Key, live: JSON, body: JSON) -> JSON:
    """Put an object that is decoded, defaulted and owned in the place of the live one."""
    registry = write.registry
    body = registry.admit(write.admission(Operation.UPDATE, live, body))
    check_version(write, key, body["metadata"].get("resourceVersion"), live)
    made = _complete_update(write, live, body)
    errors = validate_update(write.resource, live, made, _strategic(write.subresource))
    refuse_invalid(write.resource, made, errors)
    registry.validate(write.admission(Operation.UPDATE, live, made))
    return _store_update(write, key, live, keep_times_if_unchanged(live, made))


def _store_update(write: Write, key: Key, live: JSON, made: JSON) -> JSON:
    """Keep an update; one that changes nothing is none, one that lets go ends a deletion."""
    if made == live:
        return live
    if write.dry_run:
        return made
    if _ends_deletion(key, live, made):
        write.registry.drop(key)
        return made
    return write.registry.keep(key, made)


def _ends_deletion(key: Key, live: JSON, made: JSON) -> bool:
    """Tell whether an update takes away the last thing that a deletion waited for."""
    waiting = made["metadata"].get("finalizers")
    if key.resource == "namespaces":
        waiting = waiting or made.get("spec", {}).get("finalizers")
        return not waiting and bool(live["metadata"].get("deletionTimestamp"))
    return not waiting and live["metadata"].get("deletionGracePeriodSeconds") == 0


def _create_by_update(write: Write, key: Key, sent: JSON) -> JSON:
    if not strategy_of(write.resource).creates_on_update or write.subresource:
        raise missing(key)
    check_uid(key, (sent.get("metadata") or {}).get("uid"), None)
    return create(write, sent)


def _complete_update(write: Write, live: JSON, body: JSON) -> JSON:
    """Return the update with what its subresource may not touch as it stands in the live object."""
    resource, subresource = write.resource, write.subresource
    made = {**body, "metadata": carry_over_metadata(body["metadata"], live["metadata"])}
    if subresource == "status":
        made = _status_alone(resource.key, live, made)
    elif has_status(resource):
        made = _with(made, "status", live)
    taken = taken_of_services(write.registry, resource, but=live)
    made = prepared_for_update(resource, live, made, _strategic(subresource), taken)
    generation = count_generation(made, live, strategy_of(resource))
    if generation is not None and subresource != "status":
        made = {**made, "metadata": {**made["metadata"], "generation": generation}}
    return made


def _strategic(subresource: str) -> str:
    """Return the subresource as strategies know it: a scale is a write of the main object."""
    return "" if subresource == "scale" else subresource


def _with(made: JSON, name: str, live: JSON) -> JSON:
    """Return the object with a field as it stands in the live one."""
    if name in live:
        return {**made, name: live[name]}
    return {field: item for field, item in made.items() if field != name}


def _status_alone(resource: str, live: JSON, made: JSON) -> JSON:
    metadata = made["metadata"]
    for name in STATUS_METADATA.get(resource, ()):
        metadata = _with(metadata, name, live["metadata"])
    return _with({**live, "metadata": metadata}, "status", made)


GENERATED_NAME_BASE_LENGTH = 58
"""A generated name has at most 63 characters (apiserver `names.maxGeneratedNameLength`)."""

SYSTEM_FIELDS = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "selfLink",
    "uid",
)
"""What a created object has from the server alone; sent values are dropped before anything else."""


def checked_type(resource: Resource, body: JSON) -> JSON:
    """Return the body with its kind filled in; 400 where it names another one."""
    api_version = body.get("apiVersion") or resource.api_version
    kind = body.get("kind") or resource.kind
    if (api_version, kind) != (resource.api_version, resource.kind):
        raise bad_request(f"{api_version}, {kind} cannot be handled as a {resource.kind}")
    return {**body, "apiVersion": api_version, "kind": kind}


def checked_place(resource: Resource, namespace: str, metadata: JSON) -> None:
    """Fill in the namespace of the request; 400 where the object names another one."""
    if not resource.namespaced:
        metadata.pop("namespace", None)
        return
    if metadata.get("namespace") not in (None, "", namespace):
        why = "does not match the namespace sent on the request"
        raise bad_request(f"the namespace of the provided object {why}")
    metadata["namespace"] = namespace


def checked_name(name: str, metadata: JSON) -> None:
    """Hold the name of an object to the one on the URL; 400."""
    found = metadata.get("name") or ""
    if not found:
        why = f"({name} based on URL) was undeterminable: name must be provided"
        raise bad_request(f"the name of the object {why}")
    if found != name:
        why = f"({found}) does not match the name on the URL ({name})"
        raise bad_request(f"the name of the object {why}")


def without_system_fields(metadata: JSON) -> JSON:
    """Return the metadata of an object that is to be created, without what the server sets."""
    return {name: item for name, item in metadata.items() if name not in SYSTEM_FIELDS}


def stamp_metadata(metadata: JSON, strategy: Strategy, names: Names, now: str) -> JSON:
    """Return a created object's metadata: uid, time, generation, and a name where one is asked."""
    if metadata.get("resourceVersion"):
        raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
    made = {name: item for name, item in metadata.items() if name != "resourceVersion"}
    made |= {"uid": names.uid(), "creationTimestamp": now}
    if strategy.generation_fields:
        made["generation"] = 1
    if not made.get("name") and made.get("generateName"):
        base = made["generateName"][:GENERATED_NAME_BASE_LENGTH]
        made["name"] = base + names.suffix()
    return made


def carry_over_metadata(new: JSON, old: JSON) -> JSON:
    """Return an update's metadata with what an update cannot drop or move."""
    made = dict(new)
    for name in ("uid", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if not made.get(name) and name in old:
            made[name] = old[name]
    made.pop("selfLink", None)
    _keep(made, old, "creationTimestamp")
    _keep(made, old, "generation")
    if old.get("deletionTimestamp"):
        made["deletionTimestamp"] = old["deletionTimestamp"]
    return made


def count_generation(new: JSON, old: JSON, strategy: Strategy) -> int | None:
    """Return the generation of an update: one more where a counting field differs."""
    found: int | None = old["metadata"].get("generation")
    if not strategy.generation_fields:
        return found
    before, after = ({**body, "annotations": _annotations(body)} for body in (old, new))
    moved = any(after.get(name) != before.get(name) for name in strategy.generation_fields)
    return (found or 0) + moved


def _annotations(body: JSON) -> JSON:
    found: JSON = body["metadata"].get("annotations") or {}
    return found


def _keep(made: JSON, old: JSON, name: str) -> None:
    made.pop(name, None)
    if name in old:
        made[name] = old[name]

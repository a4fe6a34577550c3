"""An object's metadata on its way in: what the server sets, keeps and compares."""

from __future__ import annotations

from typing import Any

from sandbox.api.strategies import Strategy
from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.times import Names

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
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    metadata["namespace"] = namespace


def checked_name(name: str, metadata: JSON) -> None:
    """Hold the name of an object to the one on the URL; 400."""
    found = metadata.get("name") or ""
    if not found:
        raise bad_request(
            f"the name of the object ({name} based on URL) was undeterminable:"
            " name must be provided"
        )
    if found != name:
        raise bad_request(
            f"the name of the object ({found}) does not match the name on the URL ({name})"
        )


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
    moved = any(_counting(new, name) != _counting(old, name) for name in strategy.generation_fields)
    return (found or 0) + moved


def _counting(body: JSON, name: str) -> Any:
    if name == "annotations":
        return body["metadata"].get("annotations") or {}
    return body.get(name)


def _keep(made: JSON, old: JSON, name: str) -> None:
    made.pop(name, None)
    if name in old:
        made[name] = old[name]

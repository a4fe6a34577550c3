"""Patch: the four kinds, each an update of the live object by what the patch makes of it."""

from __future__ import annotations

import json
from typing import Any

from sandbox.api.registry import (
    Operation,
    Patch,
    PatchType,
    Strictness,
    make_modified_error,
    missing,
)
from sandbox.api.storing import checked_name, checked_place, create_received, replace
from sandbox.api.writes import (
    Write,
    check_uid,
    find_unknown,
    merge_applied,
    with_managed_fields,
)
from sandbox.failure import ApiError, FieldError, conflict, invalid, not_served
from sandbox.json import JSON, dig
from sandbox.objects import Mismatch, decode_struct, defaulted_type, fill_defaults
from sandbox.objects.conditions import conditions_of, without
from sandbox.objects.decoding import root_of
from sandbox.objects.selectors import selector_text
from sandbox.patching import PatchError, json_patch, merge_patch, strategic_merge
from sandbox.schema import schema_of, spell_value
from sandbox.storage.store import Key


def patch(write: Write, key: Key, asked: Patch) -> JSON:
    """Change the object at a key; an apply creates it where there is none."""
    if asked.type is PatchType.APPLY:
        return _apply(write, key, asked)
    live = write.registry.live(key)
    made = _decode_patched(write, live, asked)
    return replace(
        write, key, live, with_managed_fields(write, live, _with_place(write, key, made))
    )


def changed_by(write: Write, body: JSON, asked: Patch) -> JSON:
    """Return what a JSON, merge or strategic merge patch makes of an object; 400, 422, 500."""
    try:
        match asked.type:
            case PatchType.JSON:
                made = json_patch(body, asked.body)
            case PatchType.MERGE:
                made = merge_patch(body, asked.body)
            case _:
                made = strategic_merge(body, asked.body, schema_of(write.resource))
    except PatchError as error:
        raise error.refusal() from None
    found: JSON = made
    return found


def _decode_patched(write: Write, live: JSON, asked: Patch) -> JSON:
    """Return the patched object, decoded and defaulted; 422 where it is none of its kind."""
    made = changed_by(write, live, asked)
    shown = asked.body if asked.type is PatchType.STRATEGIC else made
    made = _with_type(write, made, shown, own_type_counts=asked.type is not PatchType.STRATEGIC)
    try:
        found = decode_struct(root_of(write.resource), made)
    except Mismatch as error:
        raise _unreadable(shown, str(error)) from None
    errors = find_unknown(write, made)
    if errors and write.options.strictness is Strictness.STRICT:
        raise _unreadable(shown, f"strict decoding error: {', '.join(errors)}")
    return found


def _with_type(write: Write, made: JSON, shown: Any, *, own_type_counts: bool) -> JSON:
    """Return the object with its type, that of the request where none counts; 422 for another."""
    resource = write.resource
    own = made if own_type_counts else {}
    kind, version = own.get("kind") or resource.kind, own.get("apiVersion") or resource.api_version
    if (version, kind) != (resource.api_version, resource.kind):
        raise _unreadable(shown, f'no kind "{kind}" is registered for version "{version}"')
    return {**made, "kind": kind, "apiVersion": version}


def _unreadable(shown: Any, why: str) -> ApiError:
    """422 in the shape that the server gives a patch whose result it cannot decode."""
    text = spell_value(shown) if "kind" not in shown else json.dumps(shown, separators=(",", ":"))
    message = f"Invalid value: {json.dumps(text)}: {why}"
    cause = {"reason": "FieldValueInvalid", "message": message, "field": "patch"}
    return ApiError(
        422, "Invalid", f' "" is invalid: patch: {message}', details={"causes": [cause]}
    )


def _with_place(write: Write, key: Key, made: JSON) -> JSON:
    metadata = {**(made.get("metadata") or {})}
    checked_name(key.name, metadata)
    checked_place(write.resource, write.namespace, metadata)
    return {**made, "metadata": metadata}


def _apply(write: Write, key: Key, asked: Patch) -> JSON:
    live = write.registry.store.get(key)
    if live is None and write.subresource:
        raise missing(key)
    merged = _with_place(write, key, merge_applied(write, live, asked))
    if live is not None:
        return replace(write, key, live, fill_defaults(write.resource, merged))
    metadata = merged["metadata"]
    if metadata.get("uid"):
        why = f"the object specified uid {metadata['uid']}, and no existing object was found"
        raise make_modified_error(key, f"uid mismatch: {why}")
    metadata.pop("resourceVersion", None)
    return create_received(write, fill_defaults(write.resource, merged))


SCALE_TYPE = {"kind": "Scale", "apiVersion": "autoscaling/v1"}
_SHOWN_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(body: JSON) -> JSON:
    """Return the Scale of a Deployment, ReplicaSet or StatefulSet."""
    metadata = {
        name: body["metadata"][name] for name in _SHOWN_METADATA if name in body["metadata"]
    }
    status: JSON = {"replicas": dig(body, "status", "replicas") or 0}
    selector = selector_text(dig(body, "spec", "selector") or {})
    if selector:
        status["selector"] = selector
    replicas = dig(body, "spec", "replicas") or 0
    spec = {"replicas": replicas} if replicas else {}
    return {**SCALE_TYPE, "metadata": metadata, "spec": spec, "status": status}


def patch_scale(write: Write, key: Key, asked: Patch) -> JSON:
    """Set the replicas that a patched Scale asks for."""
    live = write.registry.live(key)
    if asked.type is PatchType.APPLY:
        raise not_served("an apply of a scale")
    return _write_replicas(
        write, key, live, _check_scale(write, key, changed_by(write, scale_of(live), asked))
    )


def _check_scale(write: Write, key: Key, sent: Any) -> JSON:
    """Return a Scale that is one, and that is about the object; 400, 422."""
    scale = defaulted_type("autoscaling/v1.Scale", "Scale", "v1", sent)
    checked_name(key.name, scale["metadata"])
    checked_place(write.resource, key.namespace, scale["metadata"])
    replicas = scale["spec"].get("replicas", 0)
    if replicas < 0:
        why = f"Invalid value: {replicas}: must be greater than or equal to 0"
        error = FieldError("spec.replicas", "FieldValueInvalid", why)
        raise invalid("Scale", "autoscaling", key.name, [error])
    return scale


def _write_replicas(write: Write, key: Key, live: JSON, scale: JSON) -> JSON:
    metadata = scale["metadata"]
    check_uid(key, metadata.get("uid"), live)
    wanted = scale["spec"].get("replicas", 0)
    version = metadata.get("resourceVersion") or live["metadata"]["resourceVersion"]
    body = {
        **live,
        "metadata": {**live["metadata"], "resourceVersion": version},
        "spec": {**live.get("spec", {}), "replicas": wanted},
    }
    return scale_of(replace(write, key, live, with_managed_fields(write, live, body)))


def bind(write: Write, key: Key, uid: str, node: str) -> None:
    """Assign the pod of that uid to a node; 404, 409 where it has one."""
    live = write.registry.live(key)
    check_uid(key, uid, live)
    if live["metadata"].get("deletionTimestamp") or dig(live, "spec", "nodeName"):
        why = f"pod {key.name} is being deleted, or assigned already"
        raise conflict("pods/binding", "", key.name, why)
    body = _with_binding(write, live, node)
    write.registry.validate(write.admission(Operation.CREATE, live, body))
    write.registry.keep(key, body)


def _with_binding(write: Write, live: JSON, node: str) -> JSON:
    status = live.get("status", {})
    others = without(conditions_of(live), "PodScheduled")
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": write.registry.timers.wall(),
    }
    return {
        **live,
        "spec": {**live["spec"], "nodeName": node},
        "status": {**status, "conditions": [*others, scheduled]},
    }

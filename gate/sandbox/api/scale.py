"""The scale subresource: `autoscaling/v1.Scale` over the replicas of a workload."""

from __future__ import annotations

from typing import Any

from gate.sandbox.api.asked import Patch, PatchType
from gate.sandbox.api.metadata import checked_name
from gate.sandbox.api.ownership import applied, owned
from gate.sandbox.api.patches import changed_by
from gate.sandbox.api.preconditions import check_uid
from gate.sandbox.api.updating import replace
from gate.sandbox.api.writes import Write
from gate.sandbox.failure import ApiError, FieldError, bad_request, invalid
from gate.sandbox.json import JSON, dig
from gate.sandbox.storage.store import Key

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


def update_scale(write: Write, key: Key, sent: JSON) -> JSON:
    """Set the replicas that a Scale asks for; 400, 409, 422."""
    live = write.registry.live(key)
    return _scaled(write, key, live, _checked(key, sent))


def patch_scale(write: Write, key: Key, asked: Patch) -> JSON:
    """Set the replicas that a patched Scale asks for."""
    live = write.registry.live(key)
    if asked.type is PatchType.APPLY:
        return _apply(write, key, live, asked)
    return _scaled(write, key, live, _checked(key, changed_by(write, scale_of(live), asked)))


def selector_text(selector: JSON) -> str:
    """Return a label selector as one string, in the order of the labels' names."""
    terms = [
        (name, f"{name}={value}") for name, value in (selector.get("matchLabels") or {}).items()
    ]
    terms += [(term["key"], _expression(term)) for term in selector.get("matchExpressions") or []]
    return ",".join(text for _, text in sorted(terms))


def _expression(term: JSON) -> str:
    name, values = term["key"], ",".join(sorted(term.get("values") or []))
    texts: dict[str, str] = {
        "In": f"{name} in ({values})",
        "NotIn": f"{name} notin ({values})",
        "Exists": name,
        "DoesNotExist": f"!{name}",
    }
    return texts[term["operator"]]


def _checked(key: Key, sent: Any) -> JSON:
    found = {"kind": sent.get("kind"), "apiVersion": sent.get("apiVersion")}
    version = str(found["apiVersion"]).rpartition("/")[2]
    if (found["kind"] or "Scale", found["apiVersion"] or "autoscaling/v1") != (
        SCALE_TYPE["kind"],
        SCALE_TYPE["apiVersion"],
    ):
        raise bad_request(
            f'{found["kind"]} in version "{version}" cannot be handled as a Scale: converting'
            f" ({version}.{found['kind']}) to (autoscaling.Scale): unknown conversion"
        )
    metadata = sent.get("metadata") or {}
    checked_name(key.name, metadata)
    if metadata.get("namespace") not in (None, "", key.namespace):
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    _check_replicas(key, dig(sent, "spec", "replicas"))
    checked: JSON = sent
    return checked


def _check_replicas(key: Key, replicas: Any) -> None:
    if replicas is not None and (isinstance(replicas, bool) or not isinstance(replicas, int)):
        raise bad_request(
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal'
            f" {_go_kind(replicas)} into Go struct field ScaleSpec.spec.replicas of type int32"
        )
    if (replicas or 0) < 0:
        why = f"Invalid value: {replicas}: must be greater than or equal to 0"
        raise invalid(
            "Scale",
            "autoscaling",
            key.name,
            [FieldError("spec.replicas", "FieldValueInvalid", why)],
        )


def _go_kind(value: Any) -> str:
    return {str: "string", bool: "bool", dict: "object", list: "array"}.get(type(value), "number")


def _scaled(write: Write, key: Key, live: JSON, scale: JSON) -> JSON:
    metadata = scale.get("metadata") or {}
    check_uid(key, metadata.get("uid"), live)
    wanted = dig(scale, "spec", "replicas") or 0
    version = metadata.get("resourceVersion") or live["metadata"]["resourceVersion"]
    body = {
        **live,
        "metadata": {**live["metadata"], "resourceVersion": version},
        "spec": {**live.get("spec", {}), "replicas": wanted},
    }
    return scale_of(replace(write, key, live, owned(write, live, body)))


def _apply(write: Write, key: Key, live: JSON, asked: Patch) -> JSON:
    sent = asked.body
    if not isinstance(sent, dict) or {name: sent.get(name) for name in SCALE_TYPE} != SCALE_TYPE:
        raise _wrong_object(sent)
    replicas = dig(sent, "spec", "replicas")
    _check_replicas(key, replicas)
    whole = {
        "apiVersion": write.resource.api_version,
        "kind": write.resource.kind,
        "metadata": {"name": key.name, "namespace": key.namespace},
        "spec": {} if replicas is None else {"replicas": replicas},
    }
    merged = applied(write, live, Patch(PatchType.APPLY, whole, asked.force))
    return scale_of(replace(write, key, live, merged))


def _wrong_object(sent: Any) -> ApiError:
    found = sent if isinstance(sent, dict) else {}
    return bad_request(
        f"invalid object type: {found.get('apiVersion') or '/'}, Kind={found.get('kind') or ''}"
    )

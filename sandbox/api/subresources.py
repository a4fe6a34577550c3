"""The subresources `scale` (`autoscaling/v1.Scale`) and `binding` (a pod gets its node)."""

from __future__ import annotations

from typing import Any

from sandbox.api.asked import Operation, Patch, PatchType
from sandbox.api.metadata import checked_name, checked_place
from sandbox.api.patches import changed_by
from sandbox.api.storing import replace
from sandbox.api.writes import Write, check_uid, with_managed_fields
from sandbox.failure import FieldError, conflict, invalid, not_served
from sandbox.json import JSON, dig
from sandbox.objects import defaulted_type
from sandbox.objects.selectors import selector_text
from sandbox.storage.store import Key

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
    others = [one for one in status.get("conditions") or [] if one["type"] != "PodScheduled"]
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

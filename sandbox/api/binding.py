"""Binding: a pod gets its node."""

from __future__ import annotations

from sandbox.api.admission import Operation
from sandbox.api.preconditions import check_uid
from sandbox.api.registry import internal
from sandbox.api.writes import Write
from sandbox.failure import conflict
from sandbox.json import JSON, dig
from sandbox.objects import defaulted_type
from sandbox.storage.store import Key

SUCCESS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def bind(write: Write, key: Key, binding: JSON) -> JSON:
    """Assign a pod to the node that a Binding names; 404, 409 where it has one."""
    binding = defaulted_type("core/v1.Binding", "Binding", "v1", binding)
    target = binding["target"]
    if target.get("kind", "Node") not in ("", "Node"):
        raise internal(
            f'target.kind: Unsupported value: "{target["kind"]}":'
            ' supported values: "Node", "<empty>"'
        )
    if not target.get("name"):
        raise internal("target.name: Required value")
    live = write.registry.live(key)
    metadata = binding["metadata"]
    check_uid(key, metadata.get("uid"), live)
    _check_bindable(key, live)
    body = _with_binding(write, live, target["name"], metadata.get("annotations") or {})
    write.registry.validate(write.admission(Operation.CREATE, live, body))
    if not write.dry_run:
        write.registry.keep(key, body)
    return dict(SUCCESS)


def _check_bindable(key: Key, live: JSON) -> None:
    if live["metadata"].get("deletionTimestamp"):
        why = f"pod {key.name} is being deleted, cannot be assigned to a host"
        raise conflict("pods/binding", "", key.name, why)
    node = dig(live, "spec", "nodeName")
    if node:
        why = f'pod {key.name} is already assigned to node "{node}"'
        raise conflict("pods/binding", "", key.name, why)


def _with_binding(write: Write, live: JSON, node: str, annotations: JSON) -> JSON:
    metadata, status = live["metadata"], live.get("status", {})
    if annotations:
        held = metadata.get("annotations") or {}
        metadata = {**metadata, "annotations": {**held, **annotations}}
    others = [one for one in status.get("conditions") or [] if one["type"] != "PodScheduled"]
    scheduled = {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": write.registry.timers.wall(),
    }
    return {
        **live,
        "metadata": metadata,
        "spec": {**live["spec"], "nodeName": node},
        "status": {**status, "conditions": [*others, scheduled]},
    }

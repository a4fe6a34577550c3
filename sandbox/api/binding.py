"""Binding: a pod gets its node."""

from __future__ import annotations

from sandbox.api.admission import Operation
from sandbox.api.preconditions import check_uid
from sandbox.api.writes import Write
from sandbox.failure import conflict
from sandbox.json import JSON, dig
from sandbox.storage.store import Key


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

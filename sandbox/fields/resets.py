"""Fields that a write cannot set, since the kind's strategy puts them back: nobody owns them by it.

From the server's registry (`GetResetFields` of each kind): a main resource keeps its status, a
status keeps the spec, and for some kinds parts of the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.fields.sets import EMPTY, LEAF, FieldSet

_STATUS: FieldSet = {"f:status": LEAF}
_SPEC: FieldSet = {"f:spec": LEAF}

_WITHOUT_STATUS = frozenset(
    {
        "ConfigMap",
        "Secret",
        "ServiceAccount",
        "Event",
        "Lease",
        "NetworkPolicy",
        "Role",
        "RoleBinding",
        "ClusterRole",
        "ClusterRoleBinding",
    }
)
_OF_STATUS_WRITES: Mapping[str, FieldSet] = {
    "Deployment": {"f:metadata": {"f:labels": LEAF}, "f:spec": LEAF},
    "Pod": {"f:metadata": {"f:deletionTimestamp": LEAF, "f:ownerReferences": LEAF}, "f:spec": LEAF},
}


def reset_fields(kind: str, subresource: str) -> FieldSet:
    """Return what a write to a kind, or to its subresource, cannot set."""
    if kind in _WITHOUT_STATUS:
        return EMPTY
    if subresource == "status":
        return _OF_STATUS_WRITES.get(kind, _SPEC)
    return _STATUS if subresource in {"", "finalize"} else EMPTY


NEVER_OWNED: FieldSet = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {
        ".": LEAF,
        "f:clusterName": LEAF,
        "f:creationTimestamp": LEAF,
        "f:generation": LEAF,
        "f:managedFields": LEAF,
        "f:name": LEAF,
        "f:namespace": LEAF,
        "f:resourceVersion": LEAF,
        "f:selfLink": LEAF,
        "f:uid": LEAF,
    },
}
"""What the server says of an object itself; no manager owns it."""

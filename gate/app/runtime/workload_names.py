"""Which workload a name means that somebody gave to a command."""

from __future__ import annotations

from gate.core.model.objects import Ref
from gate.kube.kinds.registry import DEFAULT, WORKLOADS

_BY_KIND = {one.watched.resource.kind.lower(): one for one in WORKLOADS}


def workload_ref(namespace: str, name: str) -> Ref:
    """Return the workload of that name; a name without a kind means one of the default kind."""
    kind, _, bare = name.rpartition("/")
    resource = _BY_KIND.get(kind, DEFAULT).watched.resource
    return Ref(resource.api_version, resource.kind, namespace, bare)


def spell_name(ref: Ref) -> str:
    """Return the name by which a command finds a workload: `workload_ref` reads it."""
    is_default = ref.kind == DEFAULT.watched.resource.kind
    return ref.name if is_default else str(ref)

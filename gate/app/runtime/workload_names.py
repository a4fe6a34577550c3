"""Which workload a name means that somebody gave to a command."""

from __future__ import annotations

from gate.core.model.objects import Ref
from gate.kube.kinds.registry import DEFAULT


def workload_ref(namespace: str, name: str) -> Ref:
    """Return the workload of that name; a name alone means one of the default kind."""
    resource = DEFAULT.watched.resource
    return Ref(resource.api_version, resource.kind, namespace, name)

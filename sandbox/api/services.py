"""What Services have taken: cluster addresses and node ports."""

from __future__ import annotations

from sandbox.api.registry import Registry
from sandbox.json import JSON, dig
from sandbox.kinds import Resource


def taken_of_services(
    registry: Registry, resource: Resource, but: JSON | None = None
) -> frozenset[str]:
    """Return the addresses and ports in use, where a kind asks for some; `but` are one's own."""
    if resource.key != "services":
        return frozenset()
    found: set[str] = set()
    for service in registry.store.items("services"):
        if but is None or service["metadata"]["uid"] != but["metadata"]["uid"]:
            ports = dig(service, "spec", "ports") or []
            found |= {str(port["nodePort"]) for port in ports if port.get("nodePort")}
            found.add(dig(service, "spec", "clusterIP") or "")
    return frozenset(found)

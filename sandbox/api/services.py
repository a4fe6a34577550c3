"""What Services may not take: cluster addresses and node ports of others, or out of range."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterator

from sandbox.api.registry import Registry
from sandbox.failure import FieldError
from sandbox.json import JSON, dig
from sandbox.kinds import Resource
from sandbox.objects.prepare.services import FIRST_NODE_PORT, NODE_PORTS, SERVICE_RANGE

LAST_NODE_PORT = FIRST_NODE_PORT + NODE_PORTS - 1
_NO_ADDRESS = ("", "None")


def taken_of_services(
    registry: Registry, resource: Resource, but: JSON | None = None
) -> frozenset[str]:
    """Return the addresses and ports in use, where a kind asks for some; `but` are one's own."""
    if resource.key != "services":
        return frozenset()
    found: set[str] = set()
    for service in registry.store.items("services"):
        if but is None or service["metadata"]["uid"] != but["metadata"]["uid"]:
            found |= _list_taken_values(service)
    return frozenset(found)


def allocation_errors(resource: Resource, body: JSON, taken: Collection[str]) -> list[FieldError]:
    """Return what a valid Service asks for and cannot have; the server tells the first alone."""
    if resource.key != "services" or body["spec"]["type"] == "ExternalName":
        return []
    return [*_address_errors(body["spec"], taken), *_port_errors(body["spec"], taken)][:1]


def _address_errors(spec: JSON, taken: Collection[str]) -> Iterator[FieldError]:
    address = spec.get("clusterIP", "")
    if address in _NO_ADDRESS:
        return
    why = ""
    if address in taken:
        why = "provided IP is already allocated"
    elif ipaddress.ip_address(address) not in ipaddress.ip_network(SERVICE_RANGE):
        why = "the provided network does not match the current range"
    if why:
        told = f'Invalid value: ["{address}"]: failed to allocate IP {address}: {why}'
        yield FieldError("spec.clusterIPs", "FieldValueInvalid", told)


def _port_errors(spec: JSON, taken: Collection[str]) -> Iterator[FieldError]:
    for index, port in enumerate(spec.get("ports") or []):
        number, why = port.get("nodePort", 0), ""
        if str(number) in taken:
            why = "provided port is already allocated"
        elif number and not FIRST_NODE_PORT <= number <= LAST_NODE_PORT:
            why = (
                "provided port is not in the valid range. The range of valid ports is"
                f" {FIRST_NODE_PORT}-{LAST_NODE_PORT}"
            )
        if why:
            told = f"Invalid value: {number}: {why}"
            yield FieldError(f"spec.ports[{index}].nodePort", "FieldValueInvalid", told)


def _list_taken_values(service: JSON) -> set[str]:
    address = dig(service, "spec", "clusterIP")
    ports = dig(service, "spec", "ports") or []
    numbers = {str(port["nodePort"]) for port in ports if port.get("nodePort")}
    return {address, *numbers} if address else numbers

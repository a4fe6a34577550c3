"""A Service's cluster addresses and node ports: given on creation, kept on updates."""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Collection, Sequence

from sandbox.json import JSON

SERVICE_RANGE = "10.96.0.0/16"
FIRST_NODE_PORT = 30000
WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
ADDRESSES = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")


def prepared_service(service: JSON, taken: Collection[str]) -> JSON:
    """Return a Service with addresses and node ports that are not taken."""
    spec = dict(service["spec"])
    if spec["type"] != "ExternalName":
        _set_addresses(spec, taken)
    if spec["type"] in WITH_NODE_PORTS:
        spec["ports"] = _with_node_ports(spec.get("ports", []), taken)
    return {**service, "spec": spec}


def _set_addresses(spec: JSON, taken: Collection[str]) -> None:
    first = spec.get("clusterIP") or next(iter(spec.get("clusterIPs", ())), "")
    first = first or _free_address(taken)
    spec["clusterIP"] = first
    spec.setdefault("clusterIPs", [first])
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")


def _free_address(taken: Collection[str]) -> str:
    """Return the lowest free address: the real server picks one at random."""
    hosts = ipaddress.ip_network(SERVICE_RANGE).hosts()
    next(hosts)  # The first is that of the `kubernetes` Service.
    return next(str(host) for host in hosts if str(host) not in taken)


def _with_node_ports(ports: list[JSON], taken: Collection[str]) -> list[JSON]:
    used = {*taken, *(str(port["nodePort"]) for port in ports if port.get("nodePort"))}
    free = (number for number in itertools.count(FIRST_NODE_PORT) if str(number) not in used)
    return [port if port.get("nodePort") else {**port, "nodePort": next(free)} for port in ports]


def kept_service(old: JSON, new: JSON, taken: Collection[str]) -> JSON:
    """Return an update with the addresses and node ports that it does not mention.

    What belongs to the old type alone goes, unless the update changed it too.
    """
    before, after = old["spec"], dict(new["spec"])
    if after["type"] == "ExternalName":
        _drop_unchanged(before, after, (*ADDRESSES, "internalTrafficPolicy"))
    elif before["type"] != "ExternalName":
        for name in ADDRESSES:
            if not after.get(name) and name in before:
                after[name] = before[name]
    if before["type"] in WITH_NODE_PORTS and after["type"] not in WITH_NODE_PORTS:
        _drop_unchanged(before, after, ("externalTrafficPolicy",))
        after["ports"] = _without_node_ports(before, after)
    elif before["type"] in WITH_NODE_PORTS:
        after["ports"] = _with_known_ports(before, after)
    if before["type"] == "LoadBalancer" != after["type"]:
        _drop_unchanged(before, after, ("allocateLoadBalancerNodePorts", "loadBalancerClass"))
    return prepared_service({**new, "spec": after}, taken)


def _drop_unchanged(before: JSON, after: JSON, names: Sequence[str]) -> None:
    for name in names:
        if name in after and after[name] == before.get(name):
            del after[name]


def _with_known_ports(before: JSON, after: JSON) -> list[JSON]:
    known = {_port_key(port): port.get("nodePort") for port in before.get("ports", ())}
    return [
        {**port, "nodePort": number}
        if (number := known.get(_port_key(port))) and not port.get("nodePort")
        else port
        for port in after.get("ports", ())
    ]


def _without_node_ports(before: JSON, after: JSON) -> list[JSON]:
    known = {port.get("nodePort") for port in before.get("ports", ())}
    return [
        {name: value for name, value in port.items() if name != "nodePort" or value not in known}
        for port in after.get("ports", ())
    ]


def _port_key(port: JSON) -> tuple[str, int]:
    return port["protocol"], port["port"]

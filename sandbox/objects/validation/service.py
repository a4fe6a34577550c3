"""Services: names, ports, types, cluster IPs and traffic policies."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    check_one_of,
    duplicate,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import (
    dns_label,
    dns_subdomain,
    ip_address,
    label_key,
    port_number,
)
from sandbox.objects.validation.pod.containers import PROTOCOLS
from sandbox.objects.validation.pod.probes import check_port
from sandbox.objects.validation.selectors import check_labels

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
AFFINITIES = ("ClientIP", "None")
POLICIES = ("Cluster", "Local")
FAMILIES = ("IPv4", "IPv6")
FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
LONGEST_AFFINITY_SECONDS = 86400
NO_ADDRESS = "None"


def check_service(found: Found, service: JSON) -> None:
    """A new Service."""
    check_metadata(found, service["metadata"], dns_label)
    _check_spec(found, service["spec"])


def check_service_update(found: Found, old: JSON, new: JSON) -> None:
    """A Service keeps its cluster IPs unless its type changes to or from ExternalName."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_same_addresses(found, old["spec"], new["spec"])
    _check_spec(found, new["spec"])


def _is_headless(spec: JSON) -> bool:
    return spec.get("clusterIPs") == [NO_ADDRESS] or spec.get("clusterIP") == NO_ADDRESS


def _check_same_addresses(found: Found, before: JSON, after: JSON) -> None:
    external = "ExternalName" in {before["type"], after["type"]}
    if external or (_is_headless(before) and _is_headless(after)):
        return
    earlier, later = before.get("clusterIPs", []), after.get("clusterIPs", [])
    if earlier and not later:
        says = "primary clusterIP can not be unset"
        found.append(invalid("spec.clusterIPs[0]", None, says))
    for index, (one, other) in enumerate(zip(earlier, later, strict=False)):
        if one != other:
            found.append(invalid(f"spec.clusterIPs[{index}]", later, "may not change once set"))


def _check_spec(found: Found, spec: JSON) -> None:
    kind, ports = spec["type"], spec.get("ports", [])
    if not ports and not _is_headless(spec) and kind != "ExternalName":
        found.append(make_required_error("spec.ports"))
    if kind in {"LoadBalancer", "NodePort"} and _is_headless(spec):
        says = f"may not be set to 'None' for {kind} services"
        found.append(invalid("spec.clusterIPs[0]", NO_ADDRESS, says))
    if kind == "ExternalName":
        _check_external_name(found, spec)
    names: set[str] = set()
    for index, port in enumerate(ports):
        _check_port(found, f"spec.ports[{index}]", port, names, is_only=len(ports) == 1)
    check_labels(found, "spec.selector", spec.get("selector"))
    _check_affinity(found, spec)
    if kind != "ExternalName":
        _check_addresses(found, spec)
    for index, address in enumerate(spec.get("externalIPs", ())):
        check_messages(found, f"spec.externalIPs[{index}]", address, ip_address(address))
    if kind not in TYPES:
        found.append(not_supported("spec.type", kind, TYPES))
    _check_port_numbers(found, kind, ports)
    _check_policies(found, spec)


def _check_external_name(found: Found, spec: JSON) -> None:
    for name in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(name):
            says = "may not be set for ExternalName services"
            found.append(forbidden(f"spec.{name}", says))
    name = spec.get("externalName", "").removesuffix(".")
    if name:
        check_messages(found, "spec.externalName", name, dns_subdomain(name))
    else:
        found.append(make_required_error("spec.externalName"))


def _check_port(found: Found, field: str, port: JSON, names: set[str], *, is_only: bool) -> None:
    name = port.get("name", "")
    if name:
        check_messages(found, f"{field}.name", name, dns_label(name))
        if name in names:
            found.append(duplicate(f"{field}.name", name))
        names.add(name)
    elif not is_only:
        found.append(make_required_error(f"{field}.name"))
    for message in port_number(port["port"]):
        found.append(invalid(f"{field}.port", port["port"], message))
    if port["protocol"] not in PROTOCOLS:
        found.append(not_supported(f"{field}.protocol", port["protocol"], PROTOCOLS))
    check_port(found, f"{field}.targetPort", port["targetPort"])
    if protocol := port.get("appProtocol"):
        check_messages(found, f"{field}.appProtocol", protocol, label_key(protocol))


def _check_affinity(found: Found, spec: JSON) -> None:
    affinity = spec["sessionAffinity"]
    check_one_of(found, "spec.sessionAffinity", affinity, AFFINITIES)
    if affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= LONGEST_AFFINITY_SECONDS:
            says = f"must be greater than 0 and less than {LONGEST_AFFINITY_SECONDS}"
            at = "spec.sessionAffinityConfig.clientIP.timeoutSeconds"
            found.append(invalid(at, seconds, says))


def _check_addresses(found: Found, spec: JSON) -> None:
    field, addresses = "spec.clusterIPs", spec.get("clusterIPs", [])
    if spec.get("clusterIP"):
        if not addresses:
            found.append(make_required_error(field))
        elif addresses[0] != spec["clusterIP"]:
            found.append(invalid(field, addresses, "first value must match `clusterIP`"))
    elif addresses:
        says = "must be empty when `clusterIP` is not specified"
        found.append(invalid(field, addresses, says))
    _check_families(found, spec)
    if addresses[:1] == [NO_ADDRESS]:
        if len(addresses) > 1:
            says = "'None' must be the first and only value"
            found.append(invalid(field, addresses, says))
        return
    for index, address in enumerate(addresses):
        check_messages(found, f"{field}[{index}]", address, ip_address(address))


def _check_families(found: Found, spec: JSON) -> None:
    for index, family in enumerate(spec.get("ipFamilies", ())):
        if family not in FAMILIES:
            found.append(not_supported(f"spec.ipFamilies[{index}]", family, FAMILIES))
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in FAMILY_POLICIES:
        found.append(not_supported("spec.ipFamilyPolicy", policy, FAMILY_POLICIES))


def _check_port_numbers(found: Found, kind: str, ports: Sequence[JSON]) -> None:
    """Node ports fit the type; no two ports are the same for a protocol."""
    if kind == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                says = "may not be used when `type` is 'ClusterIP'"
                found.append(forbidden(f"spec.ports[{index}].nodePort", says))
    for name in ("nodePort", "port"):
        seen: set[tuple[str, int]] = set()
        for index, port in enumerate(ports):
            number = port.get(name, 0)
            key = (port["protocol"], number)
            if key in seen and (number or name == "port"):
                at = f"spec.ports[{index}]"
                if name == "port":
                    found.append(duplicate(at, _go_port(port)))
                else:
                    found.append(duplicate(f"{at}.nodePort", number))
            seen.add(key)


def _go_port(port: JSON) -> JSON:
    """Return a port as the server's internal type is printed: protocol and number alone."""
    return {
        "Name": "",
        "Protocol": port["protocol"],
        "AppProtocol": None,
        "Port": port["port"],
        "TargetPort": 0,
        "NodePort": 0,
    }


def _check_policies(found: Found, spec: JSON) -> None:
    kind, external = spec["type"], spec.get("externalTrafficPolicy")
    if "allocateLoadBalancerNodePorts" in spec and kind != "LoadBalancer":
        says = "may only be used when `type` is 'LoadBalancer'"
        found.append(forbidden("spec.allocateLoadBalancerNodePorts", says))
    reachable = kind in {"LoadBalancer", "NodePort"} or (
        kind == "ClusterIP" and spec.get("externalIPs")
    )
    if not reachable and external:
        says = "may only be set for externally-accessible services"
        found.append(invalid("spec.externalTrafficPolicy", external, says))
    elif reachable and external not in POLICIES:
        found.append(not_supported("spec.externalTrafficPolicy", external, POLICIES))
    internal = spec.get("internalTrafficPolicy")
    if internal is not None and internal not in POLICIES:
        found.append(not_supported("spec.internalTrafficPolicy", internal, POLICIES))

"""Ingresses and NetworkPolicies (`pkg/apis/networking/validation`)."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
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
    path_segment,
    wildcard_subdomain,
)
from sandbox.objects.validation.pod.probes import check_port
from sandbox.objects.validation.selectors import check_selector

PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
PROTOCOLS = ("TCP", "UDP", "SCTP")
DIRECTIONS = ("Ingress", "Egress")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES = ("/..", "/.")


def check_ingress(found: Found, ingress: JSON) -> None:
    """A new Ingress."""
    check_metadata(found, ingress["metadata"], dns_subdomain)
    _check_ingress_spec(found, ingress["spec"])


def check_ingress_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of an Ingress's spec may change."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_ingress_spec(found, new["spec"])


def _check_ingress_spec(found: Found, spec: JSON) -> None:
    rules = spec.get("rules")
    if not rules and "defaultBackend" not in spec:
        says = "either `defaultBackend` or `rules` must be specified"
        found.append(invalid("spec", rules, says))
    if "defaultBackend" in spec:
        _check_backend(found, "spec.defaultBackend", spec["defaultBackend"])
    for index, rule in enumerate(rules or ()):
        _check_rule(found, f"spec.rules[{index}]", rule)
    for index, secured in enumerate(spec.get("tls", ())):
        for place, host in enumerate(secured.get("hosts", ())):
            _check_host(found, f"spec.tls[{index}].hosts[{place}]", host)
        if name := secured.get("secretName"):
            check_messages(found, f"spec.tls[{index}].secretName", name, dns_subdomain(name))
    if name := spec.get("ingressClassName"):
        check_messages(found, "spec.ingressClassName", name, dns_subdomain(name))


def _check_host(found: Found, field: str, host: str) -> None:
    check = wildcard_subdomain if "*" in host else dns_subdomain
    check_messages(found, field, host, check(host))


def _check_rule(found: Found, field: str, rule: JSON) -> None:
    if host := rule.get("host"):
        if not ip_address(host):
            says = "must be a DNS name, not an IP address"
            found.append(invalid(f"{field}.host", host, says))
        _check_host(found, f"{field}.host", host)
    if "http" in rule:
        paths = rule["http"]["paths"] or ()
        if not paths:
            found.append(make_required_error(f"{field}.http.paths"))
        for index, path in enumerate(paths):
            _check_path(found, f"{field}.http.paths[{index}]", path)


def _check_path(found: Found, field: str, path: JSON) -> None:
    kind, text = path["pathType"], path.get("path", "")
    if kind is None:
        found.append(make_required_error(f"{field}.pathType", "pathType must be specified"))
        return
    if kind not in PATH_TYPES:
        found.append(not_supported(f"{field}.pathType", kind, PATH_TYPES))
    elif not text.startswith("/") and (text or kind != "ImplementationSpecific"):
        found.append(invalid(f"{field}.path", text, "must be an absolute path"))
    if kind in {"Exact", "Prefix"}:
        for bad in _BAD_SEQUENCES:
            if bad in text:
                found.append(invalid(f"{field}.path", text, f"must not contain '{bad}'"))
        for bad in _BAD_SUFFIXES:
            if text.endswith(bad):
                found.append(invalid(f"{field}.path", text, f"cannot end with '{bad}'"))
    _check_backend(found, f"{field}.backend", path["backend"])


def _check_backend(found: Found, field: str, backend: JSON) -> None:
    service, resource = backend.get("service"), backend.get("resource")
    if service and resource:
        found.append(invalid(field, "", "cannot set both resource and service backends"))
    elif resource:
        for name in ("kind", "name"):
            at, value = f"{field}.resource.{name}", resource[name]
            if value:
                check_messages(found, at, value, path_segment(value))
            else:
                found.append(make_required_error(at))
    elif service is not None:
        _check_service(found, field, service)
    else:
        found.append(invalid(field, "", "resource or service backend is required"))


def _check_service(found: Found, field: str, service: JSON) -> None:
    if name := service["name"]:
        check_messages(found, f"{field}.service.name", name, dns_label(name))
    else:
        found.append(make_required_error(f"{field}.service.name"))
    port = service["port"]
    name, number = port.get("name", ""), port.get("number", 0)
    if name and number:
        found.append(invalid(field, "", "cannot set both port name & port number"))
    elif name:
        check_port(found, f"{field}.service.port.name", name)
    elif number:
        check_port(found, f"{field}.service.port.number", number)
    else:
        found.append(make_required_error(field, "port name or number is required"))


def check_network_policy(found: Found, policy: JSON) -> None:
    """A new NetworkPolicy."""
    check_metadata(found, policy["metadata"], dns_subdomain)
    _check_policy_spec(found, policy["spec"])


def check_network_policy_update(found: Found, old: JSON, new: JSON) -> None:
    """Everything of a policy's spec may change."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_policy_spec(found, new["spec"])


def _check_policy_spec(found: Found, spec: JSON) -> None:
    check_selector(found, "spec.podSelector", spec["podSelector"])
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction, ())):
            at = f"spec.{direction}[{index}]"
            for place, port in enumerate(rule.get("ports", ())):
                _check_policy_port(found, f"{at}.ports[{place}]", port)
            for place, peer in enumerate(rule.get(peers, ())):
                _check_peer(found, f"{at}.{peers}[{place}]", peer)
    kinds = spec.get("policyTypes", [])
    if len(kinds) > len(DIRECTIONS):
        says = "may not specify more than two policyTypes"
        found.append(invalid("spec.policyTypes", kinds, says))
        return
    for index, kind in enumerate(kinds):
        if kind not in DIRECTIONS:
            found.append(not_supported(f"spec.policyTypes[{index}]", kind, DIRECTIONS))


def _check_policy_port(found: Found, field: str, port: JSON) -> None:
    if port["protocol"] not in PROTOCOLS:
        found.append(not_supported(f"{field}.protocol", port["protocol"], PROTOCOLS))
    number, last = port.get("port"), port.get("endPort")
    if number is not None:
        check_port(found, f"{field}.port", number)
    if last is None:
        return
    if number is None:
        says = "may not be specified when `port` is not specified"
        found.append(invalid(f"{field}.endPort", last, says))
    elif isinstance(number, str):
        says = "may not be specified when `port` is non-numeric"
        found.append(invalid(f"{field}.endPort", last, says))
    elif last < number:
        says = "must be greater than or equal to `port`"
        found.append(invalid(f"{field}.endPort", number, says))


def _check_peer(found: Found, field: str, peer: JSON) -> None:
    for name in ("podSelector", "namespaceSelector"):
        check_selector(found, f"{field}.{name}", peer.get(name))
    if not peer:
        found.append(make_required_error(field, "must specify a peer"))
    elif "ipBlock" in peer and len(peer) > 1:
        found.append(forbidden(field, "may not specify both ipBlock and another peer"))

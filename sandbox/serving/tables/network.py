"""The rows of Services, Ingresses and NetworkPolicies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.serving.tables.column import (
    NAME,
    NONE,
    Layout,
    age_of,
    columns,
    labels_text,
    name_of,
    selector_text,
)

SHOWN_HOSTS = 3


def _service(body: JSON, now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    ports = ",".join(_port(port) for port in spec.get("ports") or []) or NONE
    address = (spec.get("clusterIPs") or [spec.get("clusterIP")])[0] or NONE
    row = [name_of(body), spec.get("type", ""), address, _external(body, spec), ports]
    return [*row, age_of(body, now), labels_text(spec.get("selector"))]


def _port(port: JSON) -> str:
    number, protocol = port.get("port"), port.get("protocol", "TCP")
    node = port.get("nodePort")
    return f"{number}:{node}/{protocol}" if node else f"{number}/{protocol}"


def _external(body: JSON, spec: JSON) -> str:
    given = list(spec.get("externalIPs") or [])
    match spec.get("type"):
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case "LoadBalancer":
            found = [*given, *_list_balancer_addresses(body)]
            return ",".join(found) or "<pending>"
        case _:
            return ",".join(given) or NONE


def _list_balancer_addresses(body: JSON) -> Sequence[str]:
    points = dig(body, "status", "loadBalancer", "ingress") or []
    found = {str(point.get("ip") or point.get("hostname") or "") for point in points}
    return sorted(found - {""})


def _ingress(body: JSON, now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    ports = "80, 443" if spec.get("tls") else "80"
    where = [_hosts(spec.get("rules") or []), ",".join(_list_balancer_addresses(body)), ports]
    return [name_of(body), spec.get("ingressClassName") or NONE, *where, age_of(body, now)]


def _hosts(rules: Sequence[JSON]) -> str:
    named = [str(rule["host"]) for rule in rules if rule.get("host")]
    if not named:
        return "*"
    shown = ",".join(named[:SHOWN_HOSTS])
    more = len(rules) - SHOWN_HOSTS
    return f"{shown} + {more} more..." if len(named) > SHOWN_HOSTS else shown


def _policy(body: JSON, now: datetime) -> list[Any]:
    pods = selector_text(dig(body, "spec", "podSelector"))
    return [name_of(body), pods or NONE, age_of(body, now)]


_SERVICE = ("Type", "Cluster-IP", "External-IP", "Port(s)", "Age")

NETWORK = {
    "services": Layout((NAME, *columns(*_SERVICE, wide=("Selector",))), _service),
    "ingresses.networking.k8s.io": Layout(
        (NAME, *columns("Class", "Hosts", "Address", "Ports", "Age")), _ingress
    ),
    "networkpolicies.networking.k8s.io": Layout((NAME, *columns("Pod-Selector", "Age")), _policy),
}

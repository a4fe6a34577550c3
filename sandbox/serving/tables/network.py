"""The rows of Services."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sandbox.json import JSON
from sandbox.serving.tables.column import (
    NAME,
    NONE,
    Layout,
    age_of,
    columns,
    labels_text,
    name_of,
)


def _service(body: JSON, now: datetime) -> list[Any]:
    spec: JSON = body.get("spec") or {}
    ports = ",".join(_port(port) for port in spec.get("ports") or []) or NONE
    address = (spec.get("clusterIPs") or [spec.get("clusterIP")])[0] or NONE
    row = [name_of(body), spec.get("type", ""), address, _external(spec), ports]
    return [*row, age_of(body, now), labels_text(spec.get("selector"))]


def _port(port: JSON) -> str:
    number, protocol = port.get("port"), port.get("protocol", "TCP")
    node = port.get("nodePort")
    return f"{number}:{node}/{protocol}" if node else f"{number}/{protocol}"


def _external(spec: JSON) -> str:
    given = list(spec.get("externalIPs") or [])
    match spec.get("type"):
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case "LoadBalancer":  # no address is ever given here
            return ",".join(given) or "<pending>"
        case _:
            return ",".join(given) or NONE


_SERVICE = ("Type", "Cluster-IP", "External-IP", "Port(s)", "Age")

NETWORK = {
    "services": Layout((NAME, *columns(*_SERVICE, wide=("Selector",))), _service),
}

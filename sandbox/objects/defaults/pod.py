"""Defaults that a Pod has and a template has not: requests from limits, service links, ports."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.decoding import Defaulter


def _pod(pod: JSON) -> None:
    spec = pod["spec"]
    for container in (*(spec.get("containers") or ()), *spec.get("initContainers", ())):
        _requests(container["resources"])
        if spec.get("hostNetwork"):
            _host_ports(container)
    spec.setdefault("enableServiceLinks", True)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1


def _requests(resources: JSON) -> None:
    """Ask for what is limited, where nothing else is asked for."""
    if limits := resources.get("limits"):
        resources["requests"] = {**limits, **resources.get("requests", {})}


def _host_ports(container: JSON) -> None:
    for port in container.get("ports", ()):
        port.setdefault("hostPort", port["containerPort"])


DEFAULTS: Mapping[str, Defaulter] = {"core/v1.Pod": _pod}

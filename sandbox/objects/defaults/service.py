"""Defaults of a Service and of the kinds that guard its traffic."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.decoding import Defaulter

AFFINITY_SECONDS = 10800
EXTERNAL_TYPES = ("NodePort", "LoadBalancer")


def _service(service: JSON) -> None:
    spec = service["spec"]
    _session_affinity(spec)
    spec.setdefault("type", "ClusterIP")
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (0, "", None):
            port["targetPort"] = port["port"]
    kind = spec["type"]
    if kind in EXTERNAL_TYPES or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind in {*EXTERNAL_TYPES, "ClusterIP"}:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in service["status"]["loadBalancer"].get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _session_affinity(spec: JSON) -> None:
    affinity = spec.setdefault("sessionAffinity", "None")
    if affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    elif affinity == "ClientIP":
        client = spec.get("sessionAffinityConfig", {}).get("clientIP", {})
        seconds = client.get("timeoutSeconds", AFFINITY_SECONDS)
        spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": seconds}}


def _network_policy(policy: JSON) -> None:
    spec = policy["spec"]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _network_policy_port(port: JSON) -> None:
    port.setdefault("protocol", "TCP")


DEFAULTS: Mapping[str, Defaulter] = {
    "core/v1.Service": _service,
    "networking/v1.NetworkPolicy": _network_policy,
    "networking/v1.NetworkPolicyPort": _network_policy_port,
}

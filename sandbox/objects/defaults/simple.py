"""Defaults of kinds that run no pods: Service, Namespace, Secret, autoscaler, bindings, Node."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.decoding import Defaulter
from sandbox.objects.defaults.pod import setting

NAME_LABEL = "kubernetes.io/metadata.name"
RBAC_GROUP = "rbac.authorization.k8s.io"
CPU_PERCENT = 80
POLICY_SECONDS = 15


def _namespace(namespace: JSON) -> None:
    metadata = namespace["metadata"]
    if metadata.get("name"):
        metadata["labels"] = {**metadata.get("labels", {}), NAME_LABEL: metadata["name"]}
    namespace["status"].setdefault("phase", "Active")


def _secret(secret: JSON) -> None:
    """Move `stringData` into `data`, as conversion does; the text wins."""
    texts = secret.pop("stringData", None)
    if texts:
        coded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        secret["data"] = {**secret.get("data", {}), **coded}
    secret.setdefault("type", "Opaque")


def _autoscaler(autoscaler: JSON) -> None:
    spec = autoscaler["spec"]
    spec.setdefault("minReplicas", 1)
    if "metrics" not in spec:
        target = {"type": "Utilization", "averageUtilization": CPU_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    if "behavior" in spec:
        behavior = spec["behavior"]
        behavior["scaleUp"] = {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [_policy("Pods", 4), _policy("Percent", 100)],
            **behavior.get("scaleUp", {}),
        }
        behavior["scaleDown"] = {
            "selectPolicy": "Max",
            "policies": [_policy("Percent", 100)],
            **behavior.get("scaleDown", {}),
        }


def _policy(kind: str, value: int) -> JSON:
    return {"type": kind, "value": value, "periodSeconds": POLICY_SECONDS}


def _binding(binding: JSON) -> None:
    if not binding["roleRef"].get("apiGroup"):
        binding["roleRef"]["apiGroup"] = RBAC_GROUP


def _subject(subject: JSON) -> None:
    if subject.get("kind") in {"User", "Group"}:
        subject.setdefault("apiGroup", RBAC_GROUP)


def _node_status(status: JSON) -> None:
    if "capacity" in status:
        status.setdefault("allocatable", dict(status["capacity"]))


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


DEFAULTS: Mapping[str, Defaulter] = {
    "core/v1.Namespace": _namespace,
    "core/v1.NodeStatus": _node_status,
    "core/v1.Secret": _secret,
    "autoscaling/v2.HorizontalPodAutoscaler": _autoscaler,
    "rbac/v1.ClusterRoleBinding": _binding,
    "rbac/v1.RoleBinding": _binding,
    "rbac/v1.Subject": _subject,
    "core/v1.Service": _service,
    "networking/v1.NetworkPolicy": _network_policy,
    "networking/v1.NetworkPolicyPort": setting(protocol="TCP"),
}

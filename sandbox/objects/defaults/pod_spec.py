"""Defaults of pod specs, in pods and in templates: containers, ports, environment, probes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.decoding import Defaulter

GRACE_SECONDS = 30

_IMAGE = re.compile(r"(?P<name>[^@\s]+?)(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>\S+))?")


def _pod_spec(spec: JSON) -> None:
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    spec.setdefault("schedulerName", "default-scheduler")
    _same_account(spec)


def _same_account(spec: JSON) -> None:
    """Write the deprecated `serviceAccount` beside `serviceAccountName`, as conversion does."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account


def _container(container: JSON) -> None:
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")


def pull_policy(image: str) -> str:
    """Return `Always` for the tag `latest`, which an image without tag and digest has too."""
    match = _IMAGE.fullmatch(image)
    if match is None:
        return "IfNotPresent"
    tag = match["tag"] or ("" if match["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def _container_port(port: JSON) -> None:
    port.setdefault("protocol", "TCP")


def _probe(probe: JSON) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)


def _http_get(action: JSON) -> None:
    action.setdefault("path", "/")
    action.setdefault("scheme", "HTTP")


def _grpc(action: JSON) -> None:
    if action.get("service") is None:
        action["service"] = ""


def _field_selector(selector: JSON) -> None:
    selector.setdefault("apiVersion", "v1")


def _file_key(selector: JSON) -> None:
    selector.setdefault("optional", False)


DEFAULTS: Mapping[str, Defaulter] = {
    "core/v1.PodSpec": _pod_spec,
    "core/v1.Container": _container,
    "core/v1.EphemeralContainer": _container,
    "core/v1.ContainerPort": _container_port,
    "core/v1.Probe": _probe,
    "core/v1.HTTPGetAction": _http_get,
    "core/v1.GRPCAction": _grpc,
    "core/v1.ObjectFieldSelector": _field_selector,
    "core/v1.FileKeySelector": _file_key,
}

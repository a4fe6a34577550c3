"""A pod spec as a whole, in a pod and in a template."""

from __future__ import annotations

import re

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    check_one_of,
    forbidden,
    invalid,
)
from sandbox.objects.validation.metadata import check_annotations, check_metadata
from sandbox.objects.validation.names import between, dns_label, dns_subdomain
from sandbox.objects.validation.pod.containers import (
    check_containers,
    check_init_containers,
    check_no_whitespace,
)
from sandbox.objects.validation.pod.scheduling import (
    check_affinity,
    check_dns,
    check_gates,
    check_host_aliases,
    check_spread,
    check_tolerations,
)
from sandbox.objects.validation.pod.security import check_pod_security
from sandbox.objects.validation.pod.volumes import check_volumes
from sandbox.objects.validation.selectors import check_labels

RESTART_POLICIES = ("Always", "OnFailure", "Never")
DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
LARGEST_SECONDS = 2**31 - 1
_COST = re.compile(r"0|-?[1-9][0-9]{0,9}")


def check_pod(found: Found, pod: JSON) -> None:
    """A pod's metadata and spec; what a template may have and a pod may not."""
    metadata, spec = pod["metadata"], pod["spec"]
    check_metadata(found, metadata, dns_subdomain)
    check_pod_annotations(found, "metadata.annotations", metadata.get("annotations"))
    check_pod_spec(found, "spec", spec, is_pod=True)
    check_no_whitespace(found, "spec.containers", spec["containers"] or ())
    check_no_whitespace(found, "spec.initContainers", spec.get("initContainers", ()))


def check_pod_create(found: Found, pod: JSON) -> None:
    """A pod that is created."""
    check_pod(found, pod)
    spec = pod["spec"]
    if spec.get("ephemeralContainers"):
        found.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        says = "cannot be set until all schedulingGates have been cleared"
        found.append(forbidden("spec.nodeName", says))


def check_template(found: Found, field: str, template: JSON) -> None:
    """A pod template: the server calls its labels `template.labels`."""
    metadata, spec = template["metadata"], template["spec"]
    check_labels(found, f"{field}.labels", metadata.get("labels"))
    check_annotations(found, f"{field}.annotations", metadata.get("annotations"))
    check_pod_annotations(found, f"{field}.annotations", metadata.get("annotations"))
    check_pod_spec(found, f"{field}.spec", spec, is_pod=False)
    if spec.get("ephemeralContainers"):
        says = "ephemeral containers not allowed in pod template"
        found.append(forbidden(f"{field}.spec.ephemeralContainers", says))


def check_pod_annotations(found: Found, field: str, annotations: JSON | None) -> None:
    """Annotations that mean something on a pod."""
    cost = (annotations or {}).get(DELETION_COST)
    if cost is not None and not _is_int32(cost):
        found.append(invalid(f"{field}[{DELETION_COST}]", cost, "must be a 32bit integer"))


def _is_int32(text: str) -> bool:
    return _COST.fullmatch(text) is not None and -(2**31) <= int(text) < 2**31


def check_pod_spec(found: Found, field: str, spec: JSON, *, is_pod: bool) -> None:
    """The spec, in the order in which the server looks at it."""
    volumes = check_volumes(found, f"{field}.volumes", spec.get("volumes", ()))
    check_containers(found, f"{field}.containers", spec, volumes)
    check_init_containers(found, f"{field}.initContainers", spec, volumes)
    if spec.get("hostNetwork"):
        _check_host_network(found, f"{field}.containers", spec, is_pod=is_pod)
    check_one_of(found, f"{field}.restartPolicy", spec["restartPolicy"], RESTART_POLICIES)
    check_one_of(found, f"{field}.dnsPolicy", spec["dnsPolicy"], DNS_POLICIES)
    check_labels(found, f"{field}.nodeSelector", spec.get("nodeSelector"))
    check_pod_security(found, f"{field}.securityContext", spec)
    if "affinity" in spec:
        check_affinity(found, f"{field}.affinity", spec["affinity"])
    check_dns(found, f"{field}.dnsConfig", spec)
    check_gates(found, field, spec)
    check_spread(
        found, f"{field}.topologySpreadConstraints", spec.get("topologySpreadConstraints", ())
    )
    _check_names(found, field, spec)


def _check_host_network(found: Found, field: str, spec: JSON, *, is_pod: bool) -> None:
    for index, container in enumerate(spec["containers"] or ()):
        for place, port in enumerate(container.get("ports", ())):
            host_port = port.get("hostPort", 0)
            if (is_pod or host_port) and host_port != port["containerPort"]:
                at = f"{field}[{index}].ports[{place}].hostPort"
                says = "must match `containerPort` when `hostNetwork` is true"
                found.append(invalid(at, host_port, says))


def _check_names(found: Found, field: str, spec: JSON) -> None:
    """Names of other things, the deadline, and what comes after them."""
    for name in ("serviceAccountName", "nodeName"):
        if value := spec.get(name):
            check_messages(found, f"{field}.{name}", value, dns_subdomain(value))
    seconds = spec.get("activeDeadlineSeconds")
    if seconds is not None and not 1 <= seconds <= LARGEST_SECONDS:
        says = between(1, LARGEST_SECONDS)
        found.append(invalid(f"{field}.activeDeadlineSeconds", seconds, says))
    for name in ("hostname", "subdomain"):
        if value := spec.get(name):
            check_messages(found, f"{field}.{name}", value, dns_label(value))
    check_tolerations(found, f"{field}.tolerations", spec.get("tolerations", ()))
    check_host_aliases(found, f"{field}.hostAliases", spec.get("hostAliases", ()))
    for name in ("priorityClassName", "runtimeClassName"):
        if value := spec.get(name):
            check_messages(found, f"{field}.{name}", value, dns_subdomain(value))
    policy = spec.get("preemptionPolicy")
    if policy is not None:
        check_one_of(found, f"{field}.preemptionPolicy", policy, PREEMPTION_POLICIES)

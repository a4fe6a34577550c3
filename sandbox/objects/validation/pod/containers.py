"""Containers, init containers and ephemeral containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_messages,
    check_one_of,
    duplicate,
    forbidden,
    invalid,
    make_required_error,
    not_found,
    not_supported,
)
from sandbox.objects.validation.names import dns_label, port_name, port_number
from sandbox.objects.validation.pod.environment import check_env, check_env_from
from sandbox.objects.validation.pod.probes import (
    check_lifecycle,
    check_probes,
    check_restart_rules,
)
from sandbox.objects.validation.pod.resources import check_requirements
from sandbox.objects.validation.pod.security import check_container_security
from sandbox.objects.validation.pod.volumes import check_relative_path

PROTOCOLS = ("SCTP", "TCP", "UDP")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_ONLY_FOR_SIDECARS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def check_containers(found: Found, field: str, spec: JSON, volumes: Mapping[str, JSON]) -> None:
    """The containers proper: at least one, with names and host ports of their own."""
    containers: Sequence[JSON] = spec["containers"] or ()
    if not containers:
        found.append(make_required_error(field))
        return
    names: set[str] = set()
    for index, container in enumerate(containers):
        at = f"{field}[{index}]"
        _check_container(found, at, container, volumes)
        if container["name"] in names:
            found.append(duplicate(f"{at}.name", container["name"]))
        names.add(container["name"])
        if "lifecycle" in container:
            grace_seconds = spec.get("terminationGracePeriodSeconds")
            check_lifecycle(found, f"{at}.lifecycle", container["lifecycle"], grace_seconds)
        check_probes(found, at, container)
        check_restart_rules(found, at, container)
    _check_host_ports(found, field, containers)


def check_init_containers(
    found: Found, field: str, spec: JSON, volumes: Mapping[str, JSON]
) -> None:
    """Init containers; only those that run on (sidecars) have probes and hooks."""
    names = {container["name"] for container in spec["containers"] or ()}
    for index, container in enumerate(spec.get("initContainers", ())):
        at = f"{field}[{index}]"
        _check_container(found, at, container, volumes)
        check_restart_rules(found, at, container)
        if container["name"] in names:
            found.append(duplicate(f"{at}.name", container["name"]))
        elif container["name"]:
            names.add(container["name"])
        _check_host_ports(found, field, [container])
        if container.get("restartPolicy") == "Always":
            if "lifecycle" in container:
                grace_seconds = spec.get("terminationGracePeriodSeconds")
                check_lifecycle(found, f"{at}.lifecycle", container["lifecycle"], grace_seconds)
            check_probes(found, at, container)
        else:
            _check_no_sidecar_fields(found, at, container)


def _check_no_sidecar_fields(found: Found, field: str, container: JSON) -> None:
    for name in _ONLY_FOR_SIDECARS:
        if name in container:
            says = "may not be set for init containers without restartPolicy=Always"
            found.append(forbidden(f"{field}.{name}", says))


def check_no_whitespace(found: Found, field: str, containers: Sequence[JSON]) -> None:
    """The images of a pod, not of a template, have no space around them."""
    for index, container in enumerate(containers):
        image = container.get("image", "")
        if image != image.strip():
            says = "must not have leading or trailing whitespace"
            found.append(invalid(f"{field}[{index}].image", image, says))


def _check_container(
    found: Found, field: str, container: JSON, volumes: Mapping[str, JSON]
) -> None:
    """What holds of containers of all three kinds."""
    if container["name"]:
        check_messages(found, f"{field}.name", container["name"], dns_label(container["name"]))
    else:
        found.append(make_required_error(f"{field}.name"))
    if not container.get("image"):
        found.append(make_required_error(f"{field}.image"))
    policy = container["terminationMessagePolicy"]
    check_one_of(found, f"{field}.terminationMessagePolicy", policy, MESSAGE_POLICIES)
    _check_ports(found, f"{field}.ports", container.get("ports", ()))
    check_env(found, f"{field}.env", container.get("env", ()))
    check_env_from(found, f"{field}.envFrom", container.get("envFrom", ()))
    _check_mounts(found, f"{field}.volumeMounts", container, volumes)
    policy = container["imagePullPolicy"]
    check_one_of(found, f"{field}.imagePullPolicy", policy, PULL_POLICIES)
    check_requirements(found, f"{field}.resources", container["resources"])
    check_container_security(found, f"{field}.securityContext", container.get("securityContext"))


def _check_ports(found: Found, field: str, ports: Sequence[JSON]) -> None:
    names: set[str] = set()
    for index, port in enumerate(ports):
        at = f"{field}[{index}]"
        if name := port.get("name"):
            messages = port_name(name)
            check_messages(found, f"{at}.name", name, messages)
            if not messages and name in names:
                found.append(duplicate(f"{at}.name", name))
            names.add(name)
        _check_port_numbers(found, at, port)
        if port["protocol"] not in PROTOCOLS:
            found.append(not_supported(f"{at}.protocol", port["protocol"], PROTOCOLS))


def _check_port_numbers(found: Found, field: str, port: JSON) -> None:
    if port["containerPort"] == 0:
        found.append(make_required_error(f"{field}.containerPort"))
    for name in ("containerPort", "hostPort"):
        if number := port.get(name):
            for message in port_number(number):
                found.append(invalid(f"{field}.{name}", number, message))


def _check_host_ports(found: Found, field: str, containers: Sequence[JSON]) -> None:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for place, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            told = f"{port['protocol']}/{port.get('hostIP', '')}/{port['hostPort']}"
            if told in taken:
                found.append(duplicate(f"{field}[{index}].ports[{place}].hostPort", told))
            taken.add(told)


def _check_mounts(found: Found, field: str, container: JSON, volumes: Mapping[str, JSON]) -> None:
    paths: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts", ())):
        at = f"{field}[{index}]"
        name, path = mount["name"], mount["mountPath"]
        if not name:
            found.append(make_required_error(f"{at}.name"))
        if name not in volumes:
            found.append(not_found(f"{at}.name", name))
        if not path:
            found.append(make_required_error(f"{at}.mountPath"))
        if path in paths:
            found.append(invalid(f"{at}.mountPath", path, "must be unique"))
        paths.add(path)
        # The server names the list, not the mount, in what follows.
        _check_sub_paths(found, field, at, mount)


def _check_sub_paths(found: Found, field: str, at: str, mount: JSON) -> None:
    if sub_path := mount.get("subPath"):
        check_relative_path(found, f"{field}.subPath", sub_path)
    if expression := mount.get("subPathExpr"):
        if sub_path:
            says = "subPathExpr and subPath are mutually exclusive"
            found.append(invalid(f"{at}.subPathExpr", expression, says))
        check_relative_path(found, f"{field}.subPathExpr", expression)

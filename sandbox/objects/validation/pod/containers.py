"""Containers and init containers: names, images, ports, mounts, probes and lifecycle hooks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_at_least_zero,
    check_messages,
    check_one_of,
    check_relative_path,
    check_required,
    dns_label,
    duplicate,
    forbidden,
    header_name,
    invalid,
    make_required_error,
    not_found,
    not_supported,
    port_name,
    port_number,
)
from sandbox.objects.validation.pod.environment import check_env, check_env_from, check_requirements

_PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
_SCHEMES = ("HTTP", "HTTPS")
_NUMBERS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_GRACE = "terminationGracePeriodSeconds"


def check_probes(found: Found, field: str, container: JSON) -> None:
    """The three probes of a container, each with its own rule."""
    for kind in ("livenessProbe", "readinessProbe", "startupProbe"):
        if kind not in container:
            continue
        at, probe = f"{field}.{kind}", container[kind]
        _check_probe(found, at, probe)
        if kind == "readinessProbe":
            if _GRACE in probe:
                says = "must not be set for readinessProbes"
                found.append(invalid(f"{at}.{_GRACE}", probe[_GRACE], says))
        elif probe["successThreshold"] != 1:
            threshold = probe["successThreshold"]
            found.append(invalid(f"{at}.successThreshold", threshold, "must be 1"))


def _check_probe(found: Found, field: str, probe: JSON) -> None:
    _check_handler(found, field, probe, _PROBE_HANDLERS)
    for name in _NUMBERS:
        check_at_least_zero(found, f"{field}.{name}", probe.get(name, 0))
    seconds = probe.get(_GRACE)
    if seconds is not None and seconds <= 0:
        found.append(invalid(f"{field}.{_GRACE}", seconds, "must be greater than 0"))


def check_lifecycle(found: Found, field: str, container: JSON, spec: JSON) -> None:
    """Both hooks of a container of a pod spec; a sleep ends within the grace period."""
    for name, hook in sorted(container.get("lifecycle", {}).items()):
        if name == "stopSignal":
            continue
        _check_handler(found, f"{field}.{name}", hook, _HOOK_HANDLERS)
        if hook.keys() == {"sleep"}:
            _check_sleep(found, f"{field}.{name}.sleep", hook["sleep"]["seconds"], spec[_GRACE])


def _check_sleep(found: Found, field: str, seconds: int, grace_seconds: int) -> None:
    if not 0 <= seconds <= grace_seconds:
        says = f"must be non-negative and less than {_GRACE} ({grace_seconds})"
        found.append(invalid(field, seconds, says))


def _check_handler(found: Found, field: str, handler: JSON, kinds: Sequence[str]) -> None:
    """There is exactly one handler, and it is good."""
    given = [kind for kind in kinds if kind in handler]
    if not given:
        found.append(make_required_error(field, "must specify a handler type"))
        return
    first, *others = given
    _check_action(found, f"{field}.{first}", first, handler[first])
    for other in others:
        says = "may not specify more than 1 handler type"
        found.append(forbidden(f"{field}.{other}", says))


def _check_action(found: Found, field: str, kind: str, action: JSON) -> None:
    if kind == "exec":
        check_required(found, f"{field}.command", action.get("command"))
    elif kind != "sleep":
        port = action["port"]
        messages = port_name(port) if isinstance(port, str) else port_number(port)
        check_messages(found, f"{field}.port", port, messages)
    if kind == "httpGet":
        if action["scheme"] not in _SCHEMES:
            found.append(not_supported(f"{field}.scheme", action["scheme"], _SCHEMES))
        for header in action.get("httpHeaders", ()):
            name = header["name"]
            check_messages(found, f"{field}.httpHeaders", name, header_name(name))


_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_ONLY_FOR_SIDECARS = ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")


def check_containers(found: Found, field: str, spec: JSON, volumes: Collection[str]) -> None:
    """The containers proper: at least one, with names and host ports of their own."""
    containers: Sequence[JSON] = spec["containers"] or ()
    if not containers:
        found.append(make_required_error(field))
    names: set[str] = set()
    for index, container in enumerate(containers):
        at = f"{field}[{index}]"
        _check_container(found, at, container, volumes)
        if container["name"] in names:
            found.append(duplicate(f"{at}.name", container["name"]))
        names.add(container["name"])
        check_lifecycle(found, f"{at}.lifecycle", container, spec)
        check_probes(found, at, container)
        _check_restart_policy(found, at, container)
    _check_host_ports(found, field, containers)


def check_init_containers(found: Found, field: str, spec: JSON, volumes: Collection[str]) -> None:
    """Init containers; only those that run on (sidecars) have probes and hooks."""
    names = {container["name"] for container in spec["containers"] or ()}
    for index, container in enumerate(spec.get("initContainers", ())):
        at = f"{field}[{index}]"
        _check_container(found, at, container, volumes)
        _check_restart_policy(found, at, container)
        if container["name"] in names:
            found.append(duplicate(f"{at}.name", container["name"]))
        elif container["name"]:
            names.add(container["name"])
        _check_host_ports(found, field, [container])
        if container.get("restartPolicy") == "Always":
            check_lifecycle(found, f"{at}.lifecycle", container, spec)
            check_probes(found, at, container)
            continue
        for name in _ONLY_FOR_SIDECARS:
            if name in container:
                says = "may not be set for init containers without restartPolicy=Always"
                found.append(forbidden(f"{at}.{name}", says))


def _check_container(found: Found, field: str, container: JSON, volumes: Collection[str]) -> None:
    """What holds of containers of both kinds."""
    check_required(found, f"{field}.name", container["name"], dns_label)
    check_required(found, f"{field}.image", container.get("image"))
    policy = container["terminationMessagePolicy"]
    check_one_of(found, f"{field}.terminationMessagePolicy", policy, _MESSAGE_POLICIES)
    _check_ports(found, f"{field}.ports", container.get("ports", ()))
    check_env(found, f"{field}.env", container.get("env", ()))
    check_env_from(found, f"{field}.envFrom", container.get("envFrom", ()))
    _check_mounts(found, f"{field}.volumeMounts", container.get("volumeMounts", ()), volumes)
    policy = container["imagePullPolicy"]
    check_one_of(found, f"{field}.imagePullPolicy", policy, _PULL_POLICIES)
    check_requirements(found, f"{field}.resources", container["resources"])


def _check_restart_policy(found: Found, field: str, container: JSON) -> None:
    policy = container.get("restartPolicy")
    if policy is not None:
        check_one_of(found, f"{field}.restartPolicy", policy, _RESTART_POLICIES)


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
        check_required(found, f"{at}.containerPort", port["containerPort"], port_number)
        if host_port := port.get("hostPort"):
            check_messages(found, f"{at}.hostPort", host_port, port_number(host_port))
        if port["protocol"] not in _PROTOCOLS:
            found.append(not_supported(f"{at}.protocol", port["protocol"], _PROTOCOLS))


def _check_host_ports(found: Found, field: str, containers: Sequence[JSON]) -> None:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            address = f"{port['protocol']}/{port.get('hostIP', '')}/{port['hostPort']}"
            if address in taken:
                found.append(duplicate(f"{field}[{index}].ports[{position}].hostPort", address))
            taken.add(address)


def _check_mounts(
    found: Found, field: str, mounts: Sequence[JSON], volumes: Collection[str]
) -> None:
    paths: set[str] = set()
    for index, mount in enumerate(mounts):
        at, name, path = f"{field}[{index}]", mount["name"], mount["mountPath"]
        check_required(found, f"{at}.name", name)
        if name not in volumes:
            found.append(not_found(f"{at}.name", name))
        check_required(found, f"{at}.mountPath", path)
        if path in paths:
            found.append(invalid(f"{at}.mountPath", path, "must be unique"))
        paths.add(path)
        # The server names the list, not the mount.
        check_relative_path(found, f"{field}.subPath", mount.get("subPath", ""))

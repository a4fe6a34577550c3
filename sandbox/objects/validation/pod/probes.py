"""Probes and lifecycle hooks, and the handlers that they share."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_at_least_zero,
    check_messages,
    check_one_of,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import header_name, port_name, port_number

PROBE_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
SCHEMES = ("HTTP", "HTTPS")
COUNTS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)


def check_probes(found: Found, field: str, container: JSON) -> None:
    """The three probes of a container, each with its own rule."""
    if probe := container.get("livenessProbe"):
        _check_probe(found, f"{field}.livenessProbe", probe)
        _check_once(found, f"{field}.livenessProbe", probe)
    if (probe := container.get("readinessProbe")) is not None:
        _check_probe(found, f"{field}.readinessProbe", probe)
        if "terminationGracePeriodSeconds" in probe:
            at = f"{field}.readinessProbe.terminationGracePeriodSeconds"
            seconds = probe["terminationGracePeriodSeconds"]
            found.append(invalid(at, seconds, "must not be set for readinessProbes"))
    if probe := container.get("startupProbe"):
        _check_probe(found, f"{field}.startupProbe", probe)
        _check_once(found, f"{field}.startupProbe", probe)


def _check_once(found: Found, field: str, probe: JSON) -> None:
    if probe["successThreshold"] != 1:
        found.append(invalid(f"{field}.successThreshold", probe["successThreshold"], "must be 1"))


def _check_probe(found: Found, field: str, probe: JSON) -> None:
    check_handler(found, field, probe, PROBE_HANDLERS)
    for name in COUNTS:
        check_at_least_zero(found, f"{field}.{name}", probe.get(name, 0))
    seconds = probe.get("terminationGracePeriodSeconds")
    if seconds is not None and seconds <= 0:
        at = f"{field}.terminationGracePeriodSeconds"
        found.append(invalid(at, seconds, "must be greater than 0"))


def check_lifecycle(found: Found, field: str, lifecycle: JSON, grace_seconds: int | None) -> None:
    """Both hooks; a sleep ends within the grace period."""
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            check_handler(found, f"{field}.{name}", lifecycle[name], HOOK_HANDLERS, grace_seconds)
    if "stopSignal" in lifecycle:
        says = "may not be set for containers with empty `spec.os.name`"
        found.append(forbidden(f"{field}.stopSignal", says))


def check_handler(
    found: Found,
    field: str,
    handler: JSON,
    kinds: Sequence[str],
    grace_seconds: int | None = None,
) -> None:
    """There is exactly one handler, and it is good."""
    given = [kind for kind in kinds if kind in handler]
    if not given:
        found.append(make_required_error(field, "must specify a handler type"))
        return
    first, *others = given
    _check_action(found, f"{field}.{first}", first, handler[first], grace_seconds)
    for other in others:
        says = "may not specify more than 1 handler type"
        found.append(forbidden(f"{field}.{other}", says))


def _check_action(
    found: Found, field: str, kind: str, action: JSON, grace_seconds: int | None
) -> None:
    if kind == "exec":
        if not action.get("command"):
            found.append(make_required_error(f"{field}.command"))
    elif kind == "httpGet":
        _check_http(found, field, action)
    elif kind == "sleep":
        _check_sleep(found, field, action["seconds"], grace_seconds)
    else:
        check_port(found, f"{field}.port", action["port"])


def _check_http(found: Found, field: str, action: JSON) -> None:
    check_port(found, f"{field}.port", action["port"])
    if action["scheme"] not in SCHEMES:
        found.append(not_supported(f"{field}.scheme", action["scheme"], SCHEMES))
    for header in action.get("httpHeaders", ()):
        name = header["name"]
        check_messages(found, f"{field}.httpHeaders", name, header_name(name))


def _check_sleep(found: Found, field: str, seconds: int, grace_seconds: int | None) -> None:
    if grace_seconds is not None and not 0 <= seconds <= grace_seconds:
        says = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
        found.append(invalid(field, seconds, says))


def check_port(found: Found, field: str, port: int | str) -> None:
    """A port is a number in range or a good name."""
    messages = port_name(port) if isinstance(port, str) else port_number(port)
    for message in messages:
        found.append(invalid(field, port, message))


def check_restart_rules(found: Found, field: str, container: JSON) -> None:
    """A container's own restart policy."""
    policy = container.get("restartPolicy")
    if policy is not None:
        check_one_of(found, f"{field}.restartPolicy", policy, ("Always", "Never", "OnFailure"))
    elif container.get("restartPolicyRules"):
        says = "must specify restartPolicy when restart rules are used"
        found.append(make_required_error(f"{field}.restartPolicy", says))

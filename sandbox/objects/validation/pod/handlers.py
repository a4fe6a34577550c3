"""Probes and lifecycle hooks, and the handlers that they share."""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    Found,
    check_at_least_zero,
    check_messages,
    check_required,
    forbidden,
    invalid,
    make_required_error,
    not_supported,
)
from sandbox.objects.validation.names import header_name, port_name, port_number

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

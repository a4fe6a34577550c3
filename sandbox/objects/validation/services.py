"""Ports of Services: as soon as there are several, each has a name of its own."""

from __future__ import annotations

from sandbox.json import JSON
from sandbox.objects.validation.errors import Found, make_required_error


def check_service(found: Found, service: JSON) -> None:
    """Ask for the names of ports; what others have added by server-side apply counts."""
    ports = service["spec"].get("ports") or ()
    if len(ports) > 1:
        for index, port in enumerate(ports):
            if not port.get("name"):
                found.append(make_required_error(f"spec.ports[{index}].name"))

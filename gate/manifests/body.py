"""Values inside of an object's body, which nobody has checked yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_at(body: Any, *path: str) -> Any:
    """Return the value at `path`, None if a step is missing or not a mapping."""
    for step in path:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def containers_at(
    body: Mapping[str, Any], pod_spec: tuple[str, ...], *, init: bool = True
) -> list[dict[str, Any]]:
    """Return the containers of the pod spec at a path, init containers only if `init`.

    What does not look like a container is left out.
    """
    spec = value_at(body, *pod_spec)
    lists = ("initContainers", "containers") if init else ("containers",)
    found = [value_at(spec, name) for name in lists]
    return [
        container
        for entries in found
        if isinstance(entries, list)
        for container in entries
        if isinstance(container, dict) and isinstance(container.get("name"), str)
    ]

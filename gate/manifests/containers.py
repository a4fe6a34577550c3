"""The containers of an object that makes pods, wherever its kind keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.manifests.body import containers_at
from gate.manifests.manifest import ManifestObject


def containers(
    item: ManifestObject, body: Mapping[str, Any] | None = None, *, init: bool = True
) -> list[dict[str, Any]]:
    """Return the containers of the pod template, with `initContainers` unless `init` is false.

    They are parts of `body`, by default the object's own: to change them, pass a copy. What does
    not look like a container is left out; the server will complain about it.
    """
    kind = item.known_kind
    if kind is None or not kind.pod_spec:
        return []
    return containers_at(item.body if body is None else body, kind.pod_spec, init=init)

"""Which configuration is in the environment of pods, who keep it as it was when they started."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from gate.core.model.objects import Ref

_REFERENCES: Final[Mapping[str, tuple[str, ...]]] = {
    "ConfigMap": ("configMapRef", "configMapKeyRef"),
    "Secret": ("secretRef", "secretKeyRef"),
}
"""Fields of `env` and `envFrom`, by the kind that they name; a mounted file changes in time."""


def has_in_environment(body: Any, configuration: Ref, keys: Collection[str] | None = None) -> bool:
    """Tell whether any container that an object describes has it, or these `keys`, there."""
    if isinstance(body, list):
        return any(has_in_environment(one, configuration, keys) for one in body)
    if not isinstance(body, Mapping):
        return False
    for field in _REFERENCES.get(configuration.kind, ()):
        named = body.get(field)
        if isinstance(named, Mapping) and named.get("name") == configuration.name:
            return keys is None or (named["key"] in keys if "key" in named else bool(keys))
    return any(has_in_environment(one, configuration, keys) for one in body.values())

"""Which configuration is in the environment of pods, who keep it as it was when they started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gate.core.model.objects import Ref

_REFERENCES: Final[Mapping[str, tuple[str, ...]]] = {
    "ConfigMap": ("configMapRef", "configMapKeyRef"),
    "Secret": ("secretRef", "secretKeyRef"),
}
"""Fields of `env` and `envFrom`, by the kind that they name; a mounted file changes in time."""


def has_in_environment(body: Any, configuration: Ref) -> bool:
    """Tell whether any container that an object describes has it in its environment."""
    if isinstance(body, list):
        return any(has_in_environment(one, configuration) for one in body)
    if not isinstance(body, Mapping):
        return False
    named = (body.get(field) for field in _REFERENCES.get(configuration.kind, ()))
    if any(isinstance(one, Mapping) and one.get("name") == configuration.name for one in named):
        return True
    return any(has_in_environment(one, configuration) for one in body.values())

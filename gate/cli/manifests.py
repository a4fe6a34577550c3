"""What commands about manifests have in common."""

from __future__ import annotations

from gate.config import Settings
from gate.errors import UsageError


def require_manifests(settings: Settings, command: str) -> None:
    """Refuse to go on without a manifest."""
    if not settings.file:
        hint = (
            f"as in: rollout-gate {command} -f deploy.yaml; or: ... | rollout-gate {command} -f -"
        )
        raise UsageError(f"rollout-gate {command}: no manifest", hint=hint)

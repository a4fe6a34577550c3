"""Who manages a live object, by the signs that a GitOps controller or Helm leaves on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.core.model.live_object import LiveObject

_ANNOTATIONS = {
    "meta.helm.sh/release-name": "Helm",
    "argocd.argoproj.io/tracking-id": "Argo CD",
}
_FLUX_LABEL_ENDING = ".toolkit.fluxcd.io/name"
_FIELD_MANAGERS = {
    "helm": "Helm",
    "argocd-controller": "Argo CD",
    "kustomize-controller": "Flux",
    "helm-controller": "Flux",
}


def signs_of_management(live: LiveObject) -> tuple[str, ...]:
    """Return the evidence that something else would revert our changes; empty if there is none.

    `app.kubernetes.io/managed-by` and instance labels are no evidence: rendered charts carry
    them wherever they are applied.
    """
    metadata = live.body.thaw().get("metadata", {})
    return tuple(dict.fromkeys(_signs(metadata, live.thaw_managed_fields())))


def _signs(metadata: dict[str, Any], managed_fields: list[dict[str, Any]]) -> Iterator[str]:
    annotations = metadata.get("annotations") or {}
    for key, owner in _ANNOTATIONS.items():
        if key in annotations:
            yield f"{owner}: annotation {key}={annotations[key]}"
    for key, value in (metadata.get("labels") or {}).items():
        if key.endswith(_FLUX_LABEL_ENDING):
            yield f"Flux: label {key}={value}"
    for entry in managed_fields:
        manager = str(entry.get("manager", ""))
        if manager in _FIELD_MANAGERS and not entry.get("subresource"):
            yield f"{_FIELD_MANAGERS[manager]}: field manager {manager}"

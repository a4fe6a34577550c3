"""kubectl's annotation of what it applied last: a whole manifest, as text.

A later client-side `kubectl apply` computes from it which fields to remove, so whoever applies in
between has to keep it equal to what they applied (kubectl, three-way merge).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def has_last_applied(body: Mapping[str, Any]) -> bool:
    """Tell whether an object carries the annotation."""
    return LAST_APPLIED in (body.get("metadata", {}).get("annotations") or {})


def with_last_applied(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of an apply with the annotation equal to the rest of it."""
    bare = without_last_applied(body)
    metadata = bare.get("metadata", {})
    annotations = metadata.get("annotations") or {}
    bare = {**bare, "metadata": {**metadata, "annotations": annotations}}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    return {**bare, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: text}}}


def without_last_applied(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body without the annotation; annotations that become empty are left out."""
    if not has_last_applied(body):
        return {**body}
    metadata = {**body["metadata"]}
    kept = {key: value for key, value in metadata["annotations"].items() if key != LAST_APPLIED}
    metadata.pop("annotations")
    if kept:
        metadata["annotations"] = kept
    return {**body, "metadata": metadata}

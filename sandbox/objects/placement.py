"""Which node a pod asks for: by name, labels and what it tolerates (scheduler's `nodeaffinity`)."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.json import JSON, dig
from sandbox.objects.selectors import has_labels, matches

CONDITION_TAINTS = "node.kubernetes.io/"
"""What a node controller, or admission, begins the keys of its own taints with."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _terms(spec: JSON) -> list[JSON]:
    path = ("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
    return dig(spec, *path) or []


def target_node(pod: JSON) -> str:
    """Return the node that a pod has, or the only one that it may get; else an empty name."""
    spec = pod["spec"]
    fields = (field for term in _terms(spec) for field in term.get("matchFields") or ())
    return str(spec.get("nodeName") or next((each["values"][0] for each in fields), ""))


def fits(spec: JSON, node: JSON) -> bool:
    """Say whether a node has the labels that a pod spec asks for; field terms are not asked."""
    labels = node["metadata"].get("labels") or {}
    if not has_labels(spec.get("nodeSelector") or {}, labels):
        return False
    terms = [term for term in _terms(spec) if term.get("matchExpressions")]
    return not terms or any(
        matches({"matchExpressions": term["matchExpressions"]}, labels) for term in terms
    )


def is_tolerated(taint: JSON, tolerations: Iterable[JSON]) -> bool:
    """Say whether one of the tolerations is about a taint."""
    return any(
        each.get("key", "") in {"", taint["key"]}
        and each.get("effect", "") in {"", taint["effect"]}
        and (each.get("operator") == "Exists" or each.get("value", "") == taint.get("value", ""))
        for each in tolerations
    )


def own_taints(item: JSON) -> list[JSON]:
    """Return the taints of a node that tell nothing of its condition."""
    taints = item.get("spec", {}).get("taints") or []
    return [each for each in taints if not each["key"].startswith(CONDITION_TAINTS)]

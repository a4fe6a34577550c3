"""Label selectors as objects carry them (`matchLabels`, `matchExpressions`): what they match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sandbox.json import JSON, dig

Labels = Mapping[str, str]


def selects(selector: JSON | None, labels: Labels | None) -> bool:
    """Whether a controller's selector names labels; an empty one, or none, names nothing.

    A controller with an empty selector would own everything; the controllers let it own nothing.
    """
    return bool(selector) and not is_empty(selector or {}) and matches(selector, labels)


def matches(selector: JSON | None, labels: Labels | None) -> bool:
    """Whether a usable selector matches labels; a missing one matches nothing."""
    if selector is None:
        return False
    return has_labels(selector.get("matchLabels") or {}, labels) and all(
        _holds(each, labels or {}) for each in selector.get("matchExpressions") or ()
    )


def has_labels(wanted: Labels, labels: Labels | None) -> bool:
    """Whether each wanted label is there with its value."""
    found = labels or {}
    return all(found.get(name) == value for name, value in wanted.items())


def is_empty(selector: JSON) -> bool:
    """Whether a selector says nothing, and so matches everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def selector_text(selector: JSON) -> str:
    """Return a label selector as one string, in the order of the labels' names."""
    terms = [
        (name, f"{name}={value}") for name, value in (selector.get("matchLabels") or {}).items()
    ]
    terms += [(term["key"], _expression(term)) for term in selector.get("matchExpressions") or []]
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]))


def _holds(expression: JSON, labels: Labels) -> bool:
    name: str = expression["key"]
    operator: str = expression["operator"]
    if operator in ("In", "NotIn"):
        return (labels.get(name) in (expression.get("values") or ())) is (operator == "In")
    return (name in labels) is (operator == "Exists")


def _expression(term: JSON) -> str:
    name, values = term["key"], ",".join(sorted(term.get("values") or []))
    forms = {"In": f"{name} in ({values})", "NotIn": f"{name} notin ({values})", "Exists": name}
    return str(forms.get(term["operator"], f"!{name}"))


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

"""What is asked for: label selectors as the API takes them, and the scopes of watches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.core.model.objects import Ref
from gate.core.rollout.observations import Kind
from gate.kube.kinds import registry

Selector = Mapping[str, Any]
"""A LabelSelector (meta/v1): `matchLabels` and `matchExpressions`."""


_TERM: Final = re.compile(r"(!?)([^\s=,!()]+)(?:=([^,]*)| (in|notin) \(([^)]*)\))?")


def query_of(selector: Selector) -> str:
    """Return the selector as `labelSelector`; "" selects everything."""
    terms = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    terms += [_term(expression) for expression in selector.get("matchExpressions") or []]
    return ",".join(sorted(terms))


def _term(expression: Mapping[str, Any]) -> str:
    key, values = expression["key"], ",".join(expression.get("values") or [])
    match expression["operator"]:
        case "In":
            return f"{key} in ({values})"
        case "NotIn":
            return f"{key} notin ({values})"
        case "Exists":
            return str(key)
        case _:
            return f"!{key}"


def query_of_any(selectors: Sequence[Selector]) -> str:
    """Return a query that selects whatever any of the selectors does, and perhaps more.

    The API has no `or`: of several selectors only the keys that all of them match by value remain.
    """
    if len(selectors) == 1:
        return query_of(selectors[0])
    labels = [selector.get("matchLabels") or {} for selector in selectors]
    shared = set(labels[0]).intersection(*labels[1:]) if labels else set()
    return ",".join(
        f"{key} in ({','.join(sorted({one[key] for one in labels}))})" for key in sorted(shared)
    )


def does_select(query: str, labels: Mapping[str, str]) -> bool:
    """Tell whether a query of `query_of` or `query_of_any` selects objects of such labels."""
    return all(_holds(term, labels) for term in _TERM.finditer(query))


def _holds(term: re.Match[str], labels: Mapping[str, str]) -> bool:
    absent, key, value, operator, values = term.groups()
    found = labels.get(key)
    if value is not None:
        return found == value
    if operator is not None:
        return (found in values.split(",")) is (operator == "in")
    return (found is None) is bool(absent)


@dataclass(frozen=True, slots=True)
class Scope:
    """What one watch looks at; `about` are the workloads that its lists are about.

    `namespace` is "" for kinds that lie in none.
    """

    kind: Kind
    namespace: str
    about: tuple[Ref, ...]
    label_selector: str = ""
    field_selector: str = ""


def scopes_of(followed: Mapping[Ref, Selector]) -> tuple[Scope, ...]:
    """Plan as few watches as possible, one per kind and namespace, for workloads and selectors.

    One workload is watched by its name and selector, several by what their selectors share.
    Of the Events only warnings are watched: the others say nothing that an object does not.

    """
    planned: list[Scope] = []
    for namespace in sorted({ref.namespace for ref in followed}):
        about = tuple(sorted(ref for ref in followed if ref.namespace == namespace))
        planned += _workload_scopes(namespace, about)
        for child, owners in registry.children_of(about).items():
            labels = query_of_any([followed[ref] for ref in owners])
            planned.append(Scope(child.kind, namespace, owners, labels))
        planned.append(Scope(Kind.EVENT, namespace, about, field_selector="type=Warning"))
    for kind, concerned in registry.surroundings_of(sorted(followed)).items():
        planned.append(Scope(kind.kind, "", concerned))
    return tuple(planned)


def _workload_scopes(namespace: str, about: tuple[Ref, ...]) -> Iterator[Scope]:
    for one in registry.WORKLOADS:
        alike = tuple(ref for ref in about if registry.workload_of(ref) is one)
        name = f"metadata.name={alike[0].name}" if len(alike) == 1 else ""
        if alike:
            yield Scope(one.watched.kind, namespace, alike, field_selector=name)

"""Which objects of a resource a list or a watch is about.

Field selectors (`status.phase=Running,spec.nodeName!=`) know few fields of each kind; label
selectors are as a query carries them (`app=web,tier in (a,b),!canary`, `labels.Parse`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox.failure import bad_request, not_served
from sandbox.json import JSON, dig
from sandbox.objects.selectors import matches
from sandbox.storage.store import Change, ChangeType, at_version

METADATA = ("metadata.name", "metadata.namespace")
"""What can be selected of every kind."""

_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_OF_POD_SPEC = ("nodeName", "restartPolicy", "schedulerName", "serviceAccountName", "hostNetwork")
FIELDS: Mapping[str, tuple[str, ...]] = {
    "pods": (
        *(f"spec.{name}" for name in _OF_POD_SPEC),
        *(f"status.{name}" for name in ("phase", "podIP", "nominatedNodeName")),
    ),
    "events": (
        *(f"involvedObject.{name}" for name in _INVOLVED),
        *("reason", "reportingComponent", "type"),
    ),
    "namespaces": ("status.phase",),
    "nodes": ("spec.unschedulable",),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
}
"""What can be selected beside the metadata, by resource."""

_FLAGS = ("spec.hostNetwork", "spec.unschedulable")
_FIELD_TERM = re.compile(r"((?:[^\\,]|\\.)*)(?:,|$)", re.DOTALL)
_COMPARISON = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\([\\,=])")


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One comparison of a field with a value."""

    path: str
    value: str
    is_equal: bool

    def matches(self, body: JSON) -> bool:
        """Tell whether an object fulfils the term; what is absent is its zero value."""
        found = dig(body, *self.path.split("."))
        if found is None:
            found = False if self.path in _FLAGS else ""
        text = str(found).lower() if isinstance(found, bool) else str(found)
        return (text == self.value) is self.is_equal


FieldSelector = tuple[FieldTerm, ...]


def parse_fields(resource: str, text: str) -> FieldSelector:
    """Return the terms of a selector, none for an empty one; 400 for a field unknown to it."""
    known, found = (*METADATA, *FIELDS.get(resource, ())), []
    for term in filter(None, _FIELD_TERM.findall(text)):
        match = _COMPARISON.fullmatch(term)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        path, operator, value = match.groups()
        if path not in known:
            names = ", ".join(sorted(known))
            raise bad_request(f"field label not supported: {path}; the sandbox has {names}")
        found.append(FieldTerm(path, _ESCAPE.sub(r"\1", value), operator != "!="))
    return tuple(found)


_NAME = r"(?:[a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_LIST = rf"\(\s*{_VALUE}\s*(?:,\s*{_VALUE}\s*)*\)"
_TERM = re.compile(
    rf"""\s*(?:
        (?P<absent>!)\s*(?P<missing>{_NAME})
      | (?P<of>{_NAME})\s+(?P<set>in|notin)\s*(?P<list>{_LIST})
      | (?P<name>{_NAME})\s*(?:(?P<sign>==|!=|=|<|>)\s*(?P<value>{_VALUE}))?
    )\s*(?:,(?=\s*\S)|$)""",
    re.VERBOSE,
)


def parse_labels(text: str) -> JSON:
    """Return a selector as objects carry them; 400 where the text cannot be read."""
    found: list[JSON] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        term = _TERM.match(text, position)
        if term is None:
            what = f'"{text}" is no label selector at {position}'
            raise bad_request(f"unable to parse requirement: {what}")
        found.append(_expression(term))
        position = term.end()
    return {"matchExpressions": found}


def _expression(term: re.Match[str]) -> JSON:
    if term["set"]:
        values = [value.strip() for value in term["list"].strip("()").split(",")]
        operator = "In" if term["set"] == "in" else "NotIn"
        return {"key": term["of"], "operator": operator, "values": values}
    if term["absent"]:
        return {"key": term["missing"], "operator": "DoesNotExist"}
    if not term["sign"]:
        return {"key": term["name"], "operator": "Exists"}
    if term["sign"] in "<>":
        raise not_served("a label selector that compares numbers")
    operator = "NotIn" if term["sign"] == "!=" else "In"
    return {"key": term["name"], "operator": operator, "values": [term["value"]]}


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects of a resource, in one namespace or (empty) in all, by labels and fields."""

    resource: str
    namespace: str = ""
    labels: JSON = field(default_factory=dict)
    fields: FieldSelector = ()

    def matches(self, body: JSON) -> bool:
        """Tell whether an object of the resource belongs to the selection."""
        metadata = body["metadata"]
        if self.namespace and metadata.get("namespace") != self.namespace:
            return False
        return matches(self.labels, metadata.get("labels")) and all(
            term.matches(body) for term in self.fields
        )

    def select_change(self, change: Change) -> tuple[ChangeType, JSON] | None:
        """Return a change as a watch of this selection sees it; None where it does not.

        An object that leaves the selection is deleted for the watch, one that enters is added.
        """
        had = change.before is not None and self.matches(change.before)
        has = change.after is not None and self.matches(change.after)
        if has and change.after is not None:
            return (ChangeType.MODIFIED if had else ChangeType.ADDED), change.after
        if not had or change.before is None:
            return None
        return ChangeType.DELETED, at_version(change.before, change.version)


def selection(resource: str, namespace: str = "", labels: str = "", fields: str = "") -> Selection:
    """Return the selection that a query asks for; 400 where a selector cannot be read."""
    return Selection(resource, namespace, parse_labels(labels), parse_fields(resource, fields))

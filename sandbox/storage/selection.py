"""Which objects of a resource a list or a watch is about.

Field selectors (`status.phase=Running,spec.nodeName!=`) know few fields of each kind; label
selectors are as a query carries them (`app=web,tier in (a,b),!canary`, `labels.Parse`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON, dig
from sandbox.storage.store import Change, ChangeType, at_version

Read = Callable[[JSON], str]
_FIELD_TERM = re.compile(r"((?:[^\\,]|\\.)*)(?:,|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\([\\,=])")


def _at(path: str) -> Read:
    keys = path.split(".")

    def read(body: JSON) -> str:
        return _text(dig(body, *keys))

    return read


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _flag(path: str) -> Read:
    read = _at(path)
    return lambda body: read(body) or "false"


def _plain(*paths: str) -> dict[str, Read]:
    return {path: _at(path) for path in paths}


METADATA = _plain("metadata.name", "metadata.namespace")
"""What can be selected of every kind."""

FIELDS: Mapping[str, Mapping[str, Read]] = {
    "pods": {
        **_plain(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ),
        "spec.hostNetwork": _flag("spec.hostNetwork"),
    },
    "events": {
        **_plain(
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "type",
        ),
    },
    "namespaces": _plain("status.phase"),
    "nodes": {"spec.unschedulable": _flag("spec.unschedulable")},
    "secrets": _plain("type"),
    "services": _plain("spec.clusterIP", "spec.type"),
}
"""What can be selected beside the metadata, by resource."""


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """One comparison of a field with a value."""

    path: str
    value: str
    equal: bool
    read: Read

    def matches(self, body: JSON) -> bool:
        """Tell whether an object fulfils the term."""
        return (self.read(body) == self.value) is self.equal


FieldSelector = tuple[FieldTerm, ...]


def parse_fields(resource: str, text: str) -> FieldSelector:
    """Return the terms of a selector, none for an empty one; 400 for a field unknown to it."""
    terms = [term for term in _FIELD_TERM.findall(text) if term]
    return tuple(_parse_term(resource, text, term) for term in terms)


def _parse_term(resource: str, text: str, term: str) -> FieldTerm:
    path, operator, value = _split(term)
    if not operator:
        raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
    read = METADATA.get(path) or FIELDS.get(resource, {}).get(path)
    if read is None:
        raise _unknown(resource, path)
    return FieldTerm(path, _ESCAPE.sub(r"\1", value), operator != "!=", read)


def _split(term: str) -> tuple[str, str, str]:
    for position in range(len(term)):
        for operator in ("!=", "==", "="):
            if term.startswith(operator, position):
                return term[:position], operator, term[position + len(operator) :]
    return term, "", ""


def _unknown(resource: str, path: str) -> ApiError:
    known = ", ".join(sorted({*METADATA, *FIELDS.get(resource, {})}))
    return bad_request(f"field label not supported: {path}; the sandbox has {known}")


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
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")


class Operator(StrEnum):
    """How a requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "!"
    ABOVE = ">"
    BELOW = "<"


_BY_SIGN = {
    "=": Operator.IN,
    "==": Operator.IN,
    "!=": Operator.NOT_IN,
    ">": Operator.ABOVE,
    "<": Operator.BELOW,
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a selector."""

    name: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels fulfil the term; a missing label is not among any values."""
        found = labels.get(self.name)
        match self.operator:
            case Operator.IN:
                return found in self.values
            case Operator.NOT_IN:
                return found not in self.values
            case Operator.EXISTS:
                return found is not None
            case Operator.ABSENT:
                return found is None
            case _:
                return self._compares(found)

    def _compares(self, found: str | None) -> bool:
        (bound,) = self.values
        if found is None or not _INTEGER.fullmatch(found):
            return False
        above = self.operator is Operator.ABOVE
        return int(found) > int(bound) if above else int(found) < int(bound)


LabelSelector = tuple[Requirement, ...]


def parse_labels(text: str) -> LabelSelector:
    """Return the terms of a selector, none for an empty one; 400 where it cannot be read."""
    found: list[Requirement] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        term = _TERM.match(text, position)
        if term is None:
            raise _unreadable(text, position)
        found.append(_requirement(term, text))
        position = term.end()
    return tuple(found)


def _requirement(term: re.Match[str], text: str) -> Requirement:
    if term["absent"]:
        return Requirement(term["missing"], Operator.ABSENT)
    if term["set"]:
        values = (value.strip() for value in term["list"].strip("()").split(","))
        return Requirement(term["of"], Operator(term["set"]), frozenset(values))
    if not term["sign"]:
        return Requirement(term["name"], Operator.EXISTS)
    operator, value = _BY_SIGN[term["sign"]], term["value"]
    if operator in (Operator.ABOVE, Operator.BELOW) and not _INTEGER.fullmatch(value):
        raise _unreadable(text, term.start())
    return Requirement(term["name"], operator, frozenset({value}))


def _unreadable(text: str, position: int) -> ApiError:
    return bad_request(f'unable to parse requirement: "{text}" is no label selector at {position}')


@dataclass(frozen=True, slots=True)
class Selection:
    """Objects of a resource, in one namespace or (empty) in all, by labels and fields."""

    resource: str
    namespace: str = ""
    labels: LabelSelector = ()
    fields: FieldSelector = ()

    def matches(self, body: JSON) -> bool:
        """Tell whether an object of the resource belongs to the selection."""
        metadata = body["metadata"]
        if self.namespace and metadata.get("namespace") != self.namespace:
            return False
        labels = metadata.get("labels") or {}
        return all(term.matches(labels) for term in self.labels) and all(
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

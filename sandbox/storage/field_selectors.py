"""Field selectors: `status.phase=Running,spec.nodeName!=` over the few fields of each kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON, dig

Read = Callable[[JSON], str]
_TERM = re.compile(r"((?:[^\\,]|\\.)*)(?:,|$)", re.DOTALL)
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
    terms = [term for term in _TERM.findall(text) if term]
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

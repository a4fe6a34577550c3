"""Which objects of a resource a list or a watch is about."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.json import JSON
from sandbox.storage.change import Change, ChangeType, at_version
from sandbox.storage.field_selectors import FieldSelector, parse_fields
from sandbox.storage.label_selectors import LabelSelector, parse_labels


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

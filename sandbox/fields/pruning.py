"""What an applier no longer asks for goes, unless somebody else owns it."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.fields.extracting import field_set
from sandbox.fields.managed import Entry
from sandbox.fields.removing import without
from sandbox.fields.sets import FieldSet, difference, intersection, union, with_structs
from sandbox.json import JSON
from sandbox.schema import Type


def prune_fields(body: JSON, last: FieldSet, owners: Iterable[Entry], kind: Type) -> JSON:
    """Return the merged object without what the manager applied last and nobody owns now.

    `owners` holds the manager's entry as it is now. What nobody owned before either (defaults)
    stays, but for what lies inside of an item that goes.
    """
    owned: FieldSet = {}
    for entry in owners:
        owned = union(owned, entry.fields)
    if not difference(last, owned):
        return body
    last, owned = with_structs(last, kind), with_structs(owned, kind)
    everything = _all(body, kind)
    kept = union(_all(without(body, last, kind), kind), owned)
    bare = without(body, difference(everything, kept), kind)
    gone = intersection(difference(everything, _all(bare, kind)), last)
    found: JSON = without(body, gone, kind) or {}
    return found


def _all(body: JSON | None, kind: Type) -> FieldSet:
    return with_structs(field_set(body or {}, kind), kind)

"""What other managers own that an apply has to change or remove: conflicts, and what would stay.

A server-side apply conflicts where it sends another value of a field that somebody else owns, and
leaves a field that its own manager owns and no longer sends if somebody else owns it as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.ssa.field_set import (
    ITSELF,
    Fields,
    intersect,
    paths,
    select_changed,
    select_left_out,
    subtract,
    union,
)
from gate.core.ssa.managed_fields import ManagedFields


def held_fields(live: LiveObject, body: Body, ours: Collection[str]) -> dict[str, Fields]:
    """Return, by manager, the fields that keep an apply of `body` over `live` from its effect.

    `ours` are the managers whose fields the apply sets and removes. What was written through a
    subresource does not count: an autoscaler writes replicas so, and it is never taken over.
    """
    has, sent = live.body.thaw(), body.thaw()
    managed: ManagedFields = live.thaw_managed_fields()
    own: Fields | None = None
    for entry in managed:
        if entry.get("manager") in ours:
            own = union(own, entry.get("fieldsV1") or None)
    left_out = select_left_out(has, sent, own)
    held: dict[str, Fields] = {}
    for entry in managed:
        manager, fields = str(entry.get("manager")), entry.get("fieldsV1") or None
        if manager in ours or entry.get("subresource"):
            continue
        found = union(select_changed(sent, has, fields), intersect(left_out, fields))
        together = union(held.get(manager), found)
        if together is not None:
            held[manager] = together
    return held


def fields_kept_back(
    live: LiveObject, body: Body, wanted: Mapping[str, Any], ours: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return, by manager, the paths of `held_fields` that would not become as in `wanted`."""
    has, kept = live.body.thaw(), {}
    for manager, held in held_fields(live, body, ours).items():
        if named := paths(select_changed(has, wanted, held)):
            kept[manager] = named
    return kept


def release(
    managed_fields: ManagedFields, fields: Fields | None, ours: str
) -> list[dict[str, Any]] | None:
    """Return the managed fields after all others but `ours` lost `fields`, None for no change.

    Nobody loses what was written through a subresource.
    """
    kept: list[dict[str, Any]] = []
    for entry in managed_fields:
        owned = entry.get("fieldsV1")
        if entry.get("manager") == ours or entry.get("subresource"):
            left = owned
        else:
            left = _lose(owned, fields)
        if left is not None:
            kept.append({**entry, "fieldsV1": left})
    return kept if kept != list(managed_fields) else None


def _lose(owned: Fields | None, lost: Fields | None) -> Fields | None:
    """Return what is left of a set; a map or an item as such goes with the last of its contents.

    Whoever owned an empty one would be in conflict with the next apply that fills it.
    """
    if not owned or not lost:
        return subtract(owned, lost)
    left = {key: _lose(inner, lost.get(key)) for key, inner in owned.items()}
    kept = {key: inner for key, inner in left.items() if inner is not None}
    return kept if kept == owned or kept.keys() - {ITSELF} else None

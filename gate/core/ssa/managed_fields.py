"""Who owns which fields of an object, and what follows from it.

What the gate had applied before needs no store: it is what the gate's manager owns. Rules:
structured-merge-diff, and client-go's csaupgrade for taking over. `managed_fields` is the list
`metadata.managedFields` everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.ssa.field_set import (
    ITSELF,
    Fields,
    descend,
    differing,
    extract,
    intersect,
    paths,
    remove_field,
    select_changed,
    still_holds,
    subtract,
    union,
)

__all__ = [
    "KUBECTL_APPLIERS",
    "ManagedFields",
    "descend",
    "differing",
    "extract",
    "has_other_owners",
    "is_creator",
    "managers_of",
    "owned_fields",
    "owners_of",
    "remove_field",
    "restoration",
    "select_retained",
    "still_holds",
    "take_over",
]

ManagedFields = Sequence[Mapping[str, Any]]

KUBECTL_APPLIERS = frozenset(
    {
        ("kubectl-client-side-apply", "Update"),
        ("kubectl-create", "Update"),
        ("before-first-apply", "Update"),
        ("kubectl", "Apply"),
        ("kubectl-last-applied", "Apply"),
    }
)
"""Manager and operation of what `kubectl apply`, with and without `--server-side`, and `kubectl
create` write.

`before-first-apply` is the API server's name for the owner of an object that had no managed fields.
`kubectl-last-applied` owns the last-applied annotation of what `kubectl apply --server-side` has
taken over from `kubectl apply`.
"""


def owned_fields(
    managed_fields: ManagedFields,
    manager: str = FIELD_MANAGER,
    operation: str = "Apply",
    *,
    beside: ManagedFields = (),
) -> Fields | None:
    """Return what the manager owns of the object itself (no subresource), None for nothing.

    A map or list that it owns whole, but in which others own fields too, comes as `{".": {}}`: it
    was applied empty, and what is in it is theirs. So does one in which they own fields by
    `beside`, the managed fields at another time.
    """
    own = _entry(managed_fields, manager, operation)
    if own is None:
        return None
    fields = _fields(own)
    theirs = _all_but(beside, _entry(beside, manager, operation))
    theirs = union(theirs, _all_but(managed_fields, own))
    return None if fields is None else _without_theirs(fields, theirs)


def _without_theirs(fields: Fields, theirs: Fields | None) -> Fields:
    if not fields:
        return {ITSELF: {}} if theirs and set(theirs) != {ITSELF} else fields
    return {
        key: inner if key == ITSELF else _without_theirs(inner, (theirs or {}).get(key))
        for key, inner in fields.items()
    }


def _entry(managed_fields: ManagedFields, manager: str, operation: str) -> Mapping[str, Any] | None:
    wanted = (manager, operation, "")
    return next((entry for entry in managed_fields if _identity(entry) == wanted), None)


def _identity(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return (
        entry.get("manager") or "",
        entry.get("operation") or "",
        entry.get("subresource") or "",
    )


def _fields(entry: Mapping[str, Any]) -> Fields | None:
    return entry.get("fieldsV1") or None


def _all_but(managed_fields: ManagedFields, own: Mapping[str, Any] | None) -> Fields | None:
    fields: Fields | None = None
    for entry in managed_fields:
        if entry is not own:
            fields = union(fields, _fields(entry))
    return fields


def managers_of(
    managed_fields: ManagedFields, fields: Fields | None, but: str = FIELD_MANAGER
) -> dict[str, tuple[str, ...]]:
    """Return the other managers that own any of these fields, each with the paths.

    Writes through subresources count: an autoscaler writes `spec.replicas` through `scale`.
    """
    owned: dict[str, Fields | None] = {}
    for entry in managed_fields:
        manager = _identity(entry)[0]
        if manager != but:
            owned[manager] = union(owned.get(manager), intersect(_fields(entry), fields))
    return {manager: named for manager, theirs in owned.items() if (named := paths(theirs))}


def has_other_owners(managed_fields: ManagedFields, manager: str) -> bool:
    """Tell whether anyone else owns fields, not counting subresources, which controllers write."""
    return any(
        entry.get("manager") != manager and not entry.get("subresource") and _fields(entry)
        for entry in managed_fields
    )


def is_creator(
    live: Mapping[str, Any], managed_fields: ManagedFields, manager: str, operation: str = "Apply"
) -> bool:
    """Tell whether a manager is known to have created an object: no other entry is as old as that.

    An entry has the time of its last change, and times are whole seconds. What was written through
    subresources does not count, nor does an object without any time.
    """
    created_at = str((live.get("metadata") or {}).get("creationTimestamp") or "")
    entries = [entry for entry in managed_fields if not entry.get("subresource")]
    old = [_identity(entry)[:2] for entry in entries if _time(entry) <= created_at]
    return old == [(manager, operation)]


def owners_of(managed_fields: ManagedFields, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return manager and operation of each owner of the field at `names`, as in spec, replicas.

    Writes through subresources count, as in `managers_of`.
    """
    return tuple(
        _identity(entry)[:2]
        for entry in managed_fields
        if descend(_fields(entry), *names) is not None
    )


def take_over(
    managed_fields: ManagedFields, named: Collection[str] = ()
) -> list[dict[str, Any]] | None:
    """Return the managed fields after our manager took those of others, None for no change.

    Taken are the entries of `KUBECTL_APPLIERS` and all entries of the `named` managers,
    subresources excepted. The new entry has the apiVersion of the existing entry of ours, else of
    the newest one taken, and the latest time. Entries of another apiVersion are removed and not
    merged, as `kubectl apply --server-side` does: their paths belong to another schema. Their
    values stay, owned by nobody.
    """
    taken = [entry for entry in managed_fields if _is_taken(entry, named)]
    if not taken:
        return None
    own = _entry(managed_fields, FIELD_MANAGER, "Apply")
    first = own or max(taken, key=_time)
    heirs = [entry for entry in taken if entry is not first]
    entry = {**first, "manager": FIELD_MANAGER, "operation": "Apply", "fieldsType": "FieldsV1"}
    owned = as_stored(_fields(first))
    for other in heirs:
        if other.get("apiVersion") == first.get("apiVersion"):
            owned = union(owned, as_stored(_fields(other)))
    entry["fieldsV1"] = owned or {}
    latest = max(map(_time, (first, *heirs)))
    if latest:  # an entry that a client wrote may have none, and "" is no time
        entry["time"] = latest
    kept = [dict(e) for e in managed_fields if e is not own and e not in taken]
    return [entry, *kept]


def select_retained(managed_fields: ManagedFields, left: ManagedFields) -> list[Mapping[str, Any]]:
    """Return those of `managed_fields` whose owners have an entry in `left` as well."""
    owners = {_identity(entry) for entry in left}
    return [entry for entry in managed_fields if _identity(entry) in owners]


def as_stored(fields: Fields | None) -> Fields | None:
    """Return a Secret's `stringData` as the `data` that the server keeps (core/v1 Secret).

    An apply owns only `stringData`; left so, a key that the next manifest leaves out would stay.
    """
    if not fields or "f:stringData" not in fields:
        return fields
    rest = {key: inner for key, inner in fields.items() if key != "f:stringData"}
    return union(rest, {"f:data": fields["f:stringData"]})


def _is_taken(entry: Mapping[str, Any], named: Collection[str]) -> bool:
    manager, operation, subresource = _identity(entry)
    if subresource or (manager, operation) == (FIELD_MANAGER, "Apply"):
        return False
    return manager in named or (manager, operation) in KUBECTL_APPLIERS


def _time(entry: Mapping[str, Any]) -> str:
    return entry.get("time") or ""


def restoration(
    live_before: Mapping[str, Any],
    managed_before: ManagedFields,
    managed_after: ManagedFields,
    *,
    forced: bool,
    live_after: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the body whose apply takes an object back to what it was before our apply.

    It holds what we had applied before, with its values; fields that we took over from others count
    as ours. If our apply was forced, it also holds the fields that the apply took, with their
    earlier values. If none of these existed, it holds the identity alone. `managed_before` is from
    before our first write, empty if nobody's fields were known; `managed_after` and `live_after`
    are from the answer to our apply.

    With `live_after`, values that nobody owned and that our apply changed are put back too: left
    out, they would be removed, since they are ours now. A Secret written through `stringData` has
    such values. Without `live_after` they are left to the server's defaults.

    """
    owned_before = _as_taken_over(managed_before, managed_after)
    restored = _applied_before(live_before, owned_before)
    if forced:
        taken = subtract(owned_fields(managed_after), restored)
        if managed_before:
            ours = _entry(owned_before, FIELD_MANAGER, "Apply")
            taken = intersect(taken, _all_but(owned_before, ours))
        restored = union(restored, taken)
    if live_after is not None:
        ours_now = subtract(owned_fields(managed_after), restored)
        restored = union(restored, select_changed(live_before, live_after, ours_now))
    return _named_as(live_before, {} if restored is None else extract(live_before, restored))


def _as_taken_over(before: ManagedFields, after: ManagedFields) -> ManagedFields:
    """Return `before` taken over: a manager that has no entry any more lost its fields to us."""
    left = {_identity(entry)[0] for entry in after}
    gone = {_identity(entry)[0] for entry in before} - left if after else set[str]()
    return take_over(before, gone) or before


def _applied_before(live: Mapping[str, Any], managed_fields: ManagedFields) -> Fields | None:
    """Return our fields; all fields if our entry has another apiVersion than `live`."""
    entry = _entry(managed_fields, FIELD_MANAGER, "Apply")
    if entry is None or entry.get("apiVersion") == live["apiVersion"]:
        return owned_fields(managed_fields)
    whole: dict[str, Any] = {f"f:{name}": {} for name in live}
    return {**whole, "f:metadata": {"f:labels": {}, "f:annotations": {}}}


def _named_as(live: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    names = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    return {
        **{key: value for key, value in body.items() if key != "status"},
        "apiVersion": live["apiVersion"],
        "kind": live["kind"],
        "metadata": {**body.get("metadata", {}), **names},
    }

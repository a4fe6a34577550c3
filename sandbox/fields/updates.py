"""Ownership after a create, an update or a patch: a writer owns what it changed.

But for fields that the kind's strategy puts back (`GetResetFields` in the server's registry): a
main resource keeps its status, a status the spec, and for some kinds parts of the metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sandbox.fields.comparing import Comparison, compare
from sandbox.fields.managed import (
    NOBODY,
    Entry,
    Identity,
    Managed,
    NotManaged,
    Operation,
    cap_updates,
    decode_entries,
    decoded_foreign,
    encode_entries,
)
from sandbox.fields.sets import (
    EMPTY,
    LEAF,
    ElementError,
    FieldSet,
    difference,
    intersection,
    union,
    without_trees,
)
from sandbox.json import JSON, dig
from sandbox.kinds import BY_KIND
from sandbox.schema import Schema

SCALE = "scale"
SCALE_VERSION = "autoscaling/v1"
REPLICAS: FieldSet = {"f:spec": {"f:replicas": LEAF}}


def assign_replicas(
    managed: Managed, live: JSON, new: JSON, manager: str, api_version: str
) -> dict[Identity, Entry]:
    """Return who owns what after `spec.replicas` of `live` has become that of `new`."""
    owners = {
        identity: entry
        for identity, entry in managed.items()
        if intersection(entry.fields, REPLICAS) and entry.api_version == api_version
    }
    kept = _read_back_entries(owners, live, new, manager, api_version)
    found = dict(managed)
    for identity, entry in owners.items():
        if identity not in kept:
            del found[identity]
            if rest := difference(entry.fields, REPLICAS):
                found[identity] = entry.with_fields(rest)
    return {**kept, **found}


def _read_back_entries(
    owners: Managed, live: JSON, new: JSON, manager: str, api_version: str
) -> dict[Identity, Entry]:
    """Return the entries as they come back from the Scale object."""
    after = dig(new, "spec", "replicas") or 0
    if not owners:
        return {}
    if after == (dig(live, "spec", "replicas") or 0):
        return dict(_read_back_entry(entry) for entry in owners.values())
    if not after:
        return {}
    writer = Entry(manager, Operation.UPDATE, api_version, SCALE, None, REPLICAS)
    return dict([_read_back_entry(writer)])


def _read_back_entry(entry: Entry) -> tuple[Identity, Entry]:
    """Return an entry under the identity that it has on the Scale object."""
    if entry.operation is Operation.APPLY:
        return entry.identity, entry
    identity = replace(entry, api_version=SCALE_VERSION).identity
    return identity, replace(entry, fields=REPLICAS, time=None)


_STATUS: FieldSet = {"f:status": LEAF}
_SPEC: FieldSet = {"f:spec": LEAF}

_OF_STATUS_WRITES: Mapping[str, FieldSet] = {
    "Deployment": {"f:metadata": {"f:labels": LEAF}, "f:spec": LEAF},
    "Pod": {"f:metadata": {"f:deletionTimestamp": LEAF, "f:ownerReferences": LEAF}, "f:spec": LEAF},
}


def reset_fields(schema: Schema, subresource: str) -> FieldSet:
    """Return what a write to a kind, or to its subresource, cannot set."""
    if "status" not in BY_KIND[schema.api_version, schema.kind].subresources:
        return EMPTY
    if subresource == "status":
        return _OF_STATUS_WRITES.get(schema.kind, _SPEC)
    return _STATUS if subresource in {"", "finalize"} else EMPTY


NEVER_OWNED: FieldSet = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {
        ".": LEAF,
        "f:clusterName": LEAF,
        "f:creationTimestamp": LEAF,
        "f:generation": LEAF,
        "f:managedFields": LEAF,
        "f:name": LEAF,
        "f:namespace": LEAF,
        "f:resourceVersion": LEAF,
        "f:selfLink": LEAF,
        "f:uid": LEAF,
    },
}
"""What the server says of an object itself; no manager owns it."""


UNKNOWN_MANAGER = "unknown"


def update_owners(
    live: JSON | None, new: JSON, manager: str, *, now: str, schema: Schema, subresource: str = ""
) -> JSON:
    """Return `new` with its managedFields after a write of a manager that does not apply.

    `live` is the stored object, None on creation; `new` is decoded and defaulted (the writer owns
    the defaults); `now` is RFC 3339 to the second. Nothing given is changed. Nobody owns an object
    with a list whose items cannot be told apart, as the server gives up on it.
    """
    managed = _before(live, new, schema, subresource)
    if live is not None and not managed:
        return with_managed(new, NOBODY)
    manager = manager or UNKNOWN_MANAGER
    if live is not None and subresource == SCALE:
        return with_managed(new, assign_replicas(managed, live, new, manager, schema.api_version))
    writer = Entry(manager, Operation.UPDATE, schema.api_version, subresource, now, EMPTY)
    try:
        comparison = compare_write(live or {}, new, schema, subresource)
    except ElementError:
        return with_managed(new, NOBODY)
    found = cap_updates(assign_written_fields(managed, comparison, writer))
    return with_managed(new, found)


def compare_write(live: JSON, new: JSON, schema: Schema, subresource: str) -> Comparison:
    """Compare what a write may change."""
    comparison = compare(without_managed_fields(live), without_managed_fields(new), schema.type)
    reset = reset_fields(schema, subresource)
    return Comparison(
        without_trees(comparison.written, reset), without_trees(comparison.removed, reset)
    )


def assign_written_fields(
    managed: Managed, comparison: Comparison, writer: Entry
) -> dict[Identity, Entry]:
    """Return who owns what after an update: what was written is the writer's alone."""
    found = without_fields(managed, comparison.every, writer.api_version)
    mine = difference(comparison.written, NEVER_OWNED)
    if mine:
        before = found.get(writer.identity)
        both = union(before.fields, mine) if before else mine
        found[writer.identity] = writer.with_fields(both)
    return found


def without_fields(managed: Managed, lost: FieldSet, api_version: str) -> dict[Identity, Entry]:
    """Return the entries without fields that were lost; empty ones and unknown versions go."""
    found = {}
    for identity, entry in managed.items():
        if entry.api_version != api_version:
            continue
        left = difference(entry.fields, lost) if lost else entry.fields
        if left:
            found[identity] = entry.with_fields(left)
    return found


def _before(live: JSON | None, new: JSON, schema: Schema, subresource: str) -> Managed:
    """Return the ownership that the write starts from: what the client sent, or what was there."""
    stored = live.get("metadata", {}).get("managedFields") if live else None
    sent = new.get("metadata", {}).get("managedFields")
    if subresource or sent == stored:
        return _readable(stored)
    if sent is not None and (not sent or sent == [{}]):
        return NOBODY
    try:
        return decoded_foreign(sent, schema.type) or _readable(stored)
    except NotManaged:
        return _readable(stored)


def _readable(entries: list[JSON] | None) -> Managed:
    try:
        return decode_entries(entries)
    except NotManaged:
        return NOBODY


def without_managed_fields(body: JSON) -> JSON:
    """Return an object without its managedFields."""
    metadata = body.get("metadata")
    if not metadata or "managedFields" not in metadata:
        return body
    rest = {name: value for name, value in metadata.items() if name != "managedFields"}
    return {**body, "metadata": rest}


def with_managed(body: JSON, managed: Managed) -> JSON:
    """Return an object with these managedFields, without any where nobody owns a thing."""
    entries = encode_entries(managed)
    bare = without_managed_fields(body)
    if not entries:
        return bare
    return {**bare, "metadata": {**bare.get("metadata", {}), "managedFields": entries}}


def keep_times_if_unchanged(live: JSON, new: JSON) -> JSON:
    """Return `new` with the times of `live`'s managedFields where it differs in nothing else.

    The server does so when it stores an update, after defaults and strategies: writes that change
    nothing then are no new version.
    """
    before = dig(live, "metadata", "managedFields") or []
    after = dig(new, "metadata", "managedFields") or []
    if len(before) != len(after) or not after or before == after:
        return new
    if any(_timeless(one) != _timeless(other) for one, other in zip(before, after, strict=True)):
        return new
    if without_managed_fields(live) != without_managed_fields(new):
        return new
    return {**new, "metadata": {**new["metadata"], "managedFields": before}}


def _timeless(entry: JSON) -> JSON:
    return {name: value for name, value in entry.items() if name != "time"}

"""Ownership of `spec.replicas` after a write to the subresource `scale`.

The server tracks such a write on the Scale object and carries the outcome over to the main one. On
the way it loses what tells an updater's entries apart, and their times (measured on v1.36):

* the writer of another number owns it, in an entry of its own without a time; everybody else loses
  it; nobody owns a 0, which a Scale does not write;
* after a write of the number that was there, updaters that owned it own it in an entry of its own;
* where nobody owned the number, nobody does afterwards.
"""

from __future__ import annotations

from dataclasses import replace

from sandbox.fields.managed import Entry, Identity, Managed, Operation
from sandbox.fields.sets import LEAF, FieldSet, difference, intersection
from sandbox.json import JSON, dig

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
    found = {identity: entry for identity, entry in managed.items() if identity not in owners}
    kept = _read_back_entries(owners, live, new, manager, api_version)
    for identity, entry in owners.items():
        if identity in kept:
            found[identity] = entry
        elif rest := difference(entry.fields, REPLICAS):
            found[identity] = entry.with_fields(rest)
    for identity, entry in kept.items():
        found.setdefault(identity, entry)
    return found


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
    identity = replace(entry.identity, api_version=SCALE_VERSION)
    return identity, replace(entry, fields=REPLICAS, time=None)

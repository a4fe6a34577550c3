"""managedFields: who owns what, as objects carry it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sandbox.fields.sets import FieldSet, canonical, fit_to_schema, union
from sandbox.json import JSON
from sandbox.schema import Type

MOST_UPDATE_MANAGERS = 10
"""The server merges the oldest entries of updaters beyond these."""
ANCIENT = "ancient-changes"


class Operation(StrEnum):
    """How a manager came to own fields."""

    APPLY = "Apply"
    UPDATE = "Update"


Identity = tuple[str, Operation, str, str]
"""What tells entries apart; an applier is the same one in every version of the API."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One manager's fields."""

    manager: str
    operation: Operation
    api_version: str
    subresource: str
    time: str | None
    fields: FieldSet

    @property
    def identity(self) -> Identity:
        """Which entry of its object this is."""
        version = "" if self.operation is Operation.APPLY else self.api_version
        return self.manager, self.operation, version, self.subresource

    def place(self) -> tuple[str, ...]:
        """Return what the server sorts entries by."""
        time = self.time or ""
        return self.operation, time, self.manager, self.api_version, self.subresource

    def with_fields(self, fields: FieldSet) -> Entry:
        """Return the entry with other fields."""
        return self if fields is self.fields else replace(self, fields=fields)


Managed = Mapping[Identity, Entry]
NOBODY: Managed = {}


class NotManaged(Exception):
    """managedFields that cannot be read."""


def decode_entries(entries: Sequence[JSON] | None) -> Managed:
    """Return the entries of an object; raises `NotManaged`."""
    found = [_entry(entry) for entry in entries or ()]
    return {entry.identity: entry for entry in found}


def decoded_foreign(entries: Sequence[JSON] | None, kind: Type) -> Managed:
    """Return entries that a client wrote, their sets in the server's form; raises `NotManaged`."""
    try:
        return {
            identity: entry.with_fields(fit_to_schema(canonical(entry.fields), kind))
            for identity, entry in decode_entries(entries).items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise NotManaged(str(error)) from error


def _entry(entry: JSON) -> Entry:
    if entry.get("operation") not in list(Operation):
        raise NotManaged("operation must be `Apply` or `Update`")
    if not entry.get("apiVersion"):
        raise NotManaged("apiVersion must not be empty")
    if entry.get("fieldsType") != "FieldsV1":
        raise NotManaged(f"invalid fieldsType {entry.get('fieldsType')!r}")
    return Entry(
        manager=entry.get("manager", ""),
        operation=Operation(entry["operation"]),
        api_version=entry["apiVersion"],
        subresource=entry.get("subresource", ""),
        time=entry.get("time"),
        fields=entry.get("fieldsV1") or {},
    )


def encode_entries(managed: Managed) -> list[JSON]:
    """Return the entries as objects carry them, in the server's order."""
    return [_encode_entry(entry) for entry in sorted(managed.values(), key=Entry.place)]


def _encode_entry(entry: Entry) -> JSON:
    found: JSON = {}
    if entry.manager:
        found["manager"] = entry.manager
    found |= {"operation": str(entry.operation), "apiVersion": entry.api_version}
    if entry.time:
        found["time"] = entry.time
    found |= {"fieldsType": "FieldsV1", "fieldsV1": entry.fields}
    if entry.subresource:
        found["subresource"] = entry.subresource
    return found


def cap_updates(managed: dict[Identity, Entry]) -> dict[Identity, Entry]:
    """Return the entries with the oldest updates merged where there are more than ten.

    The oldest of a version moves into an entry `ancient-changes` with the second oldest, and so on.
    """
    updates = [entry for entry in managed.values() if entry.operation is Operation.UPDATE]
    surplus = len(updates) - MOST_UPDATE_MANAGERS
    if surplus <= 0:
        return managed
    found = dict(managed)
    first: dict[str, Entry] = {}
    for entry in sorted(updates, key=lambda entry: (entry.time or "", entry.manager)):
        if surplus <= 0:
            break
        oldest = first.setdefault(entry.api_version, entry)
        if oldest is not entry:
            _merge_into_bucket(found, oldest, entry)
            surplus -= 1
    return found


def _merge_into_bucket(found: dict[Identity, Entry], oldest: Entry, entry: Entry) -> None:
    bucket = Entry(ANCIENT, Operation.UPDATE, entry.api_version, "", entry.time, {})
    kept = found.get(bucket.identity) or found.pop(oldest.identity)
    del found[entry.identity]
    found[bucket.identity] = bucket.with_fields(union(kept.fields, entry.fields))

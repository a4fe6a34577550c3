"""Managed fields that somebody removed since our apply: what is put back before the way back.

Anybody who may patch the object may empty `metadata.managedFields`. The next server-side apply
then gives all fields to the manager `before-first-apply`: our own apply would conflict with it,
and what only the failed version has would stay.
"""

from __future__ import annotations

from typing import Any, Final

from gate.core.model.body import Body, contains
from gate.core.model.live_object import LiveObject
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.rollback_plan import WrittenObject
from gate.core.ssa import managed_fields
from gate.core.ssa.field_set import Fields, descend, select_changed, subtract, union

_BEFORE_FIRST_APPLY: Final = "before-first-apply"
_MAPS: Final = (("metadata", "labels"), ("metadata", "annotations"), ("data",), ("binaryData",))


def are_owners_removed(manager: str, after: LiveObject, live: LiveObject) -> bool:
    """Tell whether `manager` owned fields `after` its apply, and all managed fields were removed.

    Either nobody owns anything now, or somebody has applied since and the server gave the rest to
    `before-first-apply`.
    """
    if live.uid != after.uid or not managed_fields.owned_fields(
        after.thaw_managed_fields(), manager
    ):
        return False
    now = live.thaw_managed_fields()
    return not now or (
        managed_fields.owned_fields(now, manager) is None
        and any(_is_servers(entry) for entry in now)
        and not any(_is_servers(entry) for entry in after.thaw_managed_fields())
    )


def owners_to_put_back(
    write: PlannedWrite, written: WrittenObject, live: LiveObject, foreign: Fields | None
) -> Body | None:
    """Return the managed fields to be sent before `write` restores an object, None for none.

    They are those that our apply left. The `foreign` fields, which somebody has changed since, and
    keys that others have added to our maps stay with `before-first-apply`: a key that nobody owns
    is removed together with its map. Whoever has applied since keeps what is theirs.
    """
    if not are_owners_removed(write.field_manager, written.after, live):
        return None
    left = (
        (entry, subtract(entry.get("fieldsV1"), foreign))
        for entry in written.after.thaw_managed_fields()
    )
    entries = [{**entry, "fieldsV1": fields} for entry, fields in left if fields]
    known = {_identity(entry) for entry in entries}
    entries += [
        entry
        for entry in live.thaw_managed_fields()
        if not _is_servers(entry) and _identity(entry) not in known
    ]
    now = live.body.thaw()
    others = union(
        select_changed(now, None, foreign), _find_added_keys(written.after.body.thaw(), now)
    )
    for entry in entries:
        others = subtract(others, entry.get("fieldsV1"))
    if others is not None:
        entries.append(
            {
                "manager": _BEFORE_FIRST_APPLY,
                "operation": "Update",
                "apiVersion": live.ref.api_version,
                "fieldsType": "FieldsV1",
                "fieldsV1": others,
            }
        )
    return Body.of({"managedFields": entries})


def _find_added_keys(after: dict[str, Any], now: dict[str, Any]) -> Fields | None:
    """Return the keys of string maps (`_MAPS`) that are in `now` but not in `after`."""
    added: Fields | None = None
    for *above, name in _MAPS:
        there, here = (_at(value, (*above, name)) for value in (now, after))
        fields: Fields | None = {f"f:{key}": {} for key in there if key not in here} or None
        for step in (name, *above):
            fields = {f"f:{step}": fields} if fields else None
        added = union(added, fields)
    return added


def _at(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for step in path:
        value = value.get(step) or {}
    return value


def stands_unowned(write: PlannedWrite, written: WrittenObject, live: LiveObject) -> bool:
    """Tell whether a workload's template is as `write` leaves it, though its owners are removed.

    It has everything that is sent, and nothing that our apply set and `write` leaves out.
    """
    if live.workload is None or not are_owners_removed(write.field_manager, written.after, live):
        return False
    sent, found = (_template(one) for one in (write.body, live.body))
    if sent is None or not contains(sent, found):
        return False
    owned = managed_fields.owned_fields(written.after.thaw_managed_fields(), write.field_manager)
    set_before = descend(owned, "spec", "template")
    only_before = subtract(set_before, select_changed(sent, None, set_before))
    return select_changed(found, None, only_before) is None


def _template(body: Body) -> Any:
    return (body.thaw().get("spec") or {}).get("template")


def _is_servers(entry: dict[str, Any]) -> bool:
    return entry.get("manager") == _BEFORE_FIRST_APPLY


def _identity(entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(entry.get(name) or "" for name in ("manager", "operation", "subresource"))

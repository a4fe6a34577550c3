"""What the API server does with a patch: server-side apply, merge patch, managed fields.

Enough of it for one object: lists of named items merge by name, all other lists are one value.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.core.ssa import field_set
from gate.core.ssa.field_set import Fields
from sandbox.face import copy_json

JSON = dict[str, Any]
TIME = "2026-11-21T11:00:00Z"
_IDENTITY = ("name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp")


@dataclass(frozen=True)
class Conflict:
    """A field that another manager owns."""

    manager: str
    path: str
    subresource: str = ""


class Conflicted(Exception):
    """An apply without force that would change what others own."""

    def __init__(self, conflicts: list[Conflict]) -> None:
        super().__init__("conflict")
        self.conflicts = conflicts


def owned(body: Mapping[str, Any]) -> Fields:
    """Return the fields that an apply of `body` claims."""
    value = {key: inner for key, inner in body.items() if key not in ("apiVersion", "kind")}
    metadata = {k: v for k, v in body["metadata"].items() if k not in (*_IDENTITY, "managedFields")}
    return _tree({**value, "metadata": metadata} if metadata else _without(value, "metadata"))


def entry(manager: str, operation: str, claimed: Fields, api_version: str = "apps/v1") -> JSON:
    """Return an entry of `managedFields`."""
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": api_version,
        "time": TIME,
        "fieldsType": "FieldsV1",
        "fieldsV1": claimed,
    }


def managed_by(manager: str, body: JSON, operation: str = "Apply") -> JSON:
    """Return an object all of whose fields that manager owns."""
    claimed = entry(manager, operation, owned(body), body["apiVersion"])
    return {**body, "metadata": {**body["metadata"], "managedFields": [claimed]}}


def applied(live: JSON | None, body: JSON, manager: str, *, force: bool) -> JSON:
    """Return the object after a server-side apply; Conflicted where others own what it changes."""
    claimed = owned(body)
    before = copy_json(live) if live is not None else _bare(body)
    entries = before["metadata"].pop("managedFields", [])
    own, others = _split(entries, manager, "Apply")
    lost = _lost(body, before, claimed, others)
    if lost and not force:
        raise Conflicted(
            [Conflict(o["manager"], f".{path}", o.get("subresource", "")) for o, path in lost]
        )
    kept = [left for owner in others if (left := _less(owner, [p for o, p in lost if o is owner]))]
    gone = field_set.subtract(own["fieldsV1"], claimed) if own else None
    for other in kept:
        gone = field_set.subtract(gone, other["fieldsV1"])
    # An item of a list is found by its name, which therefore goes last.
    for path in sorted(field_set.paths(gone), key=lambda path: path.endswith(".name")):
        before = field_set.remove_field(before, path)
    after: JSON = _merged(before, _without_identity(body))
    mine = [entry(manager, "Apply", claimed, body["apiVersion"])] if claimed else []
    after["metadata"]["managedFields"] = [*mine, *kept]
    return after


def merge_patched(live: JSON, patch: JSON, manager: str) -> JSON:
    """Return the object after an RFC 7386 merge patch; who is written over loses the field."""
    after = copy_json(live)
    entries = after["metadata"].pop("managedFields", [])
    own, others = _split(entries, manager, "Update")
    patch = _without_identity(patch)
    claimed = _tree(patch)
    kept = [left for owner in others if (left := _without_fields(owner, claimed))]
    set_fields = field_set.union(own["fieldsV1"] if own else None, _tree(_without_nulls(patch)))
    after = dict(_merge_patch(after, patch))
    mine = [entry(manager, "Update", set_fields, live["apiVersion"])] if set_fields else []
    after["metadata"]["managedFields"] = [*mine, *kept]
    return after


def _lost(body: JSON, live: JSON, claimed: Fields, others: list[JSON]) -> list[tuple[JSON, str]]:
    found = []
    for owner in others:
        common = field_set.intersect(owner["fieldsV1"], claimed)
        found += [(owner, path) for path in field_set.differing(body, common, live)]
    return found


def _less(owner: JSON, lost: list[str]) -> JSON | None:
    """Return an owner's entry without the fields at these paths."""
    left = _pruned(owner["fieldsV1"], lost)
    return {**owner, "fieldsV1": left} if left else None


def _pruned(tree: Fields, lost: list[str], above: tuple[str, ...] = ()) -> Fields | None:
    if not tree:
        only: Fields = functools.reduce(lambda inner, key: {key: inner}, reversed(above), {})
        return None if field_set.paths(only)[0] in lost else tree
    kept = {
        key: inner if key == "." else _pruned(inner, lost, (*above, key))
        for key, inner in tree.items()
    }
    return {key: inner for key, inner in kept.items() if inner is not None} or None


def _without_fields(owner: JSON, claimed: Fields) -> JSON | None:
    left = field_set.subtract(owner["fieldsV1"], claimed)
    return {**owner, "fieldsV1": left} if left else None


def _split(entries: list[JSON], manager: str, operation: str) -> tuple[JSON | None, list[JSON]]:
    mine = (manager, operation)
    own = [e for e in entries if (e["manager"], e["operation"]) == mine and not _sub(e)]
    return (own[0] if own else None), [e for e in entries if e not in own]


def _sub(found: JSON) -> bool:
    return bool(found.get("subresource"))


def _tree(value: Any) -> Fields:
    if isinstance(value, Mapping):
        return {f"f:{key}": _tree(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and all(_is_named(item) for item in value):
        keys = (json.dumps({"name": item["name"]}, separators=(",", ":")) for item in value)
        return {f"k:{key}": {".": {}, **_tree(i)} for key, i in zip(keys, value, strict=True)}
    return {}


def _is_named(item: Any) -> bool:
    return isinstance(item, Mapping) and "name" in item


def _merged(live: Any, new: Any) -> Any:
    if isinstance(live, Mapping) and isinstance(new, Mapping):
        both = {**live, **{key: _merged(live.get(key), value) for key, value in new.items()}}
        return {key: value for key, value in both.items() if value is not None}
    if isinstance(live, list) and isinstance(new, list) and all(map(_is_named, [*live, *new])):
        known = {item["name"]: item for item in live}
        merged = {item["name"]: _merged(known.get(item["name"]), item) for item in new}
        return list({**known, **merged}.values())
    return copy_json(new)


def _merge_patch(live: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    after = dict(live) if isinstance(live, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            after.pop(key, None)
        else:
            after[key] = _merge_patch(after.get(key), value)
    return after


def _bare(body: JSON) -> JSON:
    names = {key: body["metadata"][key] for key in ("name", "namespace") if key in body["metadata"]}
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": names}


def _without_identity(body: JSON) -> JSON:
    metadata = {k: v for k, v in body.get("metadata", {}).items() if k not in _IDENTITY}
    return {**body, "metadata": metadata}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        pruned = {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
        return {key: inner for key, inner in pruned.items() if inner != {}}
    return value


def _without(value: JSON, name: str) -> JSON:
    return {key: inner for key, inner in value.items() if key != name}

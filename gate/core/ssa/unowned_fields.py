"""Fields that nobody owns and that an apply of ours has to remove: they become ours first.

A server-side apply removes what its manager owned and leaves out. What the server defaulted, or
filled in beside a field of ours, is owned by nobody and would stay (structured-merge-diff). One
patch of the managed fields makes it ours; that changes nothing that runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.ssa import managed_fields as ownership
from gate.core.ssa import unions
from gate.core.ssa.field_set import ITSELF, Fields, descend, subtract, union
from gate.core.ssa.managed_fields import ManagedFields

_MISSING: Final = object()
_OUTSIDE: Final = ("apiVersion", "kind", "status")
_METADATA: Final = ("labels", "annotations")
_LIST_KEYS: Final[Mapping[str, Sequence[str]]] = {
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""The item keys of lists in which nobody owns an item (`x-kubernetes-list-map-keys`, core/v1)."""


def claims_for_apply(
    body: Mapping[str, Any], live: Mapping[str, Any], managed_fields: ManagedFields
) -> Fields | None:
    """Return what an apply of `body` over `live` has to own first, None for nothing.

    These are the members of unions that `body` excludes and that nobody owns.
    """
    owned = _owned_by_all(managed_fields)
    claims: Fields | None = None
    for path in unions.excluded_members(body):
        member = unions.value_at(live, path)
        if member is not None:
            unowned = _find_unowned(member, descend(owned, *path), f"f:{path[-1]}")
            claims = union(claims, _below(path, unowned))
    return claims


def claims_for_return(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    managed_after: ManagedFields,
    restored: Mapping[str, Any],
) -> Fields | None:
    """Return what the apply of `restored` has to own first, None for nothing.

    It is what came with our apply, is owned by nobody, and would stay when our fields go: the
    server's defaults for the version that failed, a deprecated twin of a field of ours.
    """
    own = ownership.owned_fields(managed_after)
    if own is None or before.get("apiVersion") != after.get("apiVersion"):
        return None
    others = _owned_by_all(managed_after, but_ours=True)
    top = {name: value for name, value in after.items() if name not in _OUTSIDE}
    top["metadata"] = {
        name: value for name, value in after.get("metadata", {}).items() if name in _METADATA
    }
    return _left_behind(before, top, own, others, restored, "")


def add_claims(
    managed_fields: ManagedFields, claims: Fields, api_version: str
) -> list[dict[str, Any]] | None:
    """Return the managed fields with `claims` among ours, None if they are already."""
    entry = next(filter(_is_ours, managed_fields), None)
    if entry is None:
        ours = {"manager": FIELD_MANAGER, "operation": "Apply", "apiVersion": api_version}
        return [{**ours, "fieldsType": "FieldsV1", "fieldsV1": claims}, *map(dict, managed_fields)]
    if subtract(claims, entry.get("fieldsV1")) is None:
        return None
    grown = {**entry, "fieldsV1": union(entry.get("fieldsV1"), claims)}
    return [grown if one is entry else dict(one) for one in managed_fields]


def _is_ours(entry: Mapping[str, Any]) -> bool:
    names = (entry.get("manager"), entry.get("operation"), entry.get("subresource") or "")
    return names == (FIELD_MANAGER, "Apply", "")


def _owned_by_all(managed_fields: ManagedFields, *, but_ours: bool = False) -> Fields | None:
    owned: Fields | None = None
    for entry in managed_fields:
        if not (but_ours and _is_ours(entry)):
            owned = union(owned, entry.get("fieldsV1") or None)
    return owned


def _below(path: Sequence[str], fields: Fields | None) -> Fields | None:
    for name in reversed(path):
        fields = None if fields is None else {f"f:{name}": fields}
    return fields


# -- what stays ------------------------------------------------------------------------------------


def _left_behind(
    before: Any, after: Any, own: Fields | None, others: Fields | None, back: Any, name: str
) -> Fields | None:
    """Return what `after` has beyond `before`, nobody owns, and does not go with what is ours.

    All of them are contents of a field called `name`; `back` is that of the body that restores it.
    """
    found: dict[str, Any] = {}
    for key, value in _children(after, union(own, others), name):
        ours, theirs = _step(own, key), _step(others, key)
        there, restored = _select(before, key), _select(back, key)
        goes = ours is not None and theirs is None and restored is _MISSING
        if value is None or goes:
            continue
        if there is _MISSING:
            inner = _find_unowned(value, union(ours, theirs), key)
        else:
            inner = _left_behind(there, value, ours, theirs, restored, key[2:])
        if inner is not None:
            found[key] = inner
    return found or None


def _find_unowned(value: Any, owned: Fields | None, key: str) -> Fields | None:
    """Return what nobody owns of the value that `key` selects."""
    if owned is not None and not owned:
        return None
    children = list(_children(value, owned, key[2:]))
    if not children:
        return {} if owned is None else None
    # An item of a list goes with its keys only if it is owned as such.
    found: dict[str, Any] = {ITSELF: {}} if owned is None and key[:2] == "k:" else {}
    for name, inner in children:
        unowned = _find_unowned(inner, _step(owned, name), name)
        if unowned is not None:
            found[name] = unowned
    return found or None


def _step(owned: Fields | None, key: str) -> Fields | None:
    """Return what the set says of a child; `{}` too if it holds the parent whole."""
    return owned.get(key) if owned else owned


def _children(value: Any, owned: Fields | None, name: str) -> Iterator[tuple[str, Any]]:
    """Iterate the parts of a value that a set of fields can name, each with its key."""
    if isinstance(value, Mapping):
        for field, inner in value.items():
            yield f"f:{field}", inner
    elif isinstance(value, list):
        names = _item_names(owned) or _LIST_KEYS.get(name, ())
        for item in value:
            if names and isinstance(item, Mapping) and all(one in item for one in names):
                yield _item_key({one: item[one] for one in names}), item


def _item_names(owned: Fields | None) -> tuple[str, ...]:
    """Return the fields that identify the items of a list, as its owners name them."""
    for key in owned or ():
        if key.startswith("k:"):
            return tuple(json.loads(key[2:]))
    return ()


def _item_key(names: Mapping[str, Any]) -> str:
    text = json.dumps(names, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"k:{text}"


def _select(value: Any, key: str) -> Any:
    """Return the part that `key` selects; in a list also an item that omits a default key."""
    if isinstance(value, Mapping):
        return value.get(key[2:], _MISSING) if key[:2] == "f:" else _MISSING
    if not isinstance(value, list) or key[:2] != "k:":
        return _MISSING
    names = json.loads(key[2:])
    items = [item for item in value if isinstance(item, Mapping)]
    for item in items:
        if all(item.get(name) == wanted for name, wanted in names.items()):
            return item
    for item in items:
        if all(item.get(name, wanted) == wanted for name, wanted in names.items()):
            return item
    return _MISSING

"""The strategic merge patches that kubectl sends: of two versions, and of three."""

from __future__ import annotations

from typing import Any

from tests.cluster.kubelet.api import JSON

MERGE_KEYS = {
    "containers": ("name",),
    "env": ("name",),
    "initContainers": ("name",),
    "ports": ("containerPort", "port"),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""The lists whose elements are told apart by a key (`patchMergeKey` of the API's types)."""


def two_way(before: JSON, after: JSON) -> JSON:
    """Return the patch that makes `after` of `before` (`CreateTwoWayMergePatch`)."""
    return three_way(before, after, before)


def three_way(original: JSON, modified: JSON, current: JSON) -> JSON:
    """Return the patch that makes `modified` of `current` (`CreateThreeWayMergePatch`).

    What `original` has and `modified` has not is removed; what only `current` has stays.
    """
    patch: JSON = {key: None for key in original if key not in modified}
    for key, value in modified.items():
        patch |= _field(key, original.get(key), value, current.get(key))
    return patch


def _field(key: str, original: Any, modified: Any, current: Any) -> JSON:
    """Return the part of a patch that concerns one field."""
    if isinstance(modified, dict) and isinstance(current, dict):
        inner = three_way(original if isinstance(original, dict) else {}, modified, current)
        return {key: inner} if inner else {}
    by = _merge_key(key, modified)
    if by and isinstance(current, list):
        return _elements(key, by, original or [], modified, current)
    return {} if modified == current else {key: modified}


def _merge_key(key: str, elements: Any) -> str:
    if not isinstance(elements, list):
        return ""
    known = MERGE_KEYS.get(key, ())
    return next((by for by in known if all(by in each for each in elements)), "")


def _elements(
    key: str, by: str, original: list[JSON], modified: list[JSON], current: list[JSON]
) -> JSON:
    """Return the part of a patch that concerns a list whose elements have a key."""
    before = {each[by]: each for each in original}
    live = {each[by]: each for each in current}
    changed: list[JSON] = []
    for each in modified:
        name = each[by]
        patch = three_way(before.get(name, {}), each, live[name]) if name in live else each
        if patch:
            changed.append({**patch, by: name})
    names = {each[by] for each in modified}
    changed += [{"$patch": "delete", by: name} for name in before if name not in names]
    if not changed and [each[by] for each in modified] == [*live]:
        return {}
    order = {f"$setElementOrder/{key}": [{by: each[by]} for each in modified]}
    return order | ({key: changed} if changed else {})

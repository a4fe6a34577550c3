"""The algebra of managed fields: sets of fields as the API server writes them (FieldsV1).

A set is a tree that says which parts of a JSON value belong to it: `{}` is the whole value, `{".":
{}}` the map, list or item as such without its contents, else the keys `f:name` (a field), `k:{...}`
(the list item with these keys), `v:...` (the item of a set) and `i:n` (an index). None is the empty
set. Nothing is changed in place; results share parts with their inputs.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Fields = Mapping[str, Any]
ITSELF = "."

_MISSING = object()
_ITEM = re.compile(r'\[((?:[^\]"]|"(?:[^"\\]|\\.)*")*)\]')
_ITEM_KEY = re.compile(r'([^=,]+)=("(?:[^"\\]|\\.)*"|[^,]*)')


def union(a: Fields | None, b: Fields | None) -> Fields | None:
    """Return the fields of either set."""
    if a is None or b is None:
        return b if a is None else a
    if not a or not b:
        inner = a or b
        return {ITSELF: {}, **inner} if inner else {}
    return {key: union(a.get(key), b.get(key)) for key in {**a, **b}}


def subtract(a: Fields | None, b: Fields | None) -> Fields | None:
    """Return the fields of `a` that `b` does not name; a map stays if only its contents are."""
    if a is None or b is None:
        return a
    if not a:
        return None if _names_itself(b) else a
    left = {key: subtract(inner, (b or {ITSELF: {}}).get(key)) for key, inner in a.items()}
    return {key: inner for key, inner in left.items() if inner is not None} or None


def intersect(a: Fields | None, b: Fields | None) -> Fields | None:
    """Return the fields that both sets name."""
    if a is None or b is None:
        return None
    if not a or not b:
        both_whole = not a and not b
        return {} if both_whole else {ITSELF: {}} if ITSELF in (a or b) else None
    common = {key: intersect(inner, b.get(key)) for key, inner in a.items()}
    return {key: inner for key, inner in common.items() if inner is not None} or None


def _names_itself(fields: Fields) -> bool:
    return not fields or ITSELF in fields


def descend(fields: Fields | None, *names: str) -> Fields | None:
    """Return what the set says of the field at `names`; `{}` too if it holds a parent whole."""
    for name in names:
        if not fields:
            return fields
        fields = fields.get(f"f:{name}")
    return fields


def paths(fields: Fields | None) -> tuple[str, ...]:
    """Name each field that is held whole, as in `spec.containers[name="web"].image`.

    The API server names fields like this in a conflict, with a leading dot.
    """
    return () if fields is None else tuple(_paths(fields, ""))


def _paths(fields: Fields, path: str) -> Iterator[str]:
    if not fields:
        yield path.removeprefix(".")
    for key, inner in fields.items():
        if key != ITSELF:
            yield from _paths(inner, path + _step(key))


def _step(key: str) -> str:
    """Name one key of a tree; unprintable text is escaped."""
    kind, text = key[:2], key[2:]
    if kind == "k:":
        return "[" + ",".join(f"{name}={json.dumps(v)}" for name, v in _keys(text)) + "]"
    printable = text if text.isprintable() else json.dumps(text)
    return {"v:": f"[={printable}]", "i:": f"[{printable}]"}.get(kind, f".{printable}")


def extract(value: Any, fields: Fields) -> Any:
    """Return the part of `value` that the set names, as client-go's `Extract...` functions do.

    List items come in the order of `value` and keep the keys that identify them. What the set names
    and `value` lacks is left out.
    """
    if not fields:
        return value
    if isinstance(value, Mapping):
        return {
            key[2:]: extract(value[key[2:]], inner)
            for key, inner in fields.items()
            if key.startswith("f:") and key[2:] in value
        }
    return _extract_items(value, fields) if isinstance(value, list) else value


def _extract_items(items: list[Any], fields: Fields) -> list[Any]:
    taken = []
    for index, item in enumerate(items):
        for key, inner in fields.items():
            if _selects(key, index, item):
                part = extract(item, inner)
                taken.append({**_names(key, inner), **part} if key[:2] == "k:" else part)
                break
    return taken


def _names(key: str, fields: Fields) -> dict[str, Any]:
    """Return the keys that have to name a list item.

    A key that nobody set is a default (`protocol: TCP` of a port): if the item's owner named it by
    other keys, sending the default would make the owner own it.
    """
    keys = dict(_keys(key[2:]))
    owned = {name: value for name, value in keys.items() if f"f:{name}" in fields}
    return owned or keys


def still_holds(ours: Any, fields: Fields | None, live: Any) -> bool:
    """Return whether `live` has every named field of `ours`, with its value."""
    return not differing(ours, fields, live)


IsSame = Callable[[Any, Any, tuple[str, ...]], bool]
"""Compares two values of a field, whose keys in the tree lead to it; None is a value that lacks."""


def differing(
    ours: Any, fields: Fields | None, live: Any, is_same: IsSame | None = None
) -> tuple[str, ...]:
    """Name the fields of `ours` that `live` lacks or has with another value.

    List items are found by their keys, whatever their order; `ours` may leave out a key that the
    server defaults (`protocol` of a port). What else `live` has does not count, nor does a named
    field that `ours` lacks: the server drops what is null or empty. Without `is_same` only what is
    equal is the same.
    """
    return () if fields is None else tuple(_differing(ours, fields, live, (), is_same or _same))


def _differing(
    ours: Any, fields: Fields, live: Any, keys: tuple[str, ...], is_same: IsSame
) -> Iterator[str]:
    if not fields and not is_same(ours, live, keys):
        yield _path(keys)
    for key, inner in fields.items():
        mine = _at(ours, key)
        if mine is _MISSING:
            mine = _without_defaults(ours, key)
        if mine is _MISSING or mine is None:
            continue
        theirs, there = _at(live, key), (*keys, key)
        if theirs is not _MISSING:
            yield from _differing(mine, inner, theirs, there, is_same)
        elif not is_same(mine, None, there):
            yield _path(there)


def _path(keys: tuple[str, ...]) -> str:
    return "".join(map(_step, keys)).removeprefix(".")


def select_changed(before: Any, after: Any, fields: Fields | None) -> Fields | None:
    """Return those of the named fields that `before` has with another value than `after`."""
    if not fields:
        return fields if fields is not None and before != after else None
    found = {
        key: select_changed(there, _at(after, key), inner)
        for key, inner in fields.items()
        if (there := _at(before, key)) is not _MISSING
    }
    return {key: inner for key, inner in found.items() if inner is not None} or None


def select_left_out(before: Any, after: Any, fields: Fields | None) -> Fields | None:
    """Return those of the named fields that `before` has and `after` lacks, each as a whole.

    An item of a list whose keys `after` leaves to defaults is not lacking.
    """
    found: dict[str, Any] = {}
    for key, inner in (fields or {}).items():
        if (there := _at(before, key)) is _MISSING:
            continue
        here = _at(after, key)
        if here is _MISSING:
            here = _without_defaults(after, key)
        left = inner if here is _MISSING else select_left_out(there, here, inner)
        if left is not None:
            found[key] = left
    return found or None


def _same(ours: Any, live: Any, _: tuple[str, ...]) -> bool:
    """Compare a field held whole: an empty map or list only means that there is one."""
    if ours in ({}, []):
        return type(ours) is type(live)
    return bool(ours == live)


def _at(value: Any, key: str) -> Any:
    """Return what a key of a tree selects in `value`, or `_MISSING`."""
    if isinstance(value, Mapping):
        return value.get(key[2:], _MISSING) if key.startswith("f:") else _MISSING
    if isinstance(value, list):
        chosen = (item for index, item in enumerate(value) if _selects(key, index, item))
        return next(chosen, _MISSING)
    return _MISSING


def _without_defaults(value: Any, key: str) -> Any:
    """Return the one list item that has some of the keys and contradicts none, or `_MISSING`."""
    if key[:2] != "k:" or not isinstance(value, list):
        return _MISSING
    keys = _keys(key[2:])
    found = [
        item
        for item in value
        if isinstance(item, Mapping)
        and any(name in item for name, _ in keys)
        and all(item.get(name, wanted) == wanted for name, wanted in keys)
    ]
    return found[0] if len(found) == 1 else _MISSING


def _selects(key: str, index: int, item: Any) -> bool:
    kind, text = key[:2], key[2:]
    if kind == "k:":
        keys = _keys(text)
        return bool(keys) and isinstance(item, Mapping) and all(item.get(n) == v for n, v in keys)
    return bool(item == _json(text)) if kind == "v:" else kind == "i:" and text == str(index)


@functools.lru_cache(maxsize=4096)
def _keys(text: str) -> tuple[tuple[str, Any], ...]:
    """Read the keys of a list item, sorted by name; none if the text has another form."""
    keys = _json(text)
    return tuple(sorted(keys.items())) if isinstance(keys, dict) else ()


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return _MISSING


def graft(value: Any, source: Any, fields: Fields) -> Any:
    """Return `value` with the named fields as `source` has them; what `source` lacks is left out.

    `value` is None if nothing is there yet. List items are found by their keys.
    """
    if not fields:
        return source
    if isinstance(source, list):
        return _with_items(value if isinstance(value, list) else [], source, fields)
    found = dict(value) if isinstance(value, Mapping) else {}
    for key, inner in fields.items():
        theirs = _at(source, key)
        if theirs is not _MISSING and key != ITSELF:
            found[key[2:]] = graft(found.get(key[2:]), theirs, inner)
    return found


def _with_items(items: list[Any], source: list[Any], fields: Fields) -> list[Any]:
    found = list(items)
    for key, inner in fields.items():
        theirs = _at(source, key)
        if theirs is _MISSING:
            continue
        index = next((i for i, item in enumerate(found) if _selects(key, i, item)), None)
        if index is None:
            found.extend(_extract_items([theirs], {key: inner}))
        else:
            found[index] = graft(found[index], theirs, inner)
    return found


def remove_field(value: Any, path: str) -> Any:
    """Return `value` without the field at `path`, `value` itself if there is none.

    `path` is as `paths` or the API server names it; names may hold dots. Maps and lists that
    become empty go too, since applying an empty one would claim it.

    """
    return _remove_at(value, path if path.startswith((".", "[")) else f".{path}")


def _remove_at(value: Any, path: str) -> Any:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            step, rest = f".{name}", path[len(name) + 1 :]
            if path.startswith(step) and (not rest or rest[0] in ".["):
                left = _remove_at(inner, rest) if rest else None
                if left is not inner:
                    others = {key: kept for key, kept in value.items() if key != name}
                    return {**others, name: left} if left else others
    item = _ITEM.match(path)
    return _without_item(value, item) if item and isinstance(value, list) else value


def _without_item(items: list[Any], step: re.Match[str]) -> list[Any]:
    """Remove a field, or the whole item, from the list; the item may lack defaulted keys."""
    key, rest = _key(step[1]), step.string[step.end() :]
    is_there = any(_selects(key, index, item) for index, item in enumerate(items))
    unnamed = _MISSING if is_there else _without_defaults(items, key)
    kept = []
    for index, item in enumerate(items):
        left = item
        if item is unnamed or _selects(key, index, item):
            left = _remove_at(item, rest) if rest else None
        if left is item or left:
            kept.append(left)
    return items if kept == items else kept


def _key(text: str) -> str:
    """Turn the text between brackets back into the key of a tree."""
    if text.startswith("="):
        return f"v:{text[1:]}"
    if text.isdigit():
        return f"i:{text}"
    return "k:{" + ",".join(f"{json.dumps(n)}:{v}" for n, v in _ITEM_KEY.findall(text)) + "}"

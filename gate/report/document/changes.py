"""What an apply changed in an object, as paths; values that may be secret are masked."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gate.core.model.body import Body
from gate.core.plan.rollback_plan import content
from gate.core.ssa.last_applied import without_last_applied
from gate.report.schema.result import ChangedPath
from gate.wire.masking import Masker
from gate.wire.untrusted import clean_line

MOST_PATHS: Final = 50
MASKED: Final = "masked"
_MOST_CHARACTERS: Final = 200
_ABSENT: Final = object()
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ITEM_KEYS: Final = ("name", "containerPort", "port", "mountPath", "topologyKey", "key", "ip")
"""Fields that identify an item of a list (`x-kubernetes-list-map-keys`)."""

Difference = tuple[str, Any, Any]


def changed_paths(before: Body, after: Body) -> list[ChangedPath]:
    """Return the fields that differ, in the order of `after`, at most 50; status is ignored."""
    masker = Masker()
    bare = (without_last_applied(content(body)) for body in (before, after))
    old, new = map(masker.mask_object, bare)
    found = itertools.islice(_differences("", old, new), MOST_PATHS)
    return [
        {"path": path, "before": _format_value(was), "after": _format_value(now)}
        for path, was, now in found
    ]


def _differences(path: str, old: Any, new: Any) -> Iterator[Difference]:
    """Yield the leaves that differ; `_ABSENT` stands for what is not there."""
    if old == new:
        return
    if _both(Mapping, old, new):
        yield from _in_maps(path, _or(old, {}), _or(new, {}))
    elif _both(list, old, new):
        yield from _in_lists(path, _or(old, []), _or(new, []))
    else:
        yield (path, old, new)


def _both(kind: type, old: Any, new: Any) -> bool:
    """Tell whether both are of that kind; one may be missing, and one has to hold something."""
    there = [value for value in (old, new) if value is not _ABSENT]
    return all(isinstance(value, kind) for value in there) and any(there)


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is _ABSENT else value


def _in_maps(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Difference]:
    for key in dict.fromkeys([*new, *old]):
        step = f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{json.dumps(clean_line(key))}]"
        inner = f"{path}{step}".removeprefix(".")
        yield from _differences(inner, old.get(key, _ABSENT), new.get(key, _ABSENT))


def _in_lists(path: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Difference]:
    key = next((key for key in _ITEM_KEYS if _tells_apart(key, old) and _tells_apart(key, new)), "")
    if not key:
        for index, (was, now) in enumerate(itertools.zip_longest(old, new, fillvalue=_ABSENT)):
            yield from _differences(f"{path}[{index}]", was, now)
        return
    before, after = ({item[key]: item for item in items} for items in (old, new))
    for index, name in enumerate(dict.fromkeys([*after, *before])):
        label = f"{key}={clean_line(str(name))}" if _format_value(name) != MASKED else str(index)
        yield from _differences(
            f"{path}[{label}]", before.get(name, _ABSENT), after.get(name, _ABSENT)
        )


def _tells_apart(key: str, items: Sequence[Any]) -> bool:
    """Tell whether each item has that field, each with a different value."""
    values = [item.get(key) for item in items if isinstance(item, Mapping)]
    known = all(isinstance(value, str | int) for value in values)
    return known and len(values) == len(items) == len(set(values))


def _format_value(value: Any) -> str | None:
    if value is _ABSENT:
        return None
    if not isinstance(value, str):
        return json.dumps(value)
    # The digits distinguish values within one recording; here they would only be noise.
    return MASKED if value.startswith(f"{MASKED}:") else clean_line(value, _MOST_CHARACTERS)

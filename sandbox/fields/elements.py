"""Path elements: the steps from an object to a field, as FieldsV1 writes them.

`f:NAME` is a field or a map's entry, `k:{"KEY":VALUE,...}` an item of a list by its keys, `v:VALUE`
an item of a set, `i:INDEX` one of any list. `.` beside them is no step: it marks that the place
itself is in the set.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from sandbox.schema import MISSING, Type

SELF = "."

_CACHED_ELEMENTS = 16_384


class ElementError(Exception):
    """An item that cannot be told apart from the others of its list."""


def item_element(item: Any, items: Type) -> str:
    """Return the element of an item of an associative list; raises `ElementError`.

    Keys that the item leaves out count with the default that the schema declares for them.
    """
    if not items.keys:
        return _set_element(item)
    if item is None:
        raise ElementError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise ElementError("associative list with keys may not have non-map elements")
    if len(items.keys) == 1 and isinstance(value := item.get(items.keys[0]), str):
        return _one_key_element(items.keys[0], value)
    return _keyed_element(item, items)


def _keyed_element(item: dict[str, Any], items: Type) -> str:
    found = {}
    for key in items.keys:
        field = items.element.fields.get(key) if items.element else None
        value = item.get(key, field.default if field else MISSING)
        if value is not MISSING:
            found[key] = value
    if not found:
        keys = " ".join(f'"{key}"' for key in items.keys)
        raise ElementError(
            f"associative list with keys has an element that omits all key fields [{keys}]"
            " (and doesn't have default values for any key fields)"
        )
    return f"k:{go_json({key: found[key] for key in sorted(found)})}"


def _set_element(item: Any) -> str:
    if isinstance(item, dict):
        raise ElementError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise ElementError("not supported: associative list with lists as elements")
    if item is None:
        raise ElementError("associative list without keys has an element that's an explicit null")
    return f"v:{go_json(item)}"


@lru_cache(_CACHED_ELEMENTS)
def _one_key_element(key: str, value: str) -> str:
    return f"k:{go_json({key: value})}"


def go_json(value: Any) -> str:
    """Return compact, sorted JSON with HTML's letters escaped, as the server's encoder has it."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def is_known(element: str) -> bool:
    """Tell whether an element is of a kind that is kept; raises ValueError for no element."""
    if element != SELF and element[1:2] != ":":
        raise ValueError(f"missing colon: {element}")
    return element == SELF or element[0] in "fikv"


@lru_cache(_CACHED_ELEMENTS)
def order_of(element: str) -> tuple[Any, ...]:
    """Return what elements are sorted by: fields by name, then keys and values by what they are."""
    if element.startswith("k:"):
        return (2, tuple((key, _rank(value)) for key, value in json.loads(element[2:]).items()))
    if element.startswith("i:"):
        return (4, int(element[2:]))
    if element.startswith("v:"):
        return (3, _rank(json.loads(element[2:])))
    return (1, element) if element != SELF else (0, element)


def _rank(value: Any) -> tuple[int, Any]:
    if isinstance(value, bool):
        return (2, value)
    return (0, value) if isinstance(value, int | float) else (1, str(value))


@lru_cache(_CACHED_ELEMENTS)
def describe_element(element: str) -> str:
    """Return an element as messages name it: `.spec`, `[name="app"]`, `[="finalizer"]`."""
    kind, text = element[:2], element[2:]
    if kind == "k:":
        keys = json.loads(text).items()
        return f"[{','.join(f'{key}={_spoken_value(value)}' for key, value in keys)}]"
    if kind == "v:":
        return f"[={_spoken_value(json.loads(text))}]"
    return f"[{text}]" if kind == "i:" else f".{text}"


def _spoken_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

"""The path of one value in a JSON document, as `$.items[0]["ready-since"]`: no wildcards."""

from __future__ import annotations

import re
from typing import Any, Final

JsonPath = tuple[str | int, ...]
"""Keys of objects and indexes of arrays, from the root."""

_STEP: Final = re.compile(
    r"""\.?(?P<key>[A-Za-z_][A-Za-z0-9_-]*)|\[(?:(?P<index>[0-9]{1,6})|(?P<quote>["'])(?P<text>[^"'\\]*)(?P=quote))\]""",
    re.ASCII,
)


def parse(text: str) -> JsonPath:
    """Read a path; the `$` of the root may be left out. ValueError for anything else."""
    path: list[str | int] = []
    at = 1 if text.startswith("$") else 0
    while at < len(text):
        step = _STEP.match(text, at)
        glued = step is not None and at > 0 and step["key"] is not None and text[at] != "."
        if step is None or glued:
            raise ValueError(f"not a JSON path, as in $.items[0].ready: {text[:60]!a}")
        key = step["key"] if step["key"] is not None else step["text"]
        path.append(int(step["index"]) if key is None else key)
        at = step.end()
    if not path:
        raise ValueError("a JSON path has to name something, as in $.items[0].ready")
    return tuple(path)


def number_at(document: Any, path: JsonPath) -> float | None:
    """Return the number at `path`; true counts as 1, false as 0. None if there is no number."""
    here = document
    for step in path:
        here = _within(here, step)
    try:
        return float(here) if isinstance(here, int | float) else None
    except OverflowError:
        return None


def _within(value: Any, step: str | int) -> Any:
    """Return the element at one step, None if there is none."""
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return None

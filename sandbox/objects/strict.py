"""Unknown and duplicate fields, which strict decoding names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.decoding import GoField, element_of, root_of, structs
from sandbox.objects.validation.errors import quote_text

MOST_ERRORS = 100


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as it stands in the text: its keys in order, the repeated ones too."""


def strict_errors(resource: Resource, body: JSON, raw: bytes | None = None) -> list[str]:
    """Return what strict decoding finds: `unknown field "spec.foo"`, `duplicate field "spec.bar"`.

    Duplicates are seen only in `raw`, the JSON of the request. To be asked where decoding goes
    well: a wrong type is told before. The entries are the `Warning` headers of
    `fieldValidation=Warn`; for `Strict` see `strict_refusal`.
    """
    found: dict[str, None] = {}
    value = json.loads(raw, object_pairs_hook=_Pairs) if raw is not None else body
    for error in _in_struct(structs()[root_of(resource)], value, ""):
        found.setdefault(error)
    return list(found)[:MOST_ERRORS]


def strict_refusal(resource: Resource, errors: Sequence[str]) -> ApiError:
    """Return the 400 of `fieldValidation=Strict`."""
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}:'
        f" strict decoding error: {', '.join(errors)}"
    )


def _pairs(value: Any) -> Sequence[tuple[str, Any]]:
    if isinstance(value, dict):
        return [*value.items()]
    return value if isinstance(value, _Pairs) else ()


def _in_struct(fields: Mapping[str, GoField], value: Any, path: str) -> Iterator[str]:
    seen: set[str] = set()
    for name, item in _pairs(value):
        at = f"{path}.{name}" if path else name
        if name not in fields:
            yield f"unknown field {quote_text(at)}"
            continue
        if name in seen:
            yield f"duplicate field {quote_text(at)}"
        seen.add(name)
        yield from _in_value(fields[name].type, item, at)


def _in_value(kind: str, value: Any, path: str) -> Iterator[str]:
    if fields := structs().get(kind):
        yield from _in_struct(fields, value, path)
        return
    element = element_of(kind)
    if element is None:
        return
    if kind.startswith("[]"):
        if isinstance(value, list) and not isinstance(value, _Pairs):
            for index, item in enumerate(value):
                yield from _in_value(element, item, f"{path}[{index}]")
        return
    seen: set[str] = set()
    for name, item in _pairs(value):
        at = f"{path}.{name}"
        if name in seen:
            yield f"duplicate field {quote_text(at)}"
        seen.add(name)
        yield from _in_value(element, item, at)

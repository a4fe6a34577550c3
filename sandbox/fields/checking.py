"""An applied configuration against its schema: the errors that keep it from being merged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sandbox.failure import ApiError
from sandbox.fields.sets import ElementError, describe_element, item_element
from sandbox.json import JSON, dig
from sandbox.schema import Shape, Type, spell_value, spelled_type


class NotTyped(Exception):
    """The configuration does not fit its schema; the message is the server's."""

    def refusal(self) -> ApiError:
        """Return what the server answers: a 500 without a reason."""
        return ApiError(500, "", str(self))


def check(applied: JSON, kind: Type, group: str, version: str) -> None:
    """Raise `NotTyped` with all that is wrong; duplicates in associative lists are."""
    errors = list(_errors(applied, kind, ""))
    if not errors:
        return
    message = errors[0] if len(errors) == 1 else "\n  ".join(["errors:", *errors])
    about = _about(applied, group, version)
    raise NotTyped(f"failed to create typed patch object ({about}): {message}")


def unmergeable(live: JSON, kind: Type, group: str, version: str) -> NotTyped:
    """Return the error of an apply onto an object with items that cannot be told apart."""
    message = next(_errors(live, kind, ""), "")
    return NotTyped(
        "failed to create manager for existing fields: failed to convert new object"
        f" ({_about(live, group, version)}) to smd typed: {message}"
    )


def _about(body: JSON, group: str, version: str) -> str:
    name, namespace = dig(body, "metadata", "name"), dig(body, "metadata", "namespace")
    return f"{namespace or ''}/{name or ''}; {group}/{version}, Kind={body.get('kind', '')}"


def _errors(value: Any, kind: Type, path: str) -> Iterator[str]:
    if value is None or kind.shape is Shape.ANY:
        return
    if kind.shape in {Shape.STRUCT, Shape.MAP}:
        yield from _map_errors(value, kind, path)
    elif kind.shape is Shape.LIST:
        yield from _list_errors(value, kind, path)
    elif expected := _scalar_mismatch(value, kind):
        yield f"{path}: expected {expected}"


def _map_errors(value: Any, kind: Type, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: expected map, got &{{{spell_value(value)}}}"
        return
    for name, part in value.items():
        below = kind.field_type(name)
        if below is None:
            yield f"{path}.{name}: field not declared in schema"
            return
        yield from _errors(part, below, f"{path}.{name}")


def _list_errors(value: Any, kind: Type, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: expected list, got &{{{spell_value(value)}}}"
        return
    seen: set[str] = set()
    for index, item in enumerate(value):
        step = f"[{index}]"
        if not kind.is_atomic:
            try:
                element = item_element(item, kind)
            except ElementError as error:
                yield f"{path}: element {index}: {error}"
                return
            step = describe_element(element)
            if element in seen:
                yield f"{path}: duplicate entries for key {step}"
            seen.add(element)
        yield from _errors(item, kind.element or kind, f"{path}{step}")


def _scalar_mismatch(value: Any, kind: Type) -> str:
    """Return what was expected and what came, the empty string where they agree."""
    if kind.shape is Shape.NUMBER and (
        isinstance(value, bool) or not isinstance(value, int | float)
    ):
        return f"numeric (int or float), got {spelled_type(value)}"
    if kind.shape is Shape.STRING and not isinstance(value, str):
        return f"string, got &value.valueUnstructured{{Value:{spell_value(value)}}}"
    if kind.shape is Shape.BOOLEAN and not isinstance(value, bool):
        return f"boolean, got &{{{spell_value(value)}}}"
    if isinstance(value, dict | list):
        return f"any scalar, got &{{{spell_value(value)}}}"
    return ""

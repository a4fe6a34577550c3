"""Read a mapping of a file by its model: its keys, or all that is wrong with them, by path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gate.config.checks.complaints import complaint
from gate.config.checks.keys import Keys, keys_of, spelt
from gate.config.option import closest
from gate.config.taking import BadValueError, Fault, Path

Model = TypeVar("Model", bound=Keys)


def read_mapping(
    form: type[Model], given: object, variables: frozenset[str] = frozenset()
) -> tuple[Model | None, list[Fault]]:
    """Return the keys, or None and what is wrong with them.

    `variables` are those that its queries may use. A complaint never shows a value of the wrong
    kind: it could hold a password.
    """
    if not isinstance(given, Mapping):
        return None, [Fault((), "not a mapping")]
    try:
        return form.model_validate(dict(given), context=variables), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        return None, [fault for each in details for fault in _faults(form, each)]


def unknown_key(word: str, known: Sequence[str]) -> Fault:
    """Return the complaint about a key, with the one likely meant; keys are spelt with hyphens."""
    hyphened = spelt(word)
    guess = hyphened if hyphened in known else closest(hyphened, known)
    suggestion = f' (did you mean "{guess}"?)' if guess else ""
    return Fault((word,), f"unknown key{suggestion}")


def _faults(form: type[BaseModel], details: ErrorDetails) -> Iterator[Fault]:
    path: Path = details["loc"]
    cause: Any = details.get("ctx", {}).get("error")
    if isinstance(cause, BadValueError):
        yield from (replace(fault, path=(*path, *fault.path)) for fault in cause.faults)
    elif details["type"] == "extra_forbidden":
        known = keys_of(_model_at(form, path[:-1]))
        yield replace(unknown_key(str(path[-1]), known), path=path)
    elif details["type"] == "missing":
        yield Fault(path[:-1], f'has no "{path[-1]}"')
    elif said := complaint(details, _field_at(form, path)):
        yield Fault(path, *said)
    else:
        keys = ", ".join(keys_of(_model_at(form, path)))
        yield Fault(path, "not a mapping", f"its keys are {keys}")


def _model_at(form: type[BaseModel], path: Path) -> type[BaseModel]:
    """Return the model of the mapping at `path`."""
    for step in path:
        annotation: Any = _field(form, step).annotation
        kinds = getattr(annotation, "__args__", (annotation,))
        form = next(kind for kind in kinds if issubclass(kind, BaseModel))
    return form


def _field_at(form: type[BaseModel], path: Path) -> FieldInfo:
    """Return the field of the value at `path`."""
    return _field(_model_at(form, path[:-1]), path[-1])


def _field(form: type[BaseModel], key: str | int) -> FieldInfo:
    fields = form.model_fields.items()
    return next(field for name, field in fields if key == (field.alias or spelt(name)))

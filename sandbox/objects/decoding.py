"""JSON to what the server's typed object would hold, written back as the server writes it.

Unknown fields and nulls go, types are checked, quantities and times take their canonical form,
empty optional fields go and empty mandatory ones come. Types are compiled to closures, once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from sandbox.failure import ApiError, bad_request
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.scalars import SCALAR_READERS, Mismatch, named_string_reader
from sandbox.objects.validation.errors import quote_text


@dataclass(frozen=True, slots=True)
class GoField:
    """One field of a struct, as its JSON tag has it."""

    type: str
    is_pointer: bool
    omits_empty: bool
    omits_zero: bool


@cache
def structs() -> Mapping[str, Mapping[str, GoField]]:
    """Return the fields of every struct by its name; read once, on first use."""
    text = files("sandbox.objects").joinpath("gotypes.json").read_text(encoding="utf-8")
    return {
        struct: {
            name: GoField(kind, "p" in flags, "o" in flags, "z" in flags)
            for name, (kind, flags) in fields.items()
        }
        for struct, fields in json.loads(text).items()
    }


@cache
def root_of(resource: Resource) -> str:
    """Return the name of the struct of a kind: `apps/v1.Deployment`, `core/v1.Pod`."""
    group = resource.group.split(".", maxsplit=1)[0] or "core"
    return f"{group}/{resource.version}.{resource.kind}"


def is_struct(kind: str) -> bool:
    """Whether a type's text names a struct."""
    return kind in structs()


def element_of(kind: str) -> str | None:
    """Return what a list or a map holds, None for any other type."""
    if kind == "ResourceList":
        return "Quantity"
    return kind[2:] if kind[:2] in {"[]", "{}"} else None


def describe_type(kind: str) -> str:
    """Return a type as Go's messages name it: `int32`, `[]v1.Container`, `map[string]string`."""
    if kind[:2] == "[]":
        return f"[]{describe_type(kind[2:])}"
    if kind[:2] == "{}":
        return f"map[string]{describe_type(kind[2:])}"
    if kind == "bytes":
        return "[]uint8"
    if kind == "ResourceList":
        return "v1.ResourceList"
    scalar, _, name = kind.partition(" ")
    return name or scalar.rpartition("/")[2]


Reader = Callable[[Any], Any]
Defaulter = Callable[[JSON], None]

_ZEROS: Mapping[str, Any] = {
    "string": "",
    "bytes": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "Quantity": "0",
    "IntOrString": 0,
}
_STRUCT_LIKE = frozenset({"IntOrString", "MicroTime", "Quantity", "Time"})
"""Leaf types that are structs in Go: `omitempty` does not leave them out either."""


class Decoder:
    """Reads objects by their Go types; `defaults` are run on each struct that has one.

    A defaulter changes the struct in place: it is fresh, its own fields are decoded and defaulted,
    and an empty optional field is absent.
    """

    def __init__(self, defaults: Mapping[str, Defaulter]) -> None:
        self._defaults = defaults
        self._readers: dict[str, Reader] = dict(SCALAR_READERS)

    def read(self, struct: str, body: Any) -> JSON:
        """Return the object; raises `Mismatch` where a value has the wrong type."""
        found: JSON = self.reader(struct)(body)
        return found

    def reader(self, kind: str) -> Reader:
        """Return the function that reads a type."""
        known = self._readers.get(kind)
        if known is None:
            known = self._compile_reader(kind)
            self._readers[kind] = known
        return known

    def _compile_reader(self, kind: str) -> Reader:
        if is_struct(kind):
            return self._struct_reader(kind)
        element = element_of(kind)
        if element is None:
            return named_string_reader(describe_type(kind))
        item = "ResourceQuantity" if kind == "ResourceList" else element
        if kind.startswith("[]"):
            return _list_reader(kind, self.reader(item), self._zero_of(element))
        return _map_reader(kind, self.reader(item), self._zero_of(element))

    def _struct_reader(self, name: str) -> Reader:
        fields = structs()[name]
        readers: dict[str, tuple[Reader, bool]] = {}
        default = self._defaults.get(name)

        def read(value: Any) -> JSON:
            found = _read_fields(name, readers, value)
            for key, zero in always:
                if key not in found:
                    found[key] = zero()
            if default is not None:
                default(found)
            return found

        # Known before its fields are compiled: a struct may hold itself.
        self._readers[name] = read
        for key, field in fields.items():
            readers[key] = (self.reader(field.type), field.is_pointer or _is_always(field))
        always = [
            (key, (lambda: None) if field.is_pointer else self._zero_of(field.type))
            for key, field in fields.items()
            if _is_always(field)
        ]
        return read

    def _zero_of(self, kind: str) -> Callable[[], Any]:
        if is_struct(kind):
            reader = self.reader(kind)
            return lambda: reader({})
        zero = _ZEROS.get(kind.partition(" ")[0])
        return lambda: zero


def _read_fields(name: str, readers: Mapping[str, tuple[Reader, bool]], value: Any) -> JSON:
    """Return the known fields that hold something."""
    if type(value) is not dict:
        raise Mismatch(value, describe_type(name))
    found: JSON = {}
    for key, item in value.items():
        if item is None or key not in readers:
            continue
        reader, keeps_empty = readers[key]
        try:
            got = reader(item)
        except Mismatch as error:
            error.within(name.rpartition(".")[2], key)
            raise
        if got or keeps_empty:
            found[key] = got
    return found


def _is_always(field: GoField) -> bool:
    """Whether the server writes a field also where it is empty: `omitempty` skips no struct."""
    if field.omits_zero:
        return False
    is_struct_like = field.type in _STRUCT_LIKE or is_struct(field.type)
    return not field.omits_empty or (not field.is_pointer and is_struct_like)


def _list_reader(kind: str, read: Reader, zero: Callable[[], Any]) -> Reader:
    def read_list(value: Any) -> list[Any]:
        if type(value) is not list:
            raise Mismatch(value, describe_type(kind))
        return [zero() if item is None else read(item) for item in value]

    return read_list


def _map_reader(kind: str, read: Reader, zero: Callable[[], Any]) -> Reader:
    def read_map(value: Any) -> JSON:
        if type(value) is not dict:
            raise Mismatch(value, describe_type(kind))
        return {key: zero() if item is None else read(item) for key, item in value.items()}

    return read_map


MOST_ERRORS = 100


def strict_errors(resource: Resource, body: JSON) -> list[str]:
    """Return what strict decoding finds: `unknown field "spec.foo"`.

    To be asked where decoding goes well: a wrong type is told before. The entries are the
    `Warning` headers of `fieldValidation=Warn`; for `Strict` see `strict_refusal`. Clients send
    what they have decoded, so a field that is there twice is not looked for.
    """
    return [*dict.fromkeys(_in_value(root_of(resource), body, ""))][:MOST_ERRORS]


def strict_refusal(resource: Resource, errors: Sequence[str]) -> ApiError:
    """Return the 400 of `fieldValidation=Strict`."""
    return bad_request(
        f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}:'
        f" strict decoding error: {', '.join(errors)}"
    )


def _in_value(kind: str, value: Any, path: str) -> Iterator[str]:
    if fields := structs().get(kind):
        for name, item in value.items() if isinstance(value, dict) else ():
            at = f"{path}.{name}" if path else name
            if name in fields:
                yield from _in_value(fields[name].type, item, at)
            else:
                yield f"unknown field {quote_text(at)}"
    elif element := element_of(kind):
        if kind.startswith("[]") and isinstance(value, list):
            for index, item in enumerate(value):
                yield from _in_value(element, item, f"{path}[{index}]")
        elif not kind.startswith("[]") and isinstance(value, dict):
            for name, item in value.items():
                yield from _in_value(element, item, f"{path}.{name}")

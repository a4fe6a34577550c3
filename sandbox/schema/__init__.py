"""Types of the API as a walk over an object meets them, read once from the data file.

`openapi.json` is written by `python -m tests.cluster.schemas` from a real server. It holds
`server` (its version) and `schemas`: the OpenAPI v3 definitions by name, as `components.schemas` of
the server's documents has them, without descriptions. A property that refers to a definition is
`{"allOf": [{"$ref": "#/components/schemas/NAME"}], ...}` with its own default and extensions beside
it. A kind's definition carries `x-kubernetes-group-version-kind`, one entry.

A list is atomic unless `list-type` says `set` or `map`, or, where it says nothing, the patch
strategy is a merge; a map is granular unless `map-type` says `atomic`; an object without properties
holds anything. So does the server convert them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from importlib.resources import files
from typing import Any, Final

from sandbox.json import JSON
from sandbox.kinds import Resource


class Missing(Enum):
    """The mark of a value that is not there, where None is a value (JSON's null)."""

    MISSING = auto()


MISSING: Final = Missing.MISSING


class Shape(Enum):
    """What a value of a type is made of."""

    STRUCT = auto()
    """Named fields, each with its own type; other names are errors."""

    MAP = auto()
    """Any names, one type for all of their values."""

    LIST = auto()
    STRING = auto()
    NUMBER = auto()
    BOOLEAN = auto()

    SCALAR = auto()
    """A string or a number: quantities, times."""

    ANY = auto()
    """Whatever JSON there is: raw extensions, numbers or names of ports."""


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """One type; types are compared by identity, each is made once."""

    shape: Shape
    fields: Mapping[str, Field]
    """Of a struct, by name."""

    element: Type | None = None
    """Of a map or a list: the type of what it holds."""

    is_atomic: bool = False
    """Owned, merged and compared as one value (`x-kubernetes-map-type`, `-list-type`)."""

    keys: tuple[str, ...] = ()
    """Of an associative list: what tells its items apart; empty for a set of scalars."""

    zero: Mapping[str, Any] | None = None
    """Of a struct: the fields that the server writes even where nobody has set them."""

    name: str = ""
    """Of a struct: what messages call it, as `PodSpec`."""

    def field_type(self, name: str) -> Type | None:
        """Return the type of a field or of a map's value, None for a name that cannot be."""
        found = self.fields.get(name)
        return found.type if found else self.element


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of a struct."""

    type: Type
    default: Any = MISSING
    """What the server fills in, where the schema declares it; a list's keys may have one."""

    is_required: bool = False
    merge_key: str = ""
    """Strategic merge patch: the key of the list's items."""

    strategies: tuple[str, ...] = ()
    """Strategic merge patch: of `merge`, `retainKeys`."""


REFERENCE = "#/components/schemas/"
KINDS = "x-kubernetes-group-version-kind"


@cache
def _document() -> JSON:
    text = files("sandbox.schema").joinpath("openapi.json").read_text(encoding="utf-8")
    document: JSON = json.loads(text)
    return document


def server_version() -> str:
    """Return the version of the server that the definitions are of, as `v1.36.3`."""
    version: str = _document()["server"]
    return version


def definitions() -> Mapping[str, JSON]:
    """Return every definition by its name; nobody may change them."""
    found: Mapping[str, JSON] = _document()["schemas"]
    return found


@cache
def _by_kind() -> Mapping[tuple[str, str, str], str]:
    return {
        (kind["group"], kind["version"], kind["kind"]): name
        for name, schema in definitions().items()
        for kind in schema.get(KINDS, ())
    }


def definition_name(group: str, version: str, kind: str) -> str | None:
    """Return the definition of a kind, None for a kind that is not served."""
    return _by_kind().get((group, version, kind))


def reference_of(schema: Mapping[str, Any]) -> str | None:
    """Return the name of the definition that a property or an item refers to."""
    inner = schema["allOf"][0] if len(schema.get("allOf", ())) == 1 else schema
    reference: str | None = inner.get("$ref")
    return reference.removeprefix(REFERENCE) if reference else None


_SCALARS = {
    "boolean": Type(Shape.BOOLEAN, {}),
    "integer": Type(Shape.NUMBER, {}),
    "number": Type(Shape.NUMBER, {}),
}
_STRING = Type(Shape.STRING, {})
_SCALAR = Type(Shape.SCALAR, {})
_ANY = Type(Shape.ANY, {})
_PLAIN_FORMATS = ("", "byte")
_ZEROS: tuple[Any, ...] = ("", 0, False, {})


@cache
def named_type(name: str) -> Type:
    """Return the type of a definition; raises KeyError for a name that is none."""
    found = _read(definitions()[name])
    return replace(found, name=name.rpartition(".")[2]) if found.shape is Shape.STRUCT else found


def _read(schema: JSON) -> Type:
    if name := reference_of(schema):
        found, asked = named_type(name), schema.get("x-kubernetes-map-type")
        return replace(found, is_atomic=asked == "atomic") if asked else found
    kind = schema.get("type")
    if kind == "array":
        return _list(schema)
    if kind == "object":
        return _object(schema)
    if kind == "string":
        return _STRING if schema.get("format", "") in _PLAIN_FORMATS else _SCALAR
    if schema.get("format") == "int-or-string":
        return _ANY
    return _SCALARS.get(kind, _SCALAR) if kind else _SCALAR


def _list(schema: JSON) -> Type:
    keys = _list_keys(schema)
    return Type(
        Shape.LIST, {}, element=_read(schema["items"]), is_atomic=keys is None, keys=keys or ()
    )


def _list_keys(schema: JSON) -> tuple[str, ...] | None:
    """Return what an associative list's items are told apart by, None for an atomic list."""
    if list_type := schema.get("x-kubernetes-list-type"):
        keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
        return {"map": keys, "set": ()}.get(list_type)
    if "merge" in _strategies(schema):
        key = schema.get("x-kubernetes-patch-merge-key")
        return (key,) if key else ()
    return None


def _object(schema: JSON) -> Type:
    is_atomic = schema.get("x-kubernetes-map-type") == "atomic"
    if properties := schema.get("properties"):
        required = frozenset(schema.get("required", ()))
        fields = {name: _field(part, name in required) for name, part in properties.items()}
        zeros = {name: _zero(part, fields[name]) for name, part in properties.items()}
        zero = {name: value for name, value in zeros.items() if value is not MISSING}
        return Type(Shape.STRUCT, fields, is_atomic=is_atomic, zero=zero)
    if isinstance(values := schema.get("additionalProperties"), dict):
        return Type(Shape.MAP, {}, element=_read(values), is_atomic=is_atomic)
    return _ANY


def _field(schema: JSON, is_required: bool) -> Field:  # noqa: FBT001 - a fact of the field
    return Field(
        _read(schema),
        default=schema.get("default", MISSING),
        is_required=is_required,
        merge_key=schema.get("x-kubernetes-patch-merge-key", ""),
        strategies=_strategies(schema),
    )


def _strategies(schema: JSON) -> tuple[str, ...]:
    text: str = schema.get("x-kubernetes-patch-strategy", "")
    return tuple(text.split(",")) if text else ()


def _zero(schema: JSON, field: Field) -> Any:
    """Return what the server writes for a field that nobody set.

    A zero as declared default marks a Go field that is no pointer and is always written; a
    required list without a default is written as null.
    """
    default = schema.get("default", MISSING)
    if default == {}:
        return dict(field.type.zero or {})
    if default in _ZEROS:
        return default
    is_null = field.is_required and field.type.shape is Shape.LIST and default is MISSING
    return None if is_null else MISSING


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """A kind with its type; made once a kind by `schema_of`."""

    group: str
    version: str
    kind: str
    type: Type

    @property
    def api_version(self) -> str:
        """What objects carry as apiVersion."""
        return f"{self.group}/{self.version}" if self.group else self.version


@cache
def schema_of(resource: Resource) -> Schema:
    """Return the schema of a served kind; raises KeyError where the data file lacks it."""
    name = definition_name(resource.group, resource.version, resource.kind)
    if name is None:
        raise KeyError(f"{resource.api_version} {resource.kind}")
    return Schema(resource.group, resource.version, resource.kind, named_type(name))


_JSON_TYPES: dict[type, str] = {dict: "object", list: "array", str: "string", bool: "bool"}


def spell_value(value: Any) -> str:
    """Return a value: `map[a:1 b:[x y]]`, `<nil>`, `true`."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return (
            f"map[{' '.join(f'{key}:{spell_value(part)}' for key, part in sorted(value.items()))}]"
        )
    if isinstance(value, list):
        return f"[{' '.join(map(spell_value, value))}]"
    return str(value)


def json_type(value: Any) -> str:
    """Return what Go's JSON decoder calls a value: `object`, `array`, `number`."""
    return _JSON_TYPES.get(type(value), "number" if value is not None else "null")


def spelled_type(value: Any) -> str:
    """Return the Go type that decoded JSON has."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, dict):
        return "map[string]interface {}"
    if isinstance(value, list):
        return "[]interface {}"
    return {str: "string", int: "int64", float: "float64"}.get(type(value), "<nil>")

"""Types of the API as a walk over an object meets them: structs, maps, lists and scalars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final


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

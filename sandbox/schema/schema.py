"""The schema of one kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from sandbox.kinds import Resource
from sandbox.schema.definitions import definition_name
from sandbox.schema.reading import named_type
from sandbox.schema.types import Type


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

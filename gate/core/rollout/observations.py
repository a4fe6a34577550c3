"""What the watches see of a workload: objects that are there, and objects that are gone."""

from __future__ import annotations

from typing import ClassVar

from gate.core.frozen import dataclass
from gate.core.model.objects import Ref, Watched


class Kind(str):
    """The kind of a watched object, as in the API.

    An open set: each kind of workload has its own, besides the pods, Events and nodes of all.
    """

    __slots__ = ()

    POD: ClassVar[Kind]
    EVENT: ClassVar[Kind]
    NODE: ClassVar[Kind]


Kind.POD = Kind("Pod")
Kind.EVENT = Kind("Event")
Kind.NODE = Kind("Node")


@dataclass(frozen=True, slots=True)
class Observed:
    """An object was added or modified."""

    at: float
    object: Watched


@dataclass(frozen=True, slots=True)
class Vanished:
    """An object was deleted."""

    at: float
    kind: Kind
    uid: str


@dataclass(frozen=True, slots=True)
class Listed:
    """All objects of a kind that `about` selects, as one list gave them: what is missing is gone.

    `about` is the workload whose name, label selector or namespace the list was made with: the
    list says nothing about the objects of another one. `resource_version` is the list's own, "" if
    unknown: a list older than what was already seen does not show that anything is gone.
    """

    at: float
    kind: Kind
    about: Ref
    objects: tuple[Watched, ...]
    resource_version: str = ""

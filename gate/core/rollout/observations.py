"""What the watches see of a Deployment: objects that are there, and objects that are gone."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from gate.core.model.objects import Ref, Watched


class Kind(enum.StrEnum):
    """The kinds that are watched."""

    DEPLOYMENT = "Deployment"
    REPLICA_SET = "ReplicaSet"
    POD = "Pod"
    EVENT = "Event"


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

    `about` is the Deployment whose name, label selector or namespace the list was made with: the
    list says nothing about the objects of another one. `resource_version` is the list's own, "" if
    unknown: a list older than what was already seen does not show that anything is gone.
    """

    at: float
    kind: Kind
    about: Ref
    objects: tuple[Watched, ...]
    resource_version: str = ""

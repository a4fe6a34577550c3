"""Where an object is, and what happened to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sandbox.json import JSON

_MOST_VERSION_DIGITS = 20
"""Those of 64 bits."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Where an object is.

    `resource` is the plural with its group (`kinds.Resource.key`): `pods`, `deployments.apps`;
    `namespace` is empty for what belongs to the whole cluster.
    """

    resource: str
    namespace: str
    name: str


class ChangeType(StrEnum):
    """What a change did, as the events of a watch say it."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Change:
    """One write: `before` is None for an added object, `after` for a deleted one."""

    type: ChangeType
    key: Key
    before: JSON | None
    after: JSON | None
    version: int


def number_of_version(text: str) -> int | None:
    """Return the number that a resourceVersion says, None where it is none (`ParseUint`)."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MOST_VERSION_DIGITS
    return int(text) if is_number else None


def at_version(body: JSON, version: int) -> JSON:
    """Return the object with a resourceVersion; everything else is shared with `body`."""
    metadata = {**body.get("metadata", {}), "resourceVersion": str(version)}
    return {**body, "metadata": metadata}

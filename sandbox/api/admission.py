"""What is asked before a write is stored: it may refuse the write or change the object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sandbox.api.asked import Writer
from sandbox.json import JSON
from sandbox.kinds import Resource


class Operation(StrEnum):
    """What a write does, as admission calls it."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


@dataclass(slots=True)
class Admission:
    """A write on its way: `body` is a copy that a hook may change in place.

    To refuse, a hook raises ApiError. `before` is None on a create, `body` is on a delete.
    Hooks see the write after validation, as the last thing before it is stored, unless they are
    registered as mutating (`Api.mutations`).
    """

    operation: Operation
    resource: Resource
    subresource: str
    namespace: str
    name: str
    by: Writer
    before: JSON | None
    body: JSON | None
    dry_run: bool


Admit = Callable[[Admission], None]

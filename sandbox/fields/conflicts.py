"""Conflicts of a server-side apply: which fields belong to others, and how the server says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.failure import ApiError, FieldError
from sandbox.fields.elements import describe_element
from sandbox.fields.managed import Entry, Operation

REASON = "FieldManagerConflict"


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """One field that another manager owns with another value."""

    entry: Entry
    path: tuple[str, ...]

    @property
    def manager(self) -> str:
        """The manager as messages name it: `"kubectl-edit" using apps/v1`."""
        entry = self.entry
        name = f'"{entry.manager}"'
        if entry.subresource:
            name = f'{name} with subresource "{entry.subresource}"'
        is_update = entry.operation is Operation.UPDATE
        return f"{name} using {entry.api_version}" if is_update else name

    @property
    def field(self) -> str:
        """The field as messages name it: `.spec.template.spec.containers[name="web"].image`."""
        return "".join(map(describe_element, self.path))

    def cause(self) -> FieldError:
        """Return the entry of the Status's causes."""
        return FieldError(self.field, REASON, f"conflict with {self.manager}")


class Conflict(Exception):
    """An apply without force would change what others own; sorted by manager, then by field."""

    def __init__(self, conflicts: Sequence[FieldConflict]) -> None:
        self.conflicts = tuple(sorted(conflicts, key=lambda conflict: conflict.manager))
        super().__init__(self.message)

    @property
    def causes(self) -> tuple[FieldError, ...]:
        """The causes of the Status."""
        return tuple(conflict.cause() for conflict in self.conflicts)

    @property
    def message(self) -> str:
        """The message of the Status."""
        if len(self.conflicts) == 1:
            only = self.conflicts[0]
            return f"Apply failed with 1 conflict: conflict with {only.manager}: {only.field}"
        lines = []
        for manager in dict.fromkeys(conflict.manager for conflict in self.conflicts):
            lines.append(f"conflicts with {manager}:")
            lines += [f"- {one.field}" for one in self.conflicts if one.manager == manager]
        told = "\n".join(lines)
        return f"Apply failed with {len(self.conflicts)} conflicts: {told}"

    def refusal(self) -> ApiError:
        """Return the 409 that the server answers."""
        causes = [cause.cause() for cause in self.causes]
        return ApiError(409, "Conflict", self.message, details={"causes": causes})

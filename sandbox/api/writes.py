"""The steps that creates and updates share: strictness, defaults, hooks, validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.api.admission import Admission, Operation
from sandbox.api.asked import FieldValidation, Strictness, Writer
from sandbox.api.registry import Registry
from sandbox.failure import ApiError, FieldError, invalid
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects import strict_errors, strict_refusal


@dataclass(frozen=True, slots=True)
class Write:
    """One write on its way; `name` is empty for a created object that has none yet."""

    registry: Registry
    resource: Resource
    namespace: str
    name: str
    by: Writer
    subresource: str
    dry_run: bool
    validation: FieldValidation

    def admission(self, operation: Operation, before: JSON | None, body: JSON | None) -> Admission:
        """Return what the hooks are asked."""
        return Admission(
            operation=operation,
            resource=self.resource,
            subresource=self.subresource,
            namespace=self.namespace,
            name=self.name,
            by=self.by,
            before=before,
            body=body,
            dry_run=self.dry_run,
        )


def decode_strictly(write: Write, body: JSON) -> None:
    """Refuse, tell or ignore what the schema does not know."""
    validation = write.validation
    if validation.strictness is Strictness.IGNORE:
        return
    found = strict_errors(write.resource, body, validation.raw)
    if found and validation.strictness is Strictness.STRICT:
        raise strict_refusal(write.resource, found)
    for error in found:
        validation.warn(error)


def refuse_invalid(resource: Resource, body: JSON, errors: Sequence[FieldError]) -> None:
    """422 where there is an error."""
    if errors:
        raise named_invalid(resource, body["metadata"].get("name", ""), errors)


def named_invalid(resource: Resource, name: str, errors: Sequence[FieldError]) -> ApiError:
    """422 of an object; one without a name has none in the details."""
    refusal = invalid(resource.kind, resource.group, name, errors)
    if not name:
        refusal.details.pop("name", None)
    return refusal

"""Server-side apply: a manager says what it wants of an object, and owns exactly that.

In conflict are the fields that others own with another value, told in the server's words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sandbox.failure import ApiError, FieldError, bad_request
from sandbox.fields.checking import check, unmergeable
from sandbox.fields.comparing import compare
from sandbox.fields.managed import Entry, Managed, Operation, decode_entries
from sandbox.fields.merging import field_set, merge_values, prune_fields
from sandbox.fields.sets import (
    EMPTY,
    ElementError,
    FieldSet,
    describe_element,
    difference,
    intersection,
    paths,
    without_trees,
)
from sandbox.fields.updates import (
    NEVER_OWNED,
    UNKNOWN_MANAGER,
    assign_written_fields,
    compare_write,
    reset_fields,
    with_managed,
    without_fields,
    without_managed_fields,
)
from sandbox.json import JSON, dig, go_json
from sandbox.schema import Schema

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

    def cause(self) -> JSON:
        """Return the entry of the Status's causes."""
        return FieldError(self.field, REASON, f"conflict with {self.manager}").cause()


class Conflict(Exception):
    """An apply without force would change what others own; sorted by manager, then by field."""

    def __init__(self, conflicts: Sequence[FieldConflict]) -> None:
        self.conflicts = tuple(sorted(conflicts, key=lambda conflict: conflict.manager))
        super().__init__(self.message)

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
        listed = "\n".join(lines)
        return f"Apply failed with {len(self.conflicts)} conflicts: {listed}"

    def refusal(self) -> ApiError:
        """Return the 409 that the server answers."""
        causes = [conflict.cause() for conflict in self.conflicts]
        return ApiError(409, "Conflict", self.message, details={"causes": causes})


BEFORE_FIRST_APPLY = "before-first-apply"
"""Owns what was there where nobody owned anything."""

KUBECTL = "kubectl"
"""The one applier that inherits what `kubectl apply` of the client's side left."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def apply(  # noqa: PLR0913 - one call, said in words
    live: JSON | None,
    applied: JSON,
    manager: str,
    *,
    force: bool,
    now: str,
    schema: Schema,
    subresource: str = "",
) -> JSON:
    """Return the live object with `applied` merged in and managedFields that say so.

    `live` is the stored object, None where the apply creates one. The result is as the merge has
    it: nulls may stand in it, defaults are missing and status is as applied; decoding, defaulting
    and the kind's strategy come after, and nobody owns what they add. Raises `Conflict`, `NotTyped`
    and, where `applied` has managedFields or another version, `ApiError` 400.
    """
    _admit(applied, schema)
    check(applied, schema.type, schema.group, schema.version)
    asked = _Apply(applied, manager or UNKNOWN_MANAGER, now, schema, subresource)
    try:
        return _laid_onto(live, asked, schema, force=force)
    except ElementError:
        raise unmergeable(live or {}, schema.type, schema.group, schema.version) from None


def _admit(applied: JSON, schema: Schema) -> None:
    version, kind = applied.get("apiVersion", ""), applied.get("kind", "")
    if (version, kind) != (schema.api_version, schema.kind):
        raise bad_request(f"invalid object type: {version}, Kind={kind}")
    if dig(applied, "metadata", "managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")


def _laid_onto(live: JSON | None, asked: _Apply, schema: Schema, *, force: bool) -> JSON:
    """Return the live object after an apply; what client-side apply left is no conflict."""
    managed = asked.read_ownership(live)
    bare = without_managed_fields(live or {})
    try:
        return asked.onto(bare, managed, force=force)
    except Conflict as conflict:
        if not asked.inherits:
            raise
        left = _not_last_applied(conflict, bare, schema)
        if left:
            raise Conflict(left) from conflict
        return asked.onto(bare, managed, force=True)


class _Apply:
    """One apply: what is asked, by whom and when."""

    def __init__(
        self, applied: JSON, manager: str, now: str, schema: Schema, subresource: str
    ) -> None:
        self._applied = applied
        self._now = now
        self._schema = schema
        self._subresource = subresource
        self._entry = Entry(manager, Operation.APPLY, schema.api_version, subresource, None, EMPTY)

    @property
    def inherits(self) -> bool:
        """Whether the applier takes over what client-side apply left."""
        return self._entry.manager == KUBECTL

    def read_ownership(self, live: JSON | None) -> Managed:
        """Return the ownership that the apply starts from."""
        managed = decode_entries(dig(live, "metadata", "managedFields"))
        if live is None or managed:
            return managed
        first = replace(
            self._entry, manager=BEFORE_FIRST_APPLY, operation=Operation.UPDATE, time=self._now
        )
        bare = without_managed_fields(live)
        return assign_written_fields(
            {}, compare_write({}, bare, self._schema, self._subresource), first
        )

    def onto(self, live: JSON, managed: Managed, *, force: bool) -> JSON:
        """Return the live object after the apply; raises `Conflict`."""
        kind, version = self._schema.type, self._schema.api_version
        identity = self._entry.identity
        last = managed.get(identity)
        wanted = field_set(self._applied, kind)
        wanted = without_trees(wanted, reset_fields(self._schema, self._subresource))
        entry = replace(self._entry, fields=wanted, time=last.time if last else None)
        owners = {**managed, identity: entry}
        body: JSON = merge_values(live, self._applied, kind)
        if last and last.api_version == version:
            body = prune_fields(body, last.fields, owners.values(), kind)
        comparison = compare_write(live, body, self._schema, self._subresource)
        others = {key: owner for key, owner in owners.items() if key != identity}
        if not force:
            _refuse_conflicts(others, comparison.written)
        found = without_fields(others, comparison.every, version)
        fields = difference(wanted, NEVER_OWNED)
        if fields:
            time = entry.time if body == live else self._now
            found[identity] = replace(entry, fields=fields, time=time)
        return with_managed(self._with_last_applied(body), found)

    def _with_last_applied(self, body: JSON) -> JSON:
        """Keep the client-side annotation equal to what kubectl applies, where there is one."""
        if not self.inherits or not dig(body, "metadata", "annotations", LAST_APPLIED):
            return body
        metadata = body["metadata"]
        annotations = {**metadata["annotations"], LAST_APPLIED: _last_applied_text(self._applied)}
        return {**body, "metadata": {**metadata, "annotations": annotations}}


def _refuse_conflicts(others: Managed, changed: FieldSet) -> None:
    found = [
        FieldConflict(entry, path)
        for entry in others.values()
        for path in paths(intersection(entry.fields, changed))
    ]
    if found:
        raise Conflict(found)


def _last_applied_text(applied: JSON) -> str:
    metadata = dict(applied.get("metadata") or {})
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(LAST_APPLIED, None)
    metadata.pop("annotations", None)
    if annotations:
        metadata["annotations"] = annotations
    return f"{go_json({**applied, 'metadata': metadata})}\n"


def _not_last_applied(conflict: Conflict, live: JSON, schema: Schema) -> list[FieldConflict]:
    """Return the conflicts that are not about what client-side apply left as it set it."""
    inherited = _last_applied_fields(live, schema)
    return [one for one in conflict.conflicts if one.path not in set(paths(inherited))]


def _last_applied_fields(live: JSON, schema: Schema) -> FieldSet:
    text: Any = dig(live, "metadata", "annotations", LAST_APPLIED)
    try:
        last = json.loads(text or "null")
    except ValueError:
        return EMPTY
    if not isinstance(last, dict) or last.get("apiVersion") != schema.api_version:
        return EMPTY
    return difference(field_set(last, schema.type), compare(last, live, schema.type).every)

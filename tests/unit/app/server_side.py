"""What the API server in memory does with a patch: the sandbox's ownership and merges."""

from __future__ import annotations

from typing import Any

from sandbox.face import BY_KIND, Schema, fields, merge_patch, schema_of

JSON = dict[str, Any]
TIME = "2026-11-21T11:00:00Z"
REFUSALS = (fields.Conflict, fields.NotTyped)
"""What an apply is refused with; each has the `refusal()` that the server answers."""


def managed_by(manager: str, body: JSON, operation: str = "Apply") -> JSON:
    """Return an object all of whose fields that manager owns."""
    schema = _schema(body)
    bare = {key: value for key, value in body.items() if key != "status"}
    bare = {**bare, "metadata": {k: v for k, v in body["metadata"].items() if k != "managedFields"}}
    if operation == "Apply":
        made = fields.apply(None, bare, manager, force=True, now=TIME, schema=schema)
    else:
        made = fields.update_owners(None, bare, manager, now=TIME, schema=schema)
    managed = made["metadata"].get("managedFields", [])
    return {**body, "metadata": {**body["metadata"], "managedFields": managed}}


def entry(manager: str, operation: str, claimed: JSON) -> JSON:
    """Return an entry of `managedFields`."""
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "apps/v1",
        "time": TIME,
        "fieldsType": "FieldsV1",
        "fieldsV1": claimed,
    }


def applied(live: JSON | None, body: JSON, manager: str, *, force: bool) -> JSON:
    """Return the object after a server-side apply; raises one of `REFUSALS`.

    Of a custom kind, which has no schema here, the apply is all of the object.
    """
    if _key(body) not in BY_KIND:
        return body
    merged = fields.apply(live, body, manager, force=force, now=TIME, schema=_schema(body))
    found: JSON = _without_nulls(merged)
    return found


def merge_patched(live: JSON, patch: JSON, manager: str, subresource: str = "") -> JSON:
    """Return the object after an RFC 7386 merge patch; who is written over loses the field."""
    schema = _schema(live)
    after = merge_patch(live, patch)
    return fields.update_owners(
        live, after, manager, now=TIME, schema=schema, subresource=subresource
    )


def _without_nulls(value: Any) -> Any:
    """Return a value as the server decodes it: a member that is null is absent."""
    if isinstance(value, dict):
        return {name: _without_nulls(part) for name, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _schema(body: JSON) -> Schema:
    return schema_of(BY_KIND[_key(body)])


def _key(body: JSON) -> tuple[str, str]:
    return body["apiVersion"], body["kind"]

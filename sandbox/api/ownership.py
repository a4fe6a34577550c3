"""Which manager owns which field after a write: the bridge to `sandbox.fields`."""

from __future__ import annotations

from sandbox.api.asked import Patch
from sandbox.api.registry import internal
from sandbox.api.writes import Write
from sandbox.failure import bad_request
from sandbox.fields import Conflict, NotTyped, apply, update_owners
from sandbox.json import JSON
from sandbox.schema import schema_of


def with_managed_fields(write: Write, live: JSON | None, new: JSON) -> JSON:
    """Return `new` with the managedFields of a create, an update or a patch by its writer."""
    return update_owners(
        live,
        new,
        write.by.manager,
        now=write.registry.timers.wall(),
        schema=schema_of(write.resource),
        subresource=write.subresource,
    )


def merge_applied(write: Write, live: JSON | None, patch: Patch) -> JSON:
    """Return the live object with an applied configuration merged in; 400, 409, 500."""
    try:
        return apply(
            live,
            _check_object_type(write, patch.body),
            write.by.manager,
            force=patch.force,
            now=write.registry.timers.wall(),
            schema=schema_of(write.resource),
            subresource=write.subresource,
        )
    except Conflict as conflict:
        raise conflict.refusal() from None
    except NotTyped as error:
        raise internal(str(error)) from None


def _check_object_type(write: Write, body: JSON) -> JSON:
    resource = write.resource
    found = (body.get("apiVersion") or "", body.get("kind") or "")
    if found != (resource.api_version, resource.kind):
        api_version, kind = found
        raise bad_request(f"invalid object type: {api_version or '/'}, Kind={kind}")
    return body

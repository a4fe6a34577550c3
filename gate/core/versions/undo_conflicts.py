"""Whose fields prevent an undo of a workload, as the server's dry run would say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.core.model.body import Body
from gate.core.model.environment_values import with_values
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.ssa import field_set
from gate.core.ssa.applied_fields import applied_digest
from gate.core.ssa.field_set import paths
from gate.core.ssa.held_fields import held_fields
from gate.core.ssa.managed_fields import KUBECTL_APPLIERS
from gate.core.ssa.template_owners import fields_that_stay
from gate.core.versions.history import History
from gate.core.versions.judged_version import RESTARTED_AT
from gate.core.versions.undo_choice import Choice

_RESTARTED = f"spec.template.metadata.annotations.{RESTARTED_AT}"


def conflicting_managers(live: LiveObject, choice: Choice, history: History) -> tuple[str, ...]:
    """Return the field managers because of whose fields an undo to `choice` is refused.

    They own what the undo has to change (a conflict of server-side apply), or, if it changes
    nothing that our manager applies, what keeps the pod template as it is.
    """
    return tuple(sorted(set(_conflicting(live, choice, history))))


def _conflicting(live: LiveObject, choice: Choice, history: History) -> Iterator[str]:
    wanted, has = _wanted_fields(live, choice, history), live.body.thaw()
    taken_over = taken_by_undo(live)
    for entry in live.thaw_managed_fields():
        below = field_set.descend(entry.get("fieldsV1"), "spec", "template")
        if entry.get("manager") in taken_over or below is None:
            continue
        if field_set.differing(wanted, {"f:spec": {"f:template": below}}, has):
            yield str(entry.get("manager"))
    version, revision = choice.version, choice.revision
    is_as_applied = version is not None and version.members.get(live.ref) == applied_digest(live)
    if is_as_applied and revision is not None:
        yield from fields_that_stay(live, revision.template, taken_over)


def find_held_beside_template(live: LiveObject, body: Body) -> set[str]:
    """Return whose fields outside the pod template an undo that applies `body` is refused for.

    The number of replicas stays in any undo.
    """
    held = held_fields(live, body, taken_by_undo(live))
    return {manager for manager, fields in held.items() if any(map(_is_beside, paths(fields)))}


def _is_beside(path: str) -> bool:
    return not path.startswith(("spec.template", "spec.replicas"))


def _wanted_fields(live: LiveObject, choice: Choice, history: History) -> dict[str, Any]:
    """Return the body that an undo would apply, with its pod template; {} if it is not known."""
    version, revision = choice.version, choice.revision
    digest = version.members.get(live.ref) if version is not None else None
    applied = history.bodies.get(digest) if digest is not None else None
    if applied is not None:
        whole = with_values(applied, revision.template if revision is not None else None)
        return dict((whole or applied).thaw())
    if revision is None:
        return {}
    return {"spec": {"template": revision.template.body.thaw()}}


def taken_by_undo(live: LiveObject) -> set[str]:
    """Return the managers whose fields are ours or become so in any undo."""
    return {FIELD_MANAGER, *restarters(live), *(name for name, _ in KUBECTL_APPLIERS)}


def restarters(live: LiveObject) -> tuple[str, ...]:
    """Return the managers that own nothing but the time of a restart, ours and kubectl's.

    That time is part of the template that an undo leaves, and nobody would miss it.
    """
    return tuple(
        str(entry.get("manager"))
        for entry in live.thaw_managed_fields()
        if field_set.paths(entry.get("fieldsV1")) == (_RESTARTED,)
    )

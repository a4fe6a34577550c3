"""What an apply does with an object that runs once, as a Job, and is there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from gate.app.preflight.server_dry_run import Prepared
from gate.core.kinds.registry import has_way_back, kind_of
from gate.core.model.fact import Fact, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock
from gate.core.model.naming import Naming
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.model.run_annotations import AFTER, LOCKS, PHASE, REPLACE_FAILED, name_locks
from gate.core.plan.phases import Phase
from gate.errors import RefusedError
from gate.manifests.body import value_at
from gate.manifests.manifest import Manifest, ManifestObject

_NEW_RUN: Final = (
    "give each run one of its own: metadata.generateName in place of the name,"
    " or a name with the version in it"
)


def phase_of(ref: Ref, body: Mapping[str, Any]) -> Phase:
    """Return when an object is written: one that runs once as its annotation says, else before."""
    if has_way_back(ref):
        return Phase.MAIN
    asked = value_at(body, "metadata", "annotations", PHASE)
    return Phase.AFTER if asked == AFTER else Phase.BEFORE


def with_locks_named(
    item: ManifestObject, before: Fact[LiveObject], locks: Iterable[Lock]
) -> dict[str, Any]:
    """Return the body of a manifest's object; one that runs once names the locks of its apply.

    So do its pods, which may outlast it. One that is there and stays keeps what it says of them: to
    apply it again changes nothing.
    """
    body = item.body_copy()
    if has_way_back(item.ref) or isinstance(before, Unknown):
        return body
    found = before.value if isinstance(before, Known) else None
    if found is not None and may_replace(body) and _describe_failure(found):
        found = None
    live = found.body.thaw() if found is not None else None
    for path in ((), ("spec", "template")):
        said = value_at(live, *path, "metadata", "annotations", LOCKS)
        _name_locks(value_at(body, *path), said if live is not None else name_locks(locks))
    return body


def _name_locks(body: object, said: object) -> None:
    """Let the metadata of an object or a template name locks, or none; no more if it has none."""
    metadata = value_at(body, "metadata") or {}
    given = value_at(metadata, "annotations") or {}
    if not (isinstance(body, dict) and isinstance(metadata, dict) and isinstance(given, dict)):
        return
    named = {key: value for key, value in given.items() if key != LOCKS}
    named |= {LOCKS: said} if said else {}
    if named != given:
        body["metadata"] = {**metadata, "annotations": named}


def may_replace(body: object) -> bool:
    """Tell whether a manifest's object may be put in place of one that has failed."""
    return bool(value_at(body, "metadata", "annotations", REPLACE_FAILED) == "true")


def replaceable(manifest: Manifest) -> tuple[Ref, ...]:
    """Return the objects that an apply may delete because they have failed before."""
    return tuple(item.ref for item in manifest.objects if may_replace(item.body))


def replacing_failed(items: Iterable[Prepared], name: Naming = str) -> tuple[Prepared, ...]:
    """Return the objects, those that replace a failed one marked so.

    Raises RefusedError for an object that has failed before and may not be replaced: to apply it
    again would do nothing (batch/v1: a Job that is over is never run again).
    """
    return tuple(_replacing(item, name) for item in items)


def _refuse_held_deletion(item: Prepared, called: str) -> None:
    """Refuse to delete what its finalizers would keep: none could be created in its place."""
    metadata = item.live.body.thaw()["metadata"] if item.live is not None else {}
    finalizers = metadata.get("finalizers") or ()
    if finalizers:
        many = "finalizers" if len(finalizers) > 1 else "finalizer"
        raise RefusedError(
            f"{called} has failed before, and its {many} {', '.join(finalizers)} may hold up the"
            " deletion that has to come before it runs again",
            reason=Reason.REJECTED,
            hint=f"delete it, and apply again once it is gone; or {_NEW_RUN}",
        )


def _describe_failure(live: LiveObject) -> str:
    """Say why what runs once has failed before, "" if it has not."""
    workload = live.workload
    return kind_of(live.ref).failure(workload) if workload is not None else ""


def _replacing(item: Prepared, name: Naming) -> Prepared:
    workload = item.live.workload if item.live is not None else None
    failure = _describe_failure(item.live) if item.live is not None else ""
    if workload is None or not failure:
        return item
    called = name(item.ref)
    if not may_replace(item.body):
        raise RefusedError(
            f"{called} has failed before ({failure}), and applying it again would run nothing",
            reason=Reason.REJECTED,
            hint=f"{_NEW_RUN}; or let the failed one be deleted, by its annotation "
            f'{REPLACE_FAILED}: "true"',
        )
    if kind_of(item.ref).is_stopping(workload):
        raise RefusedError(
            f"{called} has failed ({failure}), and its pods are still being stopped",
            reason=Reason.REJECTED,
            hint="run again once they are gone: then it is replaced",
        )
    _refuse_held_deletion(item, called)
    return replace(item, taken=None, claims=None, replaces=True)

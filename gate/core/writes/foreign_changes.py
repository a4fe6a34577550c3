"""What others changed in an object since our apply: the way back leaves those fields alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final

from gate.core.kinds.registry import BOOKKEEPING
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.live_object import LiveObject
from gate.core.plan.forced_fields import forced_fields
from gate.core.plan.plan import PlannedWrite
from gate.core.plan.replica_ownership import REPLICAS_PATH
from gate.core.plan.rollback_plan import WrittenObject, is_of_template
from gate.core.ssa import managed_fields
from gate.core.ssa.field_set import (
    Fields,
    descend,
    graft,
    intersect,
    paths,
    remove_field,
    select_changed,
    subtract,
    union,
)
from gate.core.ssa.last_applied import LAST_APPLIED, without_last_applied

_DATA: Final = ("data", "binaryData")
_SET_BY_PEOPLE: Final = ("f:metadata", "f:spec", *(f"f:{name}" for name in _DATA))
"""The parts of an object in which a change of others is reported."""
_NO_VALUES_OF_OTHERS: Final = ("replicas", "template.metadata.annotations")
"""What others set in the spec of a workload without making it theirs."""


def foreign_fields(write: PlannedWrite, written: WrittenObject, live: LiveObject) -> Fields | None:
    """Return the fields that somebody else has changed, added or removed since our apply.

    Only fields that we owned after our apply, or that `write` restores, count. A field that is
    live as `write` leaves it is no change: the write may have been done already. For a workload
    the pod template is left out, because a change in it supersedes the whole, and so are replicas
    that an autoscaler decides on.
    """
    if live.resource_version == written.after.resource_version:
        return None
    back, after, now = write.body.thaw(), written.after.body.thaw(), live.body.thaw()
    ours = managed_fields.owned_fields(written.after.thaw_managed_fields(), write.field_manager)
    counting = union(ours, _select_restored_fields(back, written))
    if live.workload is not None:
        judged_elsewhere = (
            {"f:template", "f:replicas"} if write.scaler.keeps_live else {"f:template"}
        )
        counting = _without_spec(counting, judged_elsewhere)
    return _differing(back, now, _differing(after, now, counting))


def without_foreign(write: PlannedWrite, foreign: Fields, live: LiveObject) -> PlannedWrite | None:
    """Return a write back that leaves `foreign` fields as they are live.

    None if it would take one back all the same: a field that our manager still owns, with a value
    of another run, is removed by an apply that leaves it out. None, too, if we no longer own
    anything in the object.
    """
    ours = managed_fields.owned_fields(live.thaw_managed_fields(), write.field_manager)
    if ours is None or intersect(foreign, ours) is not None:
        return None
    body = write.body.thaw()
    for path in paths(foreign):
        body = remove_field(body, path)
    return replace(write, body=Body.of(body))


def added_fields(write: PlannedWrite, written: WrittenObject, live: LiveObject) -> Fields | None:
    """Return what another write under our own manager's name has added since our apply.

    Another run of the gate, under another lock, may do that to an object that both share. An apply
    that leaves these fields out would remove them, because our manager owns them. A value that our
    apply left is no addition, whoever owns it now: a claim of ours takes what nobody owned.
    """
    if live.resource_version == written.after.resource_version:
        return None
    manager = write.field_manager
    then = managed_fields.owned_fields(written.after.thaw_managed_fields(), manager)
    added = subtract(managed_fields.owned_fields(live.thaw_managed_fields(), manager), then)
    if live.workload is not None:
        added = _without_spec(added, {"f:template", "f:replicas"})
    return select_changed(live.body.thaw(), written.after.body.thaw(), added)


def fields_of_others(
    write: PlannedWrite, written: WrittenObject, live: LiveObject
) -> Fields | None:
    """Return what other managers have set since our apply, otherwise than before or `write` does.

    The way back leaves it by itself; it is only to be reported. Status, finalizers and what the
    workloads' controllers note in annotations do not count, nor does the pod template of a
    workload, or replicas that an autoscaler decides on.
    """
    if live.resource_version == written.after.resource_version:
        return None
    theirs: Fields | None = None
    for entry in live.thaw_managed_fields():
        if entry.get("manager") != write.field_manager and entry.get("subresource") != "status":
            theirs = union(theirs, entry.get("fieldsV1") or None)
    theirs = {key: inner for key, inner in (theirs or {}).items() if key in _SET_BY_PEOPLE} or None
    if live.workload is not None:
        judged_elsewhere = {"f:replicas"} if write.scaler.keeps_live else set()
        theirs = _without_spec(theirs, {"f:template"} | judged_elsewhere)
    after, now = (_without_notes(one.body.thaw()) for one in (written.after, live))
    theirs = select_changed(now, write.body.thaw(), select_changed(now, after, theirs))
    return theirs if written.before is None else select_changed(now, _thaw_before(written), theirs)


def find_changed_paths(written: WrittenObject, live: LiveObject) -> tuple[str, ...]:
    """Name what `live` has otherwise than the object of before, as far as anybody owned it."""
    before, now, named = _thaw_before(written), without_last_applied(live.body.thaw()), None
    for one in (written.before, live):
        for entry in one.thaw_managed_fields() if one is not None else ():
            named = union(named, entry.get("fieldsV1") or None)
    return paths(_differing(without_last_applied(before), now, named))


def _thaw_before(written: WrittenObject) -> dict[str, Any]:
    return written.before.body.thaw() if written.before is not None else {}


def _without_notes(body: dict[str, Any]) -> dict[str, Any]:
    """Return an object with only those of its metadata that people set."""
    metadata = body.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    notes = {*BOOKKEEPING, LAST_APPLIED}
    noted = {key: value for key, value in annotations.items() if key not in notes}
    return {**body, "metadata": {"labels": metadata.get("labels") or {}, "annotations": noted}}


def is_extended(write: PlannedWrite, written: WrittenObject, live: LiveObject) -> bool:
    """Tell whether others have since put something of theirs into what our apply created.

    That is a value of ours that they changed, a field that another run of the gate added, or a new
    key of a ConfigMap or Secret. Anything else that other managers add does not count: controllers
    write annotations, finalizers and the like to whatever they serve.
    """
    if live.resource_version == written.after.resource_version:
        return False
    if foreign_fields(write, written, live) is not None:
        return True
    if added_fields(write, written, live) is not None:
        return True
    after, now = written.after.body.thaw(), live.body.thaw()
    return any(set(now.get(name) or ()) - set(after.get(name) or ()) for name in _DATA)


def has_values_of_others(write: PlannedWrite, written: WrittenObject, live: LiveObject) -> bool:
    """Tell whether others have since set something in the spec of a workload that we created.

    Its deletion would take that along. Replicas do not count, which autoscalers set, nor do
    annotations of the pod template, which `kubectl rollout restart` writes.
    """
    if live.resource_version == written.after.resource_version:
        return False
    theirs: Fields | None = None
    for entry in live.thaw_managed_fields():
        if entry.get("manager") != write.field_manager:
            theirs = union(theirs, descend(entry.get("fieldsV1"), "spec"))
    after, now = written.after.body.thaw(), live.body.thaw()
    changed = paths(select_changed(now["spec"], after["spec"], theirs))
    return any(not path.startswith(_NO_VALUES_OF_OTHERS) for path in changed)


def with_added(write: PlannedWrite, added: Fields, live: LiveObject) -> PlannedWrite:
    """Return a write back that also sends the `added` fields, as they are live."""
    return replace(write, body=Body.of(graft(write.body.thaw(), live.body.thaw(), added)))


def without_conflicts(
    write: PlannedWrite, conflicts: tuple[str, ...], written: WrittenObject | None
) -> tuple[PlannedWrite | None, tuple[str, ...]]:
    """Return a write back without the fields that are in conflict, and the paths left to others.

    `conflicts` are the server's paths. If our own apply took all of them by force, the write
    forces them back; not the number of replicas: whoever owns that has scaled since. None instead
    of a write if that would leave the pod template to others, or nothing to restore.
    """
    forced = forced_fields(written) if written is not None else frozenset()
    taken = forced - {REPLICAS_PATH.lstrip(".")}
    others = tuple(path for path in conflicts if path.lstrip(".") not in taken)
    if write.verb is not Verb.APPLY or not conflicts:
        return None, ()
    if not others:
        return (replace(write, force=True) if taken and not write.force else None), ()
    if any(is_of_template(path.lstrip(".")) for path in others):
        return None, ()
    body = write.body.thaw()
    for path in others:
        body = remove_field(body, path)
    smaller = replace(write, body=Body.of(body))
    return (None, ()) if smaller == write else (smaller, others)


def without_unfit(
    write: PlannedWrite, changed: Fields | None, written: WrittenObject, live: LiveObject
) -> tuple[PlannedWrite, Fields | None]:
    """Return a workload's way back that leaves the parts of its spec that others `changed`.

    Which fields have to fit to each other, as `maxUnavailable` and `maxSurge`, only the server
    knows: each struct in the spec is a part, and the spec's other fields are one. What we own in
    such a part is sent as it is live. Neither the pod template nor replicas are in any. The second
    value is what does not return for that, None if nothing does.
    """
    back, now = write.body.thaw(), live.body.thaw()
    ours = managed_fields.owned_fields(live.thaw_managed_fields(), write.field_manager)
    restored = _select_restored_fields(back, written)
    if live.workload is None:
        return write, None
    parts = {_part_of(key, back, now) for key in _keys_of_spec(changed)}
    keys = {*_keys_of_spec(ours), *_keys_of_spec(restored)}
    left = {f"f:{key}" for key in keys if _part_of(key, back, now) in parts}
    kept, unsent = (_select_keys(one, left) for one in (ours, restored))
    unfit = subtract(_differing(back, now, union(kept, unsent)), changed)
    body = dict(back)
    if "spec" in back:
        body["spec"] = {key: one for key, one in back["spec"].items() if f"f:{key}" not in left}
    return replace(write, body=Body.of(graft(body, now, kept) if kept else body)), unfit


def _keys_of_spec(fields: Fields | None) -> Iterator[str]:
    """Yield the keys of a spec that a set names, without those that go back in any case."""
    for step in descend(fields, "spec") or {}:
        if step.startswith("f:") and step not in ("f:template", "f:replicas"):
            yield step.removeprefix("f:")


def _part_of(key: str, *bodies: dict[str, Any]) -> str:
    """Return which part of a spec a key is in: a struct is one by itself, "" has all the others."""
    values = (body.get("spec", {}).get(key) for body in bodies)
    return key if any(isinstance(value, dict) for value in values) else ""


def _select_keys(fields: Fields | None, steps: Collection[str]) -> Fields | None:
    """Return of a set what it names of the spec below these steps, None if that is nothing."""
    spec = descend(fields, "spec") or {}
    found = {step: inner for step, inner in spec.items() if step in steps}
    return {"f:spec": found} if found else None


def _select_restored_fields(back: dict[str, Any], written: WrittenObject) -> Fields | None:
    """Return the fields that the way back sends."""
    if written.before is None:
        return None
    owned: Fields | None = None
    for entry in written.before.thaw_managed_fields():
        owned = union(owned, entry.get("fieldsV1") or None)
    return select_changed(back, None, owned)


def _differing(one: Any, other: Any, named: Fields | None) -> Fields | None:
    """Return the named fields that only one of the two has, or that differ in value."""
    return union(select_changed(one, other, named), select_changed(other, one, named))


def _without_spec(named: Fields | None, keys: set[str]) -> Fields | None:
    if not named or not named.get("f:spec"):
        return named
    spec = {key: inner for key, inner in named["f:spec"].items() if key not in keys}
    others = {key: inner for key, inner in named.items() if key != "f:spec"}
    return {**others, "f:spec": spec} if spec else others or None

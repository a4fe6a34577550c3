"""Compares an object as an attempt left it with what is read of it at the end."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gate.core.frozen import dataclass
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Fact, Unknown
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.plan.rollback_plan import content
from gate.core.ssa import field_set, managed_fields
from gate.core.ssa.field_set import Fields
from gate.core.ssa.irreversible_changes import why_irreversible
from gate.core.ssa.last_applied import without_last_applied

REPLICAS = ("spec.replicas",)


class FindingKind(enum.StrEnum):
    """How an object compares with what the attempt left."""

    AS_WRITTEN = "as-written"
    CHANGED = "changed"
    """Somebody else has changed or removed fields of ours."""
    NOT_AS_SENT = "not-as-sent"
    """The answer to our own restoration already differed from what was sent."""
    DELETED = "deleted"
    BEING_DELETED = "being-deleted"
    RECREATED = "recreated"
    UNREAD = "unread"
    WRITTEN_LATE = "written-late"
    """A write that no answer showed to be done was done after all, and did not go back."""


@dataclass(frozen=True, slots=True)
class LeftObject:
    """An object as the answer to our last write shows it.

    `sent` is what a restoration is held against, None for a write on the way out, whose result the
    server's defaults and webhooks may legally change, and for a workload whose pod template is the
    one of before. `autoscaled`: `spec.replicas` is not ours to keep. `has_known_uid` is whether the
    answer says which object of that name it was.
    """

    answer: LiveObject
    sent: Body | None = None
    field_manager: str = FIELD_MANAGER
    autoscaled: bool = False
    has_known_uid: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """How one object compares at the end with what the attempt left.

    `managers` are the field managers that now own the differing fields, or that created the
    object again; empty if the object does not say. `paths` are the differing fields, `finalizers`
    what a deletion waits for, `why` what kept the object from being read. `irreversible` is why
    nobody can take somebody else's change back.
    """

    kind: FindingKind
    managers: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    finalizers: tuple[str, ...] = ()
    why: str = ""
    irreversible: str = ""


def compare(left: LeftObject, fact: Fact[LiveObject]) -> Finding:
    """Return how an object that was left as `left` compares with `fact`, as it was read."""
    if isinstance(fact, Unknown):
        return Finding(FindingKind.UNREAD, why=fact.why)
    if isinstance(fact, Absent):
        return Finding(FindingKind.DELETED)
    live = fact.value
    if left.has_known_uid and live.uid != left.answer.uid:
        return Finding(FindingKind.RECREATED, managers=_writers(live))
    metadata = live.body.thaw().get("metadata", {})
    if metadata.get("deletionTimestamp"):
        finalizers = tuple(map(_printable, metadata.get("finalizers") or ()))
        return Finding(FindingKind.BEING_DELETED, finalizers=finalizers)
    stuck = why_irreversible(left.answer.body.thaw(), live.body.thaw())
    return replace(_compare_fields(left, live), irreversible=stuck)


def _compare_fields(left: LeftObject, live: LiveObject) -> Finding:
    answer = left.answer
    owned = _find_compared_fields(left)
    if owned is None:
        untracked = not answer.thaw_managed_fields() and content(answer.body) != content(live.body)
        return Finding(FindingKind.CHANGED if untracked else FindingKind.AS_WRITTEN)
    expected = without_last_applied((left.sent or answer.body).thaw())
    differing = field_set.differing(expected, owned, live.body.thaw())
    paths = tuple(path for path in differing if not (left.autoscaled and path in REPLICAS))
    if not paths:
        return Finding(FindingKind.AS_WRITTEN)
    if left.sent is not None:
        altered = set(field_set.differing(expected, owned, answer.body.thaw()))
        never = tuple(path for path in paths if path in altered)
        if never:
            return Finding(FindingKind.NOT_AS_SENT, paths=never)
    return Finding(FindingKind.CHANGED, _who_changed(left, live, owned, paths), paths)


def _find_compared_fields(left: LeftObject) -> Fields | None:
    """Return what our manager owned in the answer, by applies and by patches.

    Of an object beside the workloads that was restored, what anybody owned: others may have
    restored it. Of that only what was sent is compared.
    """
    owned: Fields | None = None
    if left.sent is not None and left.answer.workload is None:
        for entry in left.answer.thaw_managed_fields():
            owned = field_set.union(owned, entry.get("fieldsV1") or None)
        return owned
    for operation in ("Apply", "Update"):
        part = managed_fields.owned_fields(
            left.answer.thaw_managed_fields(), left.field_manager, operation
        )
        owned = field_set.union(owned, part)
    return owned


def _who_changed(
    left: LeftObject, live: LiveObject, owned: Fields, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Name who now owns any of the paths, or has replaced items of a list.

    A field that was removed has no owner. One that is ours alone was written by another run under
    our manager's name, if its managed-fields entry is not the one that we left.
    """
    ours = left.field_manager
    theirs = managed_fields.managers_of(live.thaw_managed_fields(), owned, ours)
    named = [name for name, held in theirs.items() if _overlap(paths, held)]
    if not named:
        then = left.answer.thaw_managed_fields()
        new_entries = [entry for entry in live.thaw_managed_fields() if entry not in then]
        named = [
            str(entry.get("manager")) for entry in new_entries if _has_written(entry, ours, paths)
        ]
    return tuple(map(_printable, dict.fromkeys(named)))


def _has_written(entry: Mapping[str, Any], ours: str, paths: tuple[str, ...]) -> bool:
    """Tell whether a new entry owns any of the paths under our name, or other items of a list."""
    held = field_set.paths(entry.get("fieldsV1"))
    if entry.get("manager") == ours:
        return _overlap(paths, held)
    lists = [path[: path.rindex("[")] for path in paths if path.endswith("]")]
    return any(path.startswith(f"{one}[") for path in held for one in lists)


def _overlap(paths: Iterable[str], held: Iterable[str]) -> bool:
    held = tuple(held)
    return any(_contains(a, b) or _contains(b, a) for a in paths for b in held)


def _contains(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))


def _writers(live: LiveObject) -> tuple[str, ...]:
    """Name who wrote an object, except for writes through subresources."""
    names = (
        entry.get("manager") for entry in live.thaw_managed_fields() if not entry.get("subresource")
    )
    return tuple(dict.fromkeys(_printable(name) for name in names if name))


def _printable(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)

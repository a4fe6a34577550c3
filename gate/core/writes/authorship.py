"""Who changed a workload, seen after the answer to a write of ours was lost.

That write may land long after it was given up: late in a proxy, or a server that was away. What
our manager owns shows it, as the fields of other managers show a change of theirs.
"""

from __future__ import annotations

import enum
from typing import Final

from gate.core.attempt.state import Attempt
from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER, Verb
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref, Workload
from gate.core.plan.rollback_plan import WrittenObject, content, is_of_template
from gate.core.ssa import field_set
from gate.core.ssa.field_set import Fields
from gate.core.writes.lost_response import has_landed

_REPLICAS: Final[Fields] = {"f:replicas": {}}


class Author(enum.Enum):
    """Who changed a workload."""

    OURS = "ours"
    OTHERS = "others"
    UNKNOWN = "unknown"


def find_author(attempt: Attempt, ref: Ref) -> Author:
    """Return who changed what is live, as it was read last, since the preflight.

    OURS if it is as the apply of this plan leaves it. What is gone, or was made again, is OTHERS'.
    """
    live, before = attempt.ledger.live.get(ref), attempt.plan.before(ref)
    if live is None or (before is not None and live.uid != before.uid):
        return Author.OTHERS
    applied = (one for one in attempt.plan.writes if one.ref == ref and one.verb is Verb.APPLY)
    head = next(applied, None)
    if head is None:
        return Author.OTHERS
    if has_landed(head, live, attempt.plan.trial(ref)):
        return Author.OURS
    theirs = _list_others(live, head.field_manager)
    is_theirs = before is None or theirs != _list_others(before, head.field_manager)
    return Author.OTHERS if is_theirs and theirs else Author.UNKNOWN


def find_changers(
    before: LiveObject, live: LiveObject, field_manager: str = FIELD_MANAGER
) -> dict[str, tuple[str, ...]]:
    """Return which other managers own what `live` has otherwise than `before`, with the paths.

    The status, and the number of replicas of a workload, do not count, nor does what others
    removed: nobody owns that any more.
    """
    found: dict[str, tuple[str, ...]] = {}
    then, now = (content(one.body) for one in (before, live))
    for entry in live.managed.thaw().get("managedFields", ()):
        manager = str(entry.get("manager"))
        changed = field_set.select_changed(now, then, entry.get("fieldsV1") or None)
        if live.workload is not None:
            changed = field_set.subtract(changed, {"f:spec": _REPLICAS})
        is_ours = manager in (FIELD_MANAGER, field_manager)
        if not is_ours and entry.get("subresource") != "status" and changed:
            found[manager] = (*found.get(manager, ()), *field_set.paths(changed))
    return found


def find_own_result(written: WrittenObject) -> Body:
    """Return what a write of ours made of an object, without what others alone changed before."""
    if written.before is None:
        return written.after.body
    ours: Fields | None = None
    theirs: Fields | None = None
    for entry in written.after.managed.thaw().get("managedFields", ()):
        owned = entry.get("fieldsV1") or None
        if entry.get("manager") in (FIELD_MANAGER, written.field_manager):
            ours = field_set.union(ours, owned)
        else:
            theirs = field_set.union(theirs, owned)
    then, made = written.before.body.thaw(), written.after.body.thaw()
    alone = field_set.subtract(theirs, ours)
    changed = field_set.select_changed(made, then, alone)
    added = _collapse(field_set.select_left_out(made, then, alone))
    own = field_set.graft(made, then, changed) if changed else made
    for path in field_set.paths(added):
        own = field_set.remove_field(own, path)
    return Body.of(own)


def _collapse(fields: Fields | None) -> Fields | None:
    """Return a set with each map and item of a list whole that it names as such."""
    if not fields:
        return fields
    return {
        key: {} if field_set.ITSELF in inner else _collapse(inner) for key, inner in fields.items()
    }


def name_changers(before: LiveObject | None, live: LiveObject | None) -> str:
    """Name who changed the pod template between two reads of an object, "" if that is not known."""
    if before is None or live is None:
        return ""
    found = find_changers(before, live).items()
    return " and ".join(who for who, paths in found if any(map(is_of_template, paths)))


def name_writer(
    read: LiveObject | None, live: Workload | None, field_manager: str = FIELD_MANAGER
) -> str:
    """Name the field manager that wrote the live template last, "" if that is not known.

    Only reads have managed fields, so the object that was read must have that template. Our own
    managers are none of them: `field_manager` is that of our write.
    """
    if read is None or read.workload is None or live is None:
        return ""
    if read.workload.template.body != live.template.body:
        return ""
    return _find_last_writer(read, "spec", "template", ours=field_manager)[1]


def describe_scaler(read: LiveObject | None) -> str:
    """Say who scaled a workload to 0 and when, as far as what was read last shows it."""
    if read is None or read.workload is None or read.workload.replicas:
        return "who did it is not known: it was not read after that"
    at, manager = _find_last_writer(read, "spec", "replicas")
    if manager:
        return f"by {manager}{f' at {at}' if at else ''}"
    return "who did it is not recorded: kubectl scale and autoscalers leave no name beside a 0"


def name_scaler(before: LiveObject | None, written: WrittenObject | None, back: LiveObject) -> str:
    """Name who has scaled what went back to more than 0 replicas that are not those of before.

    "" if nobody has, as far as `back` shows it: what the way back left, or what was found of it. A
    number that is not the attempt's either, and has no owner, somebody has set by way of 0.
    """
    if before is None or before.workload is None or back.workload is None:
        return ""
    number, sent = back.workload.replicas, written.after.workload if written is not None else None
    if number in (0, before.workload.replicas):
        return ""
    named = _find_last_writer(back, "spec", "replicas")[1]
    return named or ("somebody" if sent is not None and number != sent.replicas else "")


def _find_last_writer(read: LiveObject, *names: str, ours: str = FIELD_MANAGER) -> tuple[str, str]:
    """Return when which other field manager wrote the field at `names` last, "" for unknown."""
    return max(
        (
            (str(entry.get("time") or ""), str(entry.get("manager") or ""))
            for entry in read.managed.thaw().get("managedFields", ())
            if field_set.descend(entry.get("fieldsV1"), *names) is not None
            and entry.get("manager") not in (FIELD_MANAGER, ours)
        ),
        default=("", ""),
    )


def _list_others(live: LiveObject, field_manager: str) -> dict[tuple[str, str], tuple[Fields, str]]:
    """Return what other managers own of the spec, the number of replicas aside, and since when."""
    found: dict[tuple[str, str], tuple[Fields, str]] = {}
    for entry in live.managed.thaw().get("managedFields", ()):
        owned = field_set.subtract(field_set.descend(entry.get("fieldsV1"), "spec"), _REPLICAS)
        if owned and entry.get("manager") != field_manager:
            key = str(entry.get("manager")), str(entry.get("operation"))
            found[key] = owned, str(entry.get("time") or "")
    return found

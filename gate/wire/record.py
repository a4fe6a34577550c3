"""Records as text for annotations, bounded.

An annotation is as readable as the objects in it, and all annotations of an object together may be
256 KiB. So no body of a Secret is ever in one, and what does not fit is left out, with the reason.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_type_hints

import msgspec

from gate.core.kinds.registry import reason_of
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.objects import Ref
from gate.core.model.outcome import Reason
from gate.core.model.remedy import Remedy
from gate.core.plan.leg import Leg
from gate.core.plan.phases import Phase
from gate.core.plan.record import Followed, Kept, Record, RemovedPod
from gate.core.plan.target_set import AppliedVersion, TargetSet, UndoLimits
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause, Crash
from gate.core.rollout.pods_before import PodsBefore
from gate.core.rollout.policy import Budgets, Policy, Requirement, Response
from gate.wire import decode
from gate.wire.earlier_causes import find_crash, find_need
from gate.wire.kept import encode_kept, kept_of, ref, ref_of
from gate.wire.kinds import registry
from gate.wire.origin import origin, origin_of
from gate.wire.packed import pack, unpack
from gate.wire.untrusted import clean_line

MOST_CHARACTERS: Final = 160 * 1024
"""The limit of a record; with history and holder it stays below the API's 256 KiB."""
TOO_LARGE: Final = "what it was before is too large for the record"
NO_SECRETS: Final = "what it was before is a Secret's, which the record does not hold"

# -- records ---------------------------------------------------------------------------------------


def without_secrets(record: Record) -> Record:
    """Return a record without the contents of Secrets."""
    secrets = {kept.ref for kept in record.objects if kept.ref.kind == "Secret"}
    confidential = confidential_bodies(record)
    bare = _without(record, secrets, NO_SECRETS)
    return replace(bare, target_set=_set_without(bare.target_set, confidential, NO_SECRETS))


def confidential_bodies(record: Record) -> dict[Ref, Body]:
    """Return the bodies, among those that objects return to, that only a Secret may hold."""
    target_set = record.target_set
    return {
        ref: body
        for ref, body in target_set.bodies.items()
        if ref.kind == "Secret" or ref in target_set.confidential
    }


def secrets_of(record: Record) -> tuple[Kept, ...]:
    """Return the Secrets that existed before and that the attempt, or its way back, may change."""
    return tuple(
        kept
        for kept in record.objects
        if kept.ref.kind == "Secret" and isinstance(kept.before, Known)
        if kept.changes or kept.ref in record.target_set.bodies
    )


def fitting(record: Record, most_characters: int = MOST_CHARACTERS) -> tuple[str, Record]:
    """Return a record's text, and the record that it holds: the largest bodies are left out first.

    Before them goes a set that is set aside, which only a late write would call for. Workloads are
    left out last: what serves again matters most.
    """
    text = pack(_record(record))
    if len(text) > most_characters and record.target_set.is_set_aside:
        bodies = record.target_set.bodies
        record = replace(record, target_set=_set_without(record.target_set, bodies, TOO_LARGE))
        text = pack(_record(record))
    if len(text) <= most_characters:
        return text, record
    characters = {one.ref: len(pack(encode_kept(one))) for one in record.objects}
    order = sorted(record.objects, key=lambda one: (_is_judged(one), -characters[one.ref]))
    for one in order:
        record = _without(record, {one.ref}, TOO_LARGE)
        characters.pop(one.ref)
        if sum(characters.values()) <= most_characters:
            text = pack(_record(record))
        if len(text) <= most_characters:
            break
    return text, record


def _is_judged(one: Kept) -> bool:
    return registry.find_workload(one.ref.api_version, one.ref.kind) is not None


def _without(record: Record, refs: Collection[Ref], why: str) -> Record:
    objects = tuple(
        _without_bodies(kept, why) if kept.ref in refs else kept for kept in record.objects
    )
    return replace(record, objects=objects, target_set=_set_without(record.target_set, refs, why))


def _set_without(target_set: TargetSet, refs: Collection[Ref], why: str) -> TargetSet:
    lost = [ref for ref in target_set.bodies if ref in refs]
    if not lost:
        return target_set
    bodies = {ref: body for ref, body in target_set.bodies.items() if ref not in refs}
    missing = {**target_set.missing, **{ref: clean_line(why) for ref in lost}}
    return replace(target_set, bodies=FrozenMap(bodies), missing=FrozenMap(missing))


def _without_bodies(kept: Kept, why: str) -> Kept:
    """Leave out the bodies; that nothing was there before stays, as it needs none."""
    before = Unknown(why) if isinstance(kept.before, Known) else kept.before
    return replace(kept, before=before, expected=None)


def read_record(text: str) -> Record:
    """Read a record; DecodeError for anything else."""
    return unpack(text, _record_of)


def _record(record: Record) -> dict[str, Any]:
    return {
        "attempt": record.attempt_id,
        **origin(record.origin),
        "command": record.command,
        "leg": record.leg.value,
        "why": [cause(one) for one in record.why],
        "objects": [encode_kept(one) for one in record.objects],
        "followed": [
            {
                "ref": ref(one.ref),
                **_baseline(one.baseline),
                "why": [cause(each) for each in one.why],
                "removed": [[each.name, each.uid] for each in one.removed],
                "phase": one.phase.value,
                "replaced": one.is_replaced,
                "taken_back": one.taken_back,
                "pods_before": _pods_before(one.pods_before),
                "undone": one.undone,
                "returned_before": [ref(each) for each in one.returned_before],
            }
            for one in record.followed
        ],
        "policy": _policy(record.policy),
        "checks": list(record.checks),
        "set": {
            "bodies": [[ref(one), body.thaw()] for one, body in record.target_set.bodies.items()],
            "missing": [[ref(one), why] for one, why in record.target_set.missing.items()],
            "obstacles": [[ref(one), why] for one, why in record.target_set.obstacles.items()],
            "doubts": [[ref(one), why] for one, why in record.target_set.applied.doubts.items()],
            "unverified": [ref(one) for one in record.target_set.unverified],
            "shared": [[ref(one), ref(other)] for one, other in record.target_set.shared.items()],
            "beside": [
                [ref(one), digest] for one, digest in record.target_set.applied.beside.items()
            ],
            "undo_lacks": [
                [ref(one), [ref(each) for each in refs]]
                for one, refs in record.target_set.undo.lacks.items()
            ],
            "undo_conflicts": [
                [ref(one), list(managers)]
                for one, managers in record.target_set.undo.conflicts.items()
            ],
            "undo_beyond": [ref(one) for one in record.target_set.undo.beyond],
            "applied_again": [ref(one) for one in record.target_set.applied.again],
            "left_by_check": [ref(one) for one in record.target_set.applied.left_by_check],
            "unproven": [ref(one) for one in record.target_set.applied.unproven],
            "set_aside": record.target_set.is_set_aside,
        },
    }


def _record_of(value: Mapping[str, Any]) -> Record:
    return Record(
        command=clean_line(value["command"]),
        leg=Leg(value["leg"]),
        objects=tuple(kept_of(one) for one in value["objects"]),
        followed=tuple(map(_followed_of, value["followed"])),
        policy=_policy_of(value["policy"]),
        why=tuple(_why_of(value["why"])),
        checks=tuple(map(clean_line, value["checks"])),
        attempt_id=clean_line(value["attempt"]),
        target_set=_target_set_of(value.get("set") or {}),
        origin=origin_of(value),
    )


def _why_of(values: Sequence[Mapping[str, Any]]) -> Iterator[Cause]:
    """Read why an attempt went back: the failure first, then what was behind it.

    An older gate named an object that was needed and not ready in the message alone.
    """
    for number, one in enumerate(map(cause_of, values)):
        is_need = number > 0 and one.reason is Reason.OBJECT_NOT_READY and not one.subject
        yield replace(one, subject=find_need(one.message)) if is_need else one


def _followed_of(value: Mapping[str, Any]) -> Followed:
    """Read a workload that was followed; an older gate named neither a failure nor a phase."""
    why = tuple(map(cause_of, value.get("why") or ()))
    removed = tuple(
        RemovedPod(clean_line(name), clean_line(uid)) for name, uid in value.get("removed") or ()
    )
    phase = Phase(value.get("phase", Phase.MAIN))
    baseline = _baseline_of(value["baseline"], value.get("unclear"))
    is_replaced = bool(value.get("replaced"))
    taken_back = clean_line(value.get("taken_back", ""))
    before = _pods_before_of(value.get("pods_before") or {})
    name = ref_of(value["ref"])
    known = Followed(name, baseline, why, removed, phase, is_replaced, taken_back, before)
    late = tuple(map(ref_of, value.get("returned_before", ())))
    return replace(known, undone=clean_line(value.get("undone", "")), returned_before=late)


def _target_set_of(value: Mapping[str, Any]) -> TargetSet:
    bodies = ((ref_of(one), Body.of(body)) for one, body in value.get("bodies", ()))
    missing, obstacles, doubts = (
        FrozenMap((ref_of(one), clean_line(why)) for one, why in value.get(name, ()))
        for name in ("missing", "obstacles", "doubts")
    )
    beside = ((ref_of(one), str(digest)) for one, digest in value.get("beside", ()))
    lacks = ((ref_of(one), tuple(map(ref_of, refs))) for one, refs in value.get("undo_lacks", ()))
    conflicts = (
        (ref_of(one), tuple(map(clean_line, managers)))
        for one, managers in value.get("undo_conflicts", ())
    )
    beyond, again, left, unproven = (
        tuple(map(ref_of, value.get(name, ())))
        for name in ("undo_beyond", "applied_again", "left_by_check", "unproven")
    )
    return TargetSet(
        FrozenMap(bodies),
        missing,
        obstacles,
        unverified=tuple(map(ref_of, value.get("unverified", ()))),
        shared=FrozenMap((ref_of(one), ref_of(other)) for one, other in value.get("shared", ())),
        applied=AppliedVersion(FrozenMap(beside), again, doubts, left, unproven),
        undo=UndoLimits(FrozenMap(lacks), FrozenMap(conflicts), beyond),
        is_set_aside=bool(value.get("set_aside")),
    )


def _policy(policy: Policy) -> dict[str, Any]:
    """Return a policy without its checks; what its parts have stands side by side."""
    values: dict[str, Any] = {}
    for part, kinds in _limits().items():
        holder = getattr(policy, part) if part else policy
        values.update((name, msgspec.to_builtins(getattr(holder, name))) for name in kinds)
    return values


def _policy_of(value: Mapping[str, Any]) -> Policy:
    """Read a policy; what a later version added is ignored, what an older lacks has its default."""
    parts: dict[str, Any] = {}
    for part, kinds in _limits().items():
        known = {
            name: msgspec.convert(value[name], kind)
            for name, kind in kinds.items()
            if name in value
        }
        parts |= {part: _PARTS[part](**known)} if part else known
    return Policy(**parts)


_PARTS: Final[Mapping[str, Any]] = {
    "budgets": Budgets,
    "requirement": Requirement,
    "response": Response,
}


@functools.cache
def _limits() -> Mapping[str, Mapping[str, Any]]:
    """Return the fields of each part of a policy with their types; "" has its own others."""
    own = get_type_hints(Policy)
    left_out = {"checks", *_PARTS}
    return {
        **{part: get_type_hints(kind) for part, kind in _PARTS.items()},
        "": {name: kind for name, kind in own.items() if name not in left_out},
    }


# -- parts -----------------------------------------------------------------------------------------


def _pods_before(before: PodsBefore) -> dict[str, Any]:
    """Return what pods ran; the places of each version stand together, which packs well."""
    others: dict[str, list[str]] = {}
    for place, key in before.others.items():
        others.setdefault(key, []).append(place)
    return {
        "usual": before.usual,
        "others": others,
        "going": sorted(before.going),
        "count": before.count,
    }


def _pods_before_of(value: Mapping[str, Any]) -> PodsBefore:
    """Read what pods ran; an older gate did not say it."""
    others = (
        (clean_line(place), clean_line(key))
        for key, places in (value.get("others") or {}).items()
        for place in places
    )
    going = frozenset(map(clean_line, value.get("going") or ()))
    usual = clean_line(value.get("usual", ""))
    return PodsBefore(usual, FrozenMap(others), going, int(value.get("count", 0)))


def _baseline(fact: Fact[Baseline]) -> dict[str, Any]:
    """Return what served beside why nobody can tell that: an older gate reads the first alone."""
    match fact:
        case Known(baseline):
            return {"baseline": _known_baseline(baseline)}
        case Unknown(why):
            return {"baseline": None, "unclear": why}
        case _:
            return {"baseline": None}


def _known_baseline(baseline: Baseline) -> dict[str, Any]:
    return {
        "replica_set": baseline.revision_name,
        "revision": baseline.revision,
        "template": baseline.template.body.thaw(),
        "hash": baseline.label_value,
        **({"unverified": cause(baseline.unverified)} if baseline.unverified is not None else {}),
        **({} if baseline.served else {"served": False}),
    }


def _baseline_of(value: Mapping[str, Any] | None, unclear: str | None) -> Fact[Baseline]:
    """Read what served; an older gate did not say that nobody can tell."""
    if value is None:
        return Absent() if unclear is None else Unknown(clean_line(unclear))
    known = Baseline(
        clean_line(value["replica_set"]),
        None if value["revision"] is None else int(value["revision"]),
        decode.template(value["template"]),
        clean_line(value["hash"]),
        cause_of(value["unverified"]) if value.get("unverified") else None,
        bool(value.get("served", True)),
    )
    return Known(known)


def cause(one: Cause) -> dict[str, Any]:
    """Return a cause as JSON."""
    crash = _crash(one.crash) if one.crash is not None else None
    found = {"reason": one.reason.value, "message": one.message, "pods": one.pods, "crash": crash}
    about = {
        "subject": one.subject,
        "remedy": one.remedy.value,
        "check": one.check,
        "seen": one.seen.value if one.seen is not None else "",
    }
    return {**found, **{key: value for key, value in about.items() if value}}


def cause_of(value: Mapping[str, Any]) -> Cause:
    """Read a cause; an older gate named a container that had ended in the message alone."""
    message = clean_line(value["message"])
    return Cause(
        reason_of(value["reason"]),
        message,
        int(value["pods"]),
        clean_line(value.get("subject") or ""),
        _remedy_of(value.get("remedy")),
        clean_line(value.get("check") or ""),
        reason_of(value["seen"]) if value.get("seen") else None,
        _crash_of(value["crash"]) if "crash" in value else find_crash(message),
    )


def _crash(one: Crash) -> dict[str, Any]:
    return {"container": one.container, "init": one.is_init, "last_words": one.has_last_words}


def _crash_of(value: Mapping[str, Any] | None) -> Crash | None:
    if value is None:
        return None
    is_init, has_last_words = value["init"] is True, value["last_words"] is True
    return Crash(clean_line(value["container"]), is_init, has_last_words)


def _remedy_of(name: object) -> Remedy:
    """Return the remedy of that name; one that a later gate knows is none."""
    return next((one for one in Remedy if one.value == name), Remedy.NONE)

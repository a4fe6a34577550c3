"""Records and histories as text for annotations, bounded.

An annotation is as readable as the objects in it, and all annotations of an object together may
be 256 KiB. So no body of a Secret is ever in one, and what does not fit is left out and said.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final, get_type_hints

import msgspec

from gate.core.baseline import Baseline
from gate.core.body import Body
from gate.core.causes import Cause
from gate.core.fact import Known, Unknown
from gate.core.machine import Leg
from gate.core.objects import Ref
from gate.core.outcome import Reason
from gate.core.policy import Policy
from gate.core.record import Followed, History, Kept, Record, RolledBack
from gate.wire import decode
from gate.wire.kept import kept, kept_of, ref, ref_of
from gate.wire.packed import packed, unpacked
from gate.wire.untrusted import clean_line

MOST_CHARACTERS: Final = 160 * 1024
"""Of a record; with history and holder it stays below 200 KiB."""
MOST_HISTORY_CHARACTERS: Final = 32 * 1024
TOO_LARGE: Final = "what it was before is too large for the record"
NO_SECRETS: Final = "what it was before is a Secret's, which the record does not hold"

# -- records ---------------------------------------------------------------------------------------


def without_secrets(record: Record) -> Record:
    """Return a record without what Secrets hold."""
    secrets = {kept.ref for kept in record.objects if kept.ref.kind == "Secret"}
    return _without(record, secrets, NO_SECRETS)


def secrets_of(record: Record) -> tuple[Kept, ...]:
    """Return the Secrets that the attempt changes and that existed before, with all they hold."""
    return tuple(
        kept
        for kept in record.objects
        if kept.ref.kind == "Secret" and kept.changes and isinstance(kept.before, Known)
    )


def fitting(record: Record, most_characters: int = MOST_CHARACTERS) -> tuple[str, Record]:
    """Return a record's text, and the record that it holds: the largest bodies do not fit first.

    Deployments are left out last: what serves again is what matters most.
    """
    text = packed(_record(record))
    if len(text) <= most_characters:
        return text, record
    characters = {one.ref: len(packed(kept(one))) for one in record.objects}
    order = sorted(record.objects, key=lambda one: (_is_judged(one), -characters[one.ref]))
    for one in order:
        record = _without(record, {one.ref}, TOO_LARGE)
        characters.pop(one.ref)
        if sum(characters.values()) <= most_characters:
            text = packed(_record(record))
        if len(text) <= most_characters:
            break
    return text, record


def _is_judged(one: Kept) -> bool:
    return one.ref.kind == "Deployment"


def _without(record: Record, refs: Collection[Ref], why: str) -> Record:
    objects = tuple(_emptied(kept, why) if kept.ref in refs else kept for kept in record.objects)
    return replace(record, objects=objects)


def _emptied(kept: Kept, why: str) -> Kept:
    """Leave out the bodies; that nothing was there before needs none."""
    before = Unknown(why) if isinstance(kept.before, Known) else kept.before
    return replace(kept, before=before, expected=None)


def read_record(text: str) -> Record:
    """Read a record; DecodeError for what is none."""
    return unpacked(text, _record_of)


def _record(record: Record) -> dict[str, Any]:
    return {
        "attempt": record.attempt_id,
        "run_url": record.run_url,
        "command": record.command,
        "leg": record.leg.value,
        "why": [_cause(cause) for cause in record.why],
        "objects": [kept(one) for one in record.objects],
        "followed": [
            {"ref": ref(one.ref), "baseline": _baseline(one.baseline)} for one in record.followed
        ],
        "policy": _policy(record.policy),
        "checks": list(record.checks),
    }


def _record_of(value: Mapping[str, Any]) -> Record:
    return Record(
        command=clean_line(value["command"]),
        leg=Leg(value["leg"]),
        objects=tuple(kept_of(one) for one in value["objects"]),
        followed=tuple(
            Followed(ref_of(one["ref"]), _baseline_of(one["baseline"])) for one in value["followed"]
        ),
        policy=_policy_of(value["policy"]),
        why=tuple(map(_cause_of, value["why"])),
        checks=tuple(map(clean_line, value["checks"])),
        attempt_id=clean_line(value["attempt"]),
        run_url=clean_line(value["run_url"]),
    )


def _policy(policy: Policy) -> dict[str, Any]:
    return {name: msgspec.to_builtins(getattr(policy, name)) for name in _limits()}


def _policy_of(value: Mapping[str, Any]) -> Policy:
    """Read a policy; what a later version wrote beyond it is left out."""
    known = {name: kind for name, kind in _limits().items() if name in value}
    return Policy(**{name: msgspec.convert(value[name], kind) for name, kind in known.items()})


@functools.cache
def _limits() -> Mapping[str, Any]:
    """Return the policy's fields with their types, its checks aside."""
    return {name: kind for name, kind in get_type_hints(Policy).items() if name != "checks"}


# -- histories -------------------------------------------------------------------------------------


def history_text(history: History) -> str:
    """Return a history's text; a version that is too large is left out."""
    text = packed(_history(history))
    if len(text) <= MOST_HISTORY_CHARACTERS:
        return text
    return packed(_history(replace(history, verified=None)))


def read_history(text: str) -> History:
    """Read a history, an empty one from an empty text; DecodeError for what is none."""
    return unpacked(text, _history_of) if text else History()


def _history(history: History) -> dict[str, Any]:
    return {
        "verified": _baseline(history.verified),
        "rolled_back": [msgspec.to_builtins(one) for one in history.rolled_back],
        "paused": history.paused,
    }


def _history_of(value: Mapping[str, Any]) -> History:
    return History(
        verified=_baseline_of(value["verified"]),
        rolled_back=tuple(map(_rolled_back_of, value["rolled_back"])),
        paused=value["paused"] is True,
    )


def _rolled_back_of(value: Mapping[str, Any]) -> RolledBack:
    cleaned = {key: clean_line(text) for key, text in value.items()}
    return RolledBack(
        cleaned["template"],
        Reason(cleaned["reason"]),
        cleaned["message"],
        cleaned["run_url"],
        cleaned["at"],
    )


# -- parts -----------------------------------------------------------------------------------------


def _baseline(baseline: Baseline | None) -> dict[str, Any] | None:
    if baseline is None:
        return None
    return {
        "replica_set": baseline.replica_set,
        "revision": baseline.revision,
        "template": baseline.template.body.thaw(),
        "hash": baseline.pod_template_hash,
        "applied": baseline.applied.thaw() if baseline.applied is not None else None,
    }


def _baseline_of(value: Mapping[str, Any] | None) -> Baseline | None:
    if value is None:
        return None
    named = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "-"}}
    template = decode.deployment({**named, "spec": {"template": value["template"]}}).template
    applied = value["applied"]
    return Baseline(
        clean_line(value["replica_set"]),
        None if value["revision"] is None else int(value["revision"]),
        template,
        clean_line(value["hash"]),
        Body.of(applied) if applied is not None else None,
    )


def _cause(cause: Cause) -> dict[str, Any]:
    return {"reason": cause.reason.value, "message": cause.message, "pods": cause.pods}


def _cause_of(value: Mapping[str, Any]) -> Cause:
    return Cause(Reason(value["reason"]), clean_line(value["message"]), int(value["pods"]))

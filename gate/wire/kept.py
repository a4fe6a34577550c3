"""The objects of a record as JSON and back: what they were, what our write makes of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gate.core.kinds.registry import reason_of
from gate.core.model.body import Body
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.plan.record import Kept, Reach
from gate.core.plan.replica_ownership import Scaler
from gate.core.rollout.causes import Cause
from gate.wire import decode
from gate.wire.decode import DecodeError
from gate.wire.packed import pack, unpack
from gate.wire.untrusted import clean_line

Returned = Mapping[Ref, Body]
"""The bodies that objects return to, if these are not what they were before."""


def kept_text(objects: Collection[Kept], returned: Returned) -> str:
    """Return the text of some objects of a record, and of what some return to."""
    bodies = [[ref(one), body.thaw()] for one, body in returned.items()]
    return pack({"objects": [encode_kept(one) for one in objects], "returned": bodies})


def read_kept(text: str) -> tuple[tuple[Kept, ...], Returned]:
    """Read some objects of a record, and what some return to; DecodeError for anything else."""
    return unpack(text, _kept_of_text)


def _kept_of_text(value: Mapping[str, Any]) -> tuple[tuple[Kept, ...], Returned]:
    bodies = {ref_of(one): Body.of(body) for one, body in value.get("returned") or ()}
    return tuple(map(kept_of, value["objects"])), bodies


def encode_kept(one: Kept) -> dict[str, Any]:
    """Return one object of a record as JSON."""
    expected = one.expected
    return {
        "ref": ref(one.ref),
        "before": _fact(one.before),
        "tried": _live(expected) if isinstance(expected, LiveObject) else None,
        "sent": expected.thaw() if isinstance(expected, Body) else None,
        "manager": one.field_manager,
        "uid": one.uid,
        "version": one.resource_version,
        "changes": one.changes,
        "forced": one.forced,
        "autoscaled": one.scaler.keeps_live,
        "by_people": one.scaler is Scaler.PEOPLE,
        "unreached": one.reach.is_unreached,
        "in_doubt": one.reach.is_in_doubt,
        "refusal": _refusal(one.reach.refusal),
        "open": one.reach.is_open,
    }


def kept_of(value: Mapping[str, Any]) -> Kept:
    """Read one object of a record."""
    sent, tried, named = value["sent"], value["tried"], ref_of(value["ref"])
    expected: LiveObject | Body | None = Body.of(sent) if sent is not None else None
    return Kept(
        ref=named,
        before=_fact_of(value["before"], named),
        expected=_live_of(tried, named) if tried is not None else expected,
        field_manager=str(value["manager"]),
        uid=str(value["uid"]),
        resource_version=str(value["version"]),
        changes=value["changes"] is True,
        forced=value["forced"] is True,
        scaler=_scaler_of(value),
        reach=Reach(
            is_unreached=value.get("unreached") is True,
            is_in_doubt=value.get("in_doubt") is True,
            refusal=_refusal_of(value.get("refusal")),
            is_open=value.get("open") is True,
        ),
    )


def _scaler_of(value: Mapping[str, Any]) -> Scaler:
    """Read who decides on the replicas; earlier versions do not tell people from autoscalers."""
    if value["autoscaled"] is not True:
        return Scaler.MANIFEST
    return Scaler.PEOPLE if value.get("by_people") is True else Scaler.AUTOSCALER


def _refusal(cause: Cause | None) -> dict[str, Any] | None:
    return {"reason": cause.reason.value, "message": cause.message} if cause is not None else None


def _refusal_of(value: Mapping[str, Any] | None) -> Cause | None:
    if value is None:
        return None
    return Cause(reason_of(value["reason"]), clean_line(value["message"]))


def _fact(fact: Fact[LiveObject]) -> dict[str, Any]:
    match fact:
        case Known(live):
            return {"known": _live(live)}
        case Unknown(why):
            return {"unknown": why}
        case _:
            return {}


def _fact_of(value: Mapping[str, Any], named: Ref) -> Fact[LiveObject]:
    if "known" in value:
        return Known(_live_of(value["known"], named))
    return Unknown(clean_line(value["unknown"])) if "unknown" in value else Absent()


def _live(live: LiveObject) -> dict[str, Any]:
    body = live.body.thaw()
    body["metadata"] = {**body.get("metadata", {}), **live.managed.thaw()}
    return {"body": body, "version": live.resource_version}


def _live_of(value: Mapping[str, Any], named: Ref) -> LiveObject:
    live = decode.live_object(value["body"])
    if live.ref != named:
        raise DecodeError(f"{named} is recorded as {live.ref}")
    return replace(live, resource_version=str(value["version"]))


def ref(one: Ref) -> list[str]:
    """Return an identity as JSON."""
    return [one.api_version, one.kind, one.namespace, one.name]


def ref_of(value: Any) -> Ref:
    """Read an identity."""
    return _identity_of(*value)


@lru_cache(maxsize=1024)
def _identity_of(api_version: str, kind: str, namespace: str, name: str) -> Ref:
    """Make an identity once: what many locks remember together names the same objects."""
    return Ref(*map(clean_line, (api_version, kind, namespace, name)))

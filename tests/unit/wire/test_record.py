"""Records and histories as text: what goes in comes out, bounded, and without Secrets."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import fields, replace
from random import Random
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.int_or_percent import Share
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.origin import Origin
from gate.core.model.outcome import Reason
from gate.core.model.remedy import Remedy
from gate.core.plan.leg import Leg
from gate.core.plan.record import Followed, Kept, Record, RemovedPod
from gate.core.plan.replica_ownership import Scaler
from gate.core.plan.target_set import AppliedVersion, TargetSet, UndoLimits
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause, Crash
from gate.core.rollout.pods_before import PodsBefore
from gate.core.rollout.policy import Budgets, FailFast, OnFailure, Policy, Requirement, Response
from gate.wire import decode, packed
from gate.wire.decode import DecodeError
from gate.wire.history import read_history
from gate.wire.kept import encode_kept, kept_of, kept_text, read_kept
from gate.wire.record import (
    MOST_CHARACTERS,
    NO_SECRETS,
    confidential_bodies,
    fitting,
    read_record,
    secrets_of,
    without_secrets,
)
from tests.unit.wire.api_objects import noise

OWNED = {"manager": "rollout-gate", "operation": "Apply", "fieldsV1": {"f:spec": {}}}


def live(kind: str = "Deployment", name: str = "web", **content: Any) -> LiveObject:
    """Return an object as a read gives it."""
    version = "apps/v1" if kind == "Deployment" else "v1"
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "resourceVersion": "7"}
    body = {"apiVersion": version, "kind": kind, "metadata": metadata, **content}
    if kind == "Deployment":
        containers = [{"name": "web", "image": "shop/web:1"}]
        body["spec"] = {"template": {"metadata": {}, "spec": {"containers": containers}}}
    metadata["managedFields"] = [OWNED]  # type: ignore[assignment]
    return decode.live_object(body)


def kept(before: LiveObject, **more: Any) -> Kept:
    """Return an object of a record that is changed."""
    expected = replace(before, resource_version="")
    given: dict[str, Any] = {"uid": before.uid, "resource_version": "7", **more}
    return Kept(before.ref, Known(before), expected, "rollout-gate", **given)


WEB, CONFIG = live(), live("ConfigMap", "settings", data={"mode": "a"})
SECRET = live("Secret", "keys", data={"key": "c2VzYW1l"})
DEPLOYMENT = WEB.workload
assert DEPLOYMENT is not None
BASELINE = Baseline("web-1", 3, DEPLOYMENT.template, "abc")
_CRASH = (
    Cause(Reason.CRASH_LOOP, CleanText("it crashes"), 2, crash=Crash("web", True, False)),
    Cause(Reason.BLOCKED_BY_POD, CleanText("web-1 stays"), 0, "pod/web-1", Remedy.DELETE_POD),
    Cause(Reason.CHECK_FAILED, CleanText("errors: too many"), check="errors"),
    Cause(Reason.INTERRUPTED, CleanText("CrashLoop: it crashes"), seen=Reason.CRASH_LOOP),
)
RECORD = Record(
    command="apply",
    leg=Leg.BACK,
    objects=(
        kept(CONFIG, scaler=Scaler.PEOPLE),
        kept(SECRET, forced=True, scaler=Scaler.AUTOSCALER),
        kept(WEB, changes=False),
        Kept(live("Service").ref, Absent(), Body.of({"spec": {}}), "rollout-gate-restart"),
        replace(kept(live("ConfigMap", "big")), before=Unknown("too large"), expected=None),
    ),
    followed=(
        Followed(WEB.ref, Known(BASELINE), _CRASH, (RemovedPod("web-2-x", "p-1"),)),
        Followed(
            WEB.ref,
            Known(replace(BASELINE, unverified=_CRASH[0])),
            pods_before=PodsBefore("v1", FrozenMap({"db-1": "v2"}), frozenset({"p-2", "p-3"}), 3),
            returned_before=(CONFIG.ref, SECRET.ref),
        ),
        Followed(WEB.ref, Absent()),
        Followed(WEB.ref, Unknown("nobody can tell")),
    ),
    policy=Policy(
        budgets=Budgets(timeout_seconds=60.0),
        response=Response(on_failure=OnFailure.PAUSE),
        fail_fast=FailFast(crash_restarts=None),
        observe=True,
        requirement=Requirement(tolerate=Share(25, percent=True)),
    ),
    why=_CRASH,
    attempt_id="ci/7 abc",
    origin=Origin("https://ci/7", "alice", "0123abc"),
)


@pytest.mark.contract("B534")
def test_a_record_is_read_as_it_was_written() -> None:
    """Every part of it, the policy's included; the same record is the same text."""
    text, held = fitting(RECORD)
    assert read_record(text) == held == RECORD
    assert fitting(read_record(text))[0] == text


@pytest.mark.contract("B1815")
def test_a_record_of_before_is_read_that_does_not_say_what_was_late() -> None:
    """A gate of another version may have died."""

    def followed_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
        for one in value["followed"]:
            del one["returned_before"]
        return value

    text = packed.pack(packed.unpack(fitting(RECORD)[0], followed_of))
    bare = tuple(replace(one, returned_before=()) for one in RECORD.followed)
    assert read_record(text) == replace(RECORD, followed=bare)


@pytest.mark.contract("B1824")
def test_a_record_of_before_is_read_that_does_not_say_why_nobody_can_tell_what_served() -> None:
    """Nothing served then: an older gate kept that of both."""

    def followed_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
        for one in value["followed"]:
            one.pop("unclear", None)
        return value

    text = packed.pack(packed.unpack(fitting(RECORD)[0], followed_of))
    found = [one.baseline for one in read_record(text).followed]
    assert found[2:] == [Absent(), Absent()]


@pytest.mark.contract("B751")
def test_a_record_of_before_is_read_that_does_not_say_which_one_failed() -> None:
    """A gate of another version may have died."""

    def followed_of(value: Mapping[str, Any]) -> Mapping[str, Any]:
        for one in value["followed"]:
            del one["why"]
        return value

    text = packed.pack(packed.unpack(fitting(RECORD)[0], followed_of))
    bare = tuple(replace(one, why=()) for one in RECORD.followed)
    assert read_record(text) == replace(RECORD, followed=bare)


def of_before(record: Record) -> Record:
    """Return a record as it is read of a gate that had values of its causes in messages alone."""

    def without_values(value: Mapping[str, Any]) -> Mapping[str, Any]:
        followed = (cause for one in value["followed"] for cause in one["why"])
        for one in (*value["why"], *followed):
            one.pop("crash")
            one.pop("subject", None)
        return value

    return read_record(packed.pack(packed.unpack(fitting(record)[0], without_values)))


@pytest.mark.contract("B751")
@pytest.mark.parametrize(
    ("message", "crash"),
    [
        ("web: Error, exit code 1, 3 restarts: no schema (1 of 1 created pods)", ("web", True)),
        ("init container web: OOMKilled, exit code 137, not restarted yet", ("web", False)),
        ("deployment/web: not complete within 60 s", None),
    ],
)
def test_a_record_of_before_says_which_container_ended_in_a_message(
    message: str, crash: tuple[str, bool] | None
) -> None:
    """It is read as the value that came later; a message that quotes such words keeps its own."""
    is_init = message.startswith("init")
    ended = Crash(crash[0], is_init, has_last_words=crash[1]) if crash is not None else None
    bare = Cause(Reason.CRASH_LOOP, CleanText(message), 1)
    (followed, *_) = RECORD.followed
    record = replace(RECORD, why=(bare,), followed=(replace(followed, why=(bare,)),))
    assert read_record(fitting(record)[0]) == record
    old = of_before(record)
    assert old.why == old.followed[0].why == (replace(bare, crash=ended),)


@pytest.mark.contract("B1821", "B751")
@pytest.mark.parametrize("scaler", Scaler)
def test_a_record_of_before_does_not_tell_people_from_autoscalers(scaler: Scaler) -> None:
    """Nothing is said then of whose number stays."""
    value = encode_kept(kept(WEB, scaler=scaler))
    assert kept_of(value).scaler is scaler
    value.pop("by_people")
    assert kept_of(value).scaler is (Scaler.AUTOSCALER if scaler.keeps_live else scaler)


@pytest.mark.contract("B1810", "B751")
def test_a_record_of_before_names_what_was_needed_behind_the_failure() -> None:
    """What stands first is the failure itself: an object that was awaited, and no write needed."""
    awaited = Cause(Reason.OBJECT_NOT_READY, CleanText("crd/widgets: taken"))
    needed = replace(awaited, subject="crd/widgets")
    for why in ((awaited,), (awaited, needed)):
        assert of_before(replace(RECORD, why=why)).why == why


@pytest.mark.contract("B542")
def test_no_secret_is_in_a_record() -> None:
    """Neither what it was nor what it becomes; it is kept on its own."""
    bare = without_secrets(RECORD)
    data = gzip.decompress(base64.b64decode(fitting(bare)[0]))
    assert b"c2VzYW1l" not in data
    assert isinstance(bare.objects[1].before, Unknown)
    [secret] = secrets_of(RECORD)
    assert read_kept(kept_text([secret], {})) == ((secret,), {})


@pytest.mark.contract("B708", "B542")
def test_what_only_a_secret_may_hold_of_a_set_is_in_no_record() -> None:
    """The body of a Secret, and that of a Deployment that was read from one."""
    secret, deployment = Ref("v1", "Secret", "shop", "keys"), WEB.ref
    bodies = {
        one: Body.of({"data": {"key": f"c2VzYW1l{one.name}"}}) for one in (secret, deployment)
    }
    kept_set = TargetSet(FrozenMap(bodies), confidential=(deployment,))
    record = replace(RECORD, target_set=kept_set)
    assert confidential_bodies(record) == bodies
    text, bare = fitting(without_secrets(record))
    assert b"c2VzYW1l" not in gzip.decompress(base64.b64decode(text))
    assert dict(read_record(text).target_set.missing) == dict.fromkeys(bodies, NO_SECRETS)
    assert not bare.target_set.bodies
    assert read_kept(kept_text([], bodies)) == ((), bodies)


@pytest.mark.contract("B535")
def test_the_largest_is_left_out_first_and_deployments_last() -> None:
    """What does not fit is Unknown, and says so; the text is within its bound."""
    big = live("ConfigMap", "big", binaryData={"a": noise(300_000)})
    some = live("ConfigMap", "some", data={"a": noise(30_000)})
    record = replace(RECORD, objects=(kept(big), kept(some), kept(WEB)))
    text, held = fitting(record)
    assert len(text) <= MOST_CHARACTERS
    assert [isinstance(one.before, Known) for one in held.objects] == [False, True, True]
    assert read_record(text) == held


@pytest.mark.contract("B543")
@pytest.mark.parametrize(
    "text",
    [
        "nothing",
        "H4sIAAAA",
        base64.b64encode(gzip.compress(b"[]")).decode(),
        base64.b64encode(gzip.compress(b'{"format": 2}')).decode(),
        packed.pack({"command": "apply"}),
        base64.b64encode(gzip.compress(b"[" * 100_000)).decode(),
        base64.b64encode(gzip.compress(b" " * (packed.MOST_BYTES + 1))).decode(),
    ],
    ids=["text", "cut", "a list", "a later format", "parts missing", "deep", "a bomb"],
)
def test_what_is_no_record(text: str) -> None:
    """Whatever stands in the annotation, it is one error and no more."""
    for read in (read_record, read_history, read_kept):
        with pytest.raises(DecodeError):
            read(text)


def test_an_object_is_what_its_name_says() -> None:
    """A record cannot smuggle one object in under the name of another."""
    value = json.loads(gzip.decompress(base64.b64decode(kept_text([kept(CONFIG)], {}))))
    value["objects"][0]["ref"][3] = "other"
    with pytest.raises(DecodeError, match="is recorded as"):
        read_kept(packed.pack(value))


@pytest.mark.contract("B766", "B535")
def test_every_part_of_a_target_set_comes_back_but_what_a_secret_keeps() -> None:
    """Which objects are confidential is said by where their bodies stand."""
    one, other = deployment_ref("shop", "web"), Ref("v1", "ConfigMap", "shop", "settings")
    said = FrozenMap({other: CleanText("why")})
    whole = TargetSet(
        bodies=FrozenMap({one: Body.of({"spec": {}})}),
        missing=said,
        obstacles=said,
        unverified=(one,),
        shared=FrozenMap({other: one}),
        applied=AppliedVersion(FrozenMap({other: "digest"}), (one,), said, (one,), (other,)),
        undo=UndoLimits(
            FrozenMap({one: (other,)}), FrozenMap({one: (CleanText("kubectl-set"),)}), (one,)
        ),
        is_set_aside=True,
    )
    values = (whole, whole.applied, whole.undo)
    empty = [each.name for one in values for each in fields(one) if not getattr(one, each.name)]
    # What the way back learns at its beginning is asked again by a recovery, and not kept.
    assert empty == ["confidential", "other_run_returns"]
    text, _ = fitting(replace(RECORD, target_set=whole))
    assert read_record(text).target_set == whole


@pytest.mark.contract("B1850")
def test_a_set_that_is_set_aside_leaves_its_room_to_what_was_before() -> None:
    """Only a write that arrives late would call for it."""
    large = Body.of({"noise": Random(0).randbytes(20_000).hex()})
    aside = TargetSet(bodies=FrozenMap({deployment_ref("shop", "web"): large}), is_set_aside=True)
    whole = replace(RECORD, target_set=aside)
    text, held = fitting(whole, len(fitting(RECORD)[0]) + 1_000)
    assert read_record(text) == held
    assert held.objects == RECORD.objects
    assert (held.target_set.bodies, list(held.target_set.missing)) == (
        FrozenMap(),
        [deployment_ref("shop", "web")],
    )

"""What a state belongs to that another run had brought, by what became of that run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import lock_of
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.plan.record import Kept, Record
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import OnFailure, Policy
from gate.core.ssa.applied_fields import applied_body, applied_digest
from gate.core.versions.brought_states import (
    BroughtState,
    LockMemory,
    find_brought,
    list_suspects,
)
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion

WEB, API = deployment_ref("shop", "web"), deployment_ref("shop", "api")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")
FAILED = Cause(Reason.CRASH_LOOP, CleanText("it crashes"))


def config(mode: str) -> LiveObject:
    """Return the ConfigMap as the gate applied it."""
    owned = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {"f:data": {"f:mode": {}}}}
    body = Body.of({"data": {"mode": mode}})
    return LiveObject(SETTINGS, "uid", "1", body, Body.of({"managedFields": [owned]}), None)


def version(
    workload: Ref, image: str, mode: str, why: Cause | None = None, at: str = ""
) -> JudgedVersion:
    """Return a judged version of a workload and the ConfigMap."""
    members = FrozenMap({workload: image, SETTINGS: applied_digest(config(mode))})
    return JudgedVersion(image, (), members, why=why, judged_at=at)


def memory(workload: Ref, *versions: JudgedVersion, record: Record | None = None) -> LockMemory:
    """Return what a lock remembers, with the body of what was verified."""
    body = applied_body(config("a"))
    assert body is not None
    bodies = FrozenMap({applied_digest(config("a")): body})
    return LockMemory(lock_of(workload), History(versions, bodies), record)


GOOD = version(API, "v1", "a")
BAD = version(API, "v2", "b", FAILED)
OWN = memory(WEB, version(WEB, "v1", "a"))
AS_VERIFIED = BroughtState(lock_of(API), instead=applied_body(config("a")), is_verified=True)
UNKNOWN = BroughtState(lock_of(API))


def record(leg: Leg, on_failure: OnFailure = OnFailure.ROLLBACK, mode: str = "b") -> Record:
    """Return the record of an attempt that takes the ConfigMap from `a` to a mode."""
    response = replace(Policy().response, on_failure=on_failure)
    kept = Kept(SETTINGS, Known(config("a")), config(mode), FIELD_MANAGER)
    return Record("apply", leg, (kept,), (), replace(Policy(), response=response))


@pytest.mark.contract("B1935")
@pytest.mark.parametrize(
    ("other", "runs", "found"),
    [
        (memory(API, GOOD, record=record(Leg.FORWARD)), "", BroughtState(lock_of(API), needs=True)),
        (memory(API, GOOD, record=record(Leg.BACK)), "", AS_VERIFIED),
        (
            memory(API, GOOD, record=record(Leg.BACK, OnFailure.PAUSE)),
            "",
            BroughtState(lock_of(API), needs=True),
        ),
        (memory(API, GOOD, record=record(Leg.FORWARD, mode="c")), "", None),
        (memory(API, GOOD, BAD), "v1", AS_VERIFIED),
        (memory(API, GOOD, BAD), "v2", UNKNOWN),
        (memory(API, GOOD, BAD), "", UNKNOWN),
        (memory(API, version(API, "v1", "c"), BAD), "v1", UNKNOWN),
        (memory(API, GOOD, BAD, version(API, "v3", "b")), "v3", None),
        (memory(API, GOOD), "v1", None),
    ],
    ids=[
        "on-its-way-out",
        "on-its-way-back",
        "pauses",
        "brings-another",
        "went-back",
        "was-kept",
        "cannot-be-read",
        "without-a-body",
        "verified-since",
        "of-nobody",
    ],
)
def test_a_state_that_another_run_had_brought(
    other: LockMemory, runs: str, found: BroughtState | None
) -> None:
    """It is none to return to once that run has gone back; if nobody knows, nothing replaces it."""
    state = config("b")
    suspects = list_suspects({SETTINGS: state}, [OWN], [other])
    is_suspect = BAD in other.history.versions and not other.history.versions[-1].verified
    assert suspects == ({API} if is_suspect else set())
    running = dict.fromkeys(suspects, runs) if runs else {}
    assert find_brought(state, [OWN], [other], running) == found


@pytest.mark.contract("B1935", "B2001")
def test_a_second_attempt_that_needs_what_the_first_left_is_the_reason() -> None:
    """What it goes back to is not known, but the attempt under way may yet be verified with it."""
    kept = Kept(SETTINGS, Known(config("b")), config("b"), FIELD_MANAGER, changes=False)
    under_way = replace(record(Leg.FORWARD), objects=(kept,))
    other = memory(API, GOOD, BAD, record=under_way)
    brought = find_brought(config("b"), [OWN], [other], {API: "v2"})
    assert brought == BroughtState(lock_of(API), needs=True)

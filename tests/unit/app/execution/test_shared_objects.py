"""Who else uses what an attempt created: where the server does not say, it stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from gate.app.execution import shared_objects
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import Lock, lock_of
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.record import Kept, Record
from gate.core.protocol.effects import FindUsers
from gate.core.protocol.events import UsersFound
from gate.core.rollout.policy import Policy
from gate.core.versions.brought_states import BroughtState
from gate.kube.answers.failures import ApiError, Forbidden, ServerFailure
from gate.kube.locks.lease import Held
from gate.wire import decode
from gate.wire.record import fitting

if TYPE_CHECKING:
    from gate.app.runtime.session import Session
    from gate.core.plan.plan import Plan

API = Held(lock_of(deployment_ref("shop", "api")), "uid", "1")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")


@pytest.mark.contract("B858")
@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Forbidden("no"), "it takes the right to list Leases in shop to tell who else uses it"),
        (ServerFailure("503", 503), "the other users of this object could not be read: 503"),
    ],
)
def test_what_nobody_can_tell_the_users_of_stays(
    monkeypatch: pytest.MonkeyPatch, error: ApiError, why: str
) -> None:
    """Neither without the right to list Leases, nor while the server cannot answer."""

    def refuse(_: str) -> None:
        raise error

    found = users_of_settings(monkeypatch, refuse)
    assert (found.at, found.effect_id) == (5.0, 7)
    assert found.unknown == FrozenMap({SETTINGS: why})


@pytest.mark.contract("B858")
@pytest.mark.parametrize("other", [replace(API, record="?"), replace(API, history="?")])
def test_what_a_lock_remembers_that_cannot_be_read_may_be_anything(
    monkeypatch: pytest.MonkeyPatch, other: Held
) -> None:
    """A gate of a later version may have written it, and need the object."""
    found = users_of_settings(monkeypatch, lambda _: [other])
    assert found.unknown[SETTINGS].startswith("whether deployment/api uses it cannot be read: ")


def config(mode: str) -> LiveObject:
    """Return the ConfigMap as a read gives it, applied by the gate."""
    owned = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {"f:data": {"f:mode": {}}}}
    metadata = {"name": "settings", "namespace": "shop", "uid": "uid", "managedFields": [owned]}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"mode": mode}}
    return decode.live_object(body)


def recorded(leg: Leg, expected: LiveObject | None) -> str:
    """Return the record of an unfinished attempt on the ConfigMap."""
    kept = Kept(SETTINGS, Known(config("one")), expected, FIELD_MANAGER)
    return fitting(Record("apply", leg, (kept,), (), Policy()))[0]


@pytest.mark.contract("B1871")
@pytest.mark.parametrize(
    ("leg", "expected", "is_used"),
    [
        (Leg.FORWARD, config("two"), True),
        (Leg.FORWARD, config("three"), False),
        (Leg.FORWARD, None, True),
        (Leg.BACK, config("two"), False),
    ],
    ids=["as-it-is", "otherwise", "not-recorded", "on-its-way-back"],
)
def test_an_unfinished_attempt_uses_what_it_is_to_leave(
    monkeypatch: pytest.MonkeyPatch, leg: Leg, expected: LiveObject | None, *, is_used: bool
) -> None:
    """A record has no content of Secrets: then it may be to leave it so."""
    other = replace(API, record=recorded(leg, expected))
    asked = FindUsers(7, changed=FrozenMap({SETTINGS: config("two")}))
    found = users_of_settings(monkeypatch, lambda _: [other], asked)
    why = "the attempt of deployment/api that is not finished needs it"
    assert found.used == (FrozenMap({SETTINGS: why}) if is_used else FrozenMap())
    assert found.unknown == FrozenMap()


@pytest.mark.contract("B1935")
@pytest.mark.parametrize("is_read", [True, False])
def test_what_another_run_had_brought_is_known_beside_locks_of_another_namespace(
    monkeypatch: pytest.MonkeyPatch, *, is_read: bool
) -> None:
    """The attempt's own lock there is read by itself; without it nothing is said."""
    web = deployment_ref("back", "web")
    other = replace(API, record=recorded(Leg.FORWARD, config("two")))
    states = FrozenMap({SETTINGS: config("two")})
    asked = FindUsers(7, changed=FrozenMap({SETTINGS: config("three")}), states=states)
    held = {lock_of(web): Held(lock_of(web), "uid", "1")} if is_read else {}
    found = users_of_settings(monkeypatch, lambda _: [other], asked, (web,), held)
    brought = BroughtState(API.lock, needs=True)
    assert found.brought_states == (FrozenMap({SETTINGS: brought}) if is_read else FrozenMap())


CREATED = LiveObject(SETTINGS, "uid", "1", Body.of({}), Body.of({}), None)
OF_CREATED = FindUsers(7, created=FrozenMap({SETTINGS: CREATED}))


def users_of_settings(
    monkeypatch: pytest.MonkeyPatch,
    leases: Callable[[str], object],
    asked: FindUsers = OF_CREATED,
    own: Sequence[Ref] = (),
    held: Mapping[Lock, Held] = FrozenMap(),
) -> UsersFound:
    """Answer who uses a ConfigMap, created if nothing is said; `leases` lists a namespace's.

    `own` are the attempt's workloads, `held` their locks.
    """
    monkeypatch.setattr(shared_objects, "lock_client", lambda _: None)
    monkeypatch.setattr(
        shared_objects, "Leases", lambda _: SimpleNamespace(all=leases, read=held.get)
    )
    session = SimpleNamespace(namespace="shop", clock=SimpleNamespace(now=lambda: 5.0))
    return shared_objects.answer_with_users(
        cast("Session", session),
        cast("Plan", SimpleNamespace(objects=[SimpleNamespace(ref=one) for one in own])),
        asked,
    )

"""Who else uses what an attempt created: where the server does not say, it stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from gate.app.execution import shared_objects
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import Body, FrozenMap
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.protocol.effects import FindUsers
from gate.core.protocol.events import UsersFound
from gate.kube.answers.failures import ApiError, Forbidden, ServerFailure
from gate.kube.locks.lease import Held

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
    assert found.held == FrozenMap({SETTINGS: why})


@pytest.mark.contract("B858")
@pytest.mark.parametrize("other", [replace(API, record="?"), replace(API, history="?")])
def test_what_a_lock_remembers_that_cannot_be_read_may_be_anything(
    monkeypatch: pytest.MonkeyPatch, other: Held
) -> None:
    """A gate of a later version may have written it, and need the object."""
    found = users_of_settings(monkeypatch, lambda _: [other])
    assert found.held[SETTINGS].startswith("whether deployment/api uses it cannot be read: ")


def users_of_settings(
    monkeypatch: pytest.MonkeyPatch, leases: Callable[[str], object]
) -> UsersFound:
    """Answer who uses a ConfigMap that was created; `leases` lists those of a namespace."""
    monkeypatch.setattr(shared_objects, "lock_client", lambda _: None)
    monkeypatch.setattr(shared_objects, "Leases", lambda _: SimpleNamespace(all=leases))
    session = SimpleNamespace(namespace="shop", clock=SimpleNamespace(now=lambda: 5.0))
    live = LiveObject(SETTINGS, "uid", "1", Body.of({}), Body.of({}), None)
    return shared_objects.answer_with_users(
        cast("Session", session),
        cast("Plan", SimpleNamespace(objects=())),
        FindUsers(7, FrozenMap({SETTINGS: live})),
    )

"""A pod in the way of a way back, whose eviction the server answers with 401."""

from __future__ import annotations

from typing import Final

import pytest

from tests.bed.expectations import assert_ended, assert_rolled_back, assert_verified
from tests.bed.pods import image_of
from tests.bed.scene import Scene
from tests.cluster.command import Result
from tests.scenarios.pod_replacement import CRASH, db
from tests.scenarios.proxy import UNAUTHORIZED, Proxy, nth, says, writes

pytestmark = pytest.mark.sandbox_only("an authenticator that fails at a chosen moment is played")

BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "70s")
EVICTIONS: Final = writes("/eviction", method="POST")


def fail(scene: Scene) -> Result:
    """Let a version fail whose first pod has to be evicted on the way back."""
    assert_verified(scene.apply(db(1)))
    return scene.apply(db(2, behaviour=CRASH), flags=BUDGETS)


def assert_back(scene: Scene) -> None:
    """Assert that all pods run the first version."""
    assert [image_of(pod) for pod in scene.objects.list_all("pods")] == ["shop/db:1"] * 3


@pytest.mark.contract("B1711", "B924")
def test_an_eviction_that_is_unauthorized_is_tried_again(proxy: Proxy) -> None:
    """The pod goes once the credentials are taken."""
    proxy.on(nth(1, EVICTIONS), says(UNAUTHORIZED))
    assert_rolled_back(fail(proxy.scene), "CrashLoop")
    assert len(proxy.met) == 1
    assert_back(proxy.scene)


@pytest.mark.contract("B1711", "B924")
def test_evictions_that_are_never_authorized_leave_the_way_back_to_recover(proxy: Proxy) -> None:
    """Nobody has refused it for good: another gate finishes it."""
    proxy.on(EVICTIONS, says(UNAUTHORIZED))
    result = fail(proxy.scene)
    assert_ended(result, 5, "rollback-failed", "CrashLoop")
    assert len(proxy.met) > 1
    assert result.document["recoverable"]
    proxy.rest()
    assert_rolled_back(proxy.scene.gate("recover", "--output", "json"), "CrashLoop")
    assert_back(proxy.scene)

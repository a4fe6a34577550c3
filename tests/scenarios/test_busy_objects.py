"""An object that somebody changes before each try of a write: it is tried ever less often."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from itertools import pairwise
from typing import Final

import pytest

from gate.app.rehearsal.virtual_world import Handle
from sandbox.face import Answer, Request
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.scene import Scene, settings, web
from tests.scenarios.proxy import Does, Proxy, writes
from tests.scenarios.versions import CRASH, mode

pytestmark = pytest.mark.sandbox_only("somebody writes between each read and the write after it")

BUDGETS: Final = ("--timeout", "60s", "--rollback-timeout", "60s")
TRIP_SECONDS: Final = 0.02
"""How long a try takes: without it, tries without pauses would fill no time."""
MOST_TRIES: Final = 100
"""How often a write is tried within a minute: once a second in the end, or a little sooner."""
AGAIN: Final = "configmap/settings: the server answered 409 Conflict"


@pytest.fixture
def scene(proxy: Proxy) -> Scene:
    """Return the scene of a first version that serves."""
    assert_verified(proxy.scene.apply(settings("one"), web()))
    return proxy.scene


def busy(proxy: Proxy, is_busy: Callable[[], bool]) -> Does:
    """Return what lets somebody annotate the ConfigMap just before a write of it, while `is_busy`.

    Nothing of that is in the way of the write but the version of the object.
    """
    beats = itertools.count()

    def does(request: Request, handle: Handle) -> Answer:
        proxy.clock.wait(TRIP_SECONDS)
        if is_busy():
            note = {"metadata": {"annotations": {"beat": str(next(beats))}}}
            proxy.scene.objects.patch("configmaps", "settings", note)
        return handle(request)

    return does


def keep_busy(proxy: Proxy, seconds: float, *, passes: int = 0) -> Callable[[], float]:
    """Keep the ConfigMap busy from its next write but `passes` on; return when that ended."""
    numbers, ends_at = itertools.count(1), [float("inf")]

    def is_busy() -> bool:
        number = next(numbers)
        if number == passes + 1:
            ends_at[0] = proxy.clock.now() + seconds
        return number > passes and proxy.clock.now() < ends_at[0]

    proxy.on(writes("/configmaps"), busy(proxy, is_busy))
    return lambda: ends_at[0]


def longest_gap(proxy: Proxy) -> float:
    """Return the longest time between two tries."""
    return max(after - before for before, after in pairwise(proxy.met_at))


@pytest.mark.contract("B1825", "B126")
@pytest.mark.parametrize("seconds", [1.0, 30.0])
def test_a_write_lands_once_its_object_is_calm(scene: Scene, proxy: Proxy, seconds: float) -> None:
    """However long that takes within the budget: few tries, and none comes late."""
    calm_at = keep_busy(proxy, seconds)
    result = scene.apply(settings("two"), web(2), flags=BUDGETS)
    assert_verified(result)
    assert len(proxy.met) < MOST_TRIES
    assert proxy.met_at[-1] < calm_at() + 1.5
    assert mode(scene) == "two"
    assert AGAIN in result.stderr


@pytest.mark.contract("B1825", "B126")
def test_the_budget_ends_what_is_never_calm(scene: Scene, proxy: Proxy) -> None:
    """It is no refusal by the server: the object did change, each time."""
    keep_busy(proxy, 1000.0)
    result = scene.apply(settings("two"), web(2), flags=BUDGETS)
    assert_ended(result, 3, "refused", "Timeout")
    assert len(proxy.met) < MOST_TRIES
    assert 0.5 <= longest_gap(proxy) < 1.5
    assert_runs(scene.objects, "shop/web:1")


@pytest.mark.contract("B1825", "B126")
def test_a_way_back_lands_once_its_object_is_calm(scene: Scene, proxy: Proxy) -> None:
    """As on the way out; the workload goes back after it."""
    keep_busy(proxy, 20.0, passes=1)
    result = scene.apply(settings("two"), web(2, behaviour=CRASH), flags=BUDGETS)
    assert_rolled_back(result, "CrashLoop")
    assert len(proxy.met) < MOST_TRIES
    assert mode(scene) == "one"

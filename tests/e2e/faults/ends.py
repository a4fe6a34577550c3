"""A good and a bad version, and the right verdict on each, however often the gate has to ask."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from tests.bed.expectations import assert_rolled_back, assert_runs, assert_verified, images
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.faults.proxy import Proxy
from tests.faults.request import APPLIES

APPLIED = "applied +deployment/web changed"
MOST_A_SECOND = 10
BUDGETS = ("--timeout", "2m", "--rollback-timeout", "2m")


@dataclass(frozen=True, slots=True)
class Version:
    """A second version: how its pods behave, and whether the first one has to come back."""

    behaviour: str
    is_good: bool

    @property
    def manifest(self) -> JSON:
        """The Deployment `web` in this version."""
        return web(2, behaviour=self.behaviour)

    def assert_judged(self, scene: Scene, result: Result) -> None:
        """Assert the right verdict, and that its version runs, with no revision too many."""
        if self.is_good:
            assert_verified(result)
            assert_runs(scene.objects, "shop/web:2", revision=2)
        else:
            assert_rolled_back(result, "CrashLoop")
            assert_runs(scene.objects, "shop/web:1", revision=3)


GOOD = Version("ready=2", is_good=True)
BAD = Version("crash=0.1", is_good=False)
judged = pytest.mark.parametrize("version", [GOOD, BAD], ids=["good", "bad"])
"""Goes through both versions."""


def assert_unknown(scene: Scene, result: Result) -> None:
    """Assert that contact was lost after the apply, and that nothing else is claimed."""
    document = result.document
    found = (result.exit_code, document["outcome"], document["reason"])
    assert found == (9, "lost-contact", "Unreachable"), str(result)
    assert document["deployments"][0]["running"] == "unknown", str(result)
    assert document["rollback"] is None, str(result)
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


def assert_bounded(proxy: Proxy, namespace: str, *, since: float) -> None:
    """Assert that no more requests came from then on than the bound allows in as many seconds.

    A machine that is busy makes that fewer. What each second sees is held where time is virtual,
    since here the gate hears of a failure when its threads come to it.
    """
    at = [seen.at for seen in proxy.log if seen.asked.namespace == namespace and seen.at >= since]
    seconds = math.ceil(at[-1] - at[0])
    assert len(at) <= MOST_A_SECOND * seconds, f"{len(at)} requests in {seconds} s"


def applied_at(proxy: Proxy) -> float:
    """Return when the first write of a Deployment came."""
    return proxy.log.like(APPLIES)[0].at

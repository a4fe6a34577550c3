"""A server that fails every request is not asked more often for it, whatever its answers are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.kube.client.pace import MOST_A_SECOND
from sandbox.face import Answer
from tests.bed.scene import web
from tests.scenarios.proxy import UNAUTHORIZED, Proxy, any_request, says, status

pytestmark = pytest.mark.sandbox_only("requests are counted by a clock that no load moves")

SHED = status(429, "too many requests")
NAMES = ("one", "two", "three", "four", "five", "six")
STORMS = {
    "429": SHED,
    "429 with Retry-After": replace(SHED, headers={**SHED.headers, "retry-after": "1"}),
    "500": status(500, "etcdserver: no leader"),
    "401": UNAUTHORIZED,
}


@pytest.mark.contract("B503", "B1632")
@pytest.mark.parametrize("answer", STORMS.values(), ids=STORMS)
def test_a_storm_is_not_fed(proxy: Proxy, answer: Answer) -> None:
    """With each of its requests, the second until then has seen ten at most, earlier ones too.

    Watches that are open stay so, and tell of no trouble.
    """
    scene, at = proxy.scene, proxy.asked_at
    scene.serve(*(web(name=name) for name in NAMES))
    late = [web(2, name=name, behaviour="never-ready") for name in NAMES]
    budgets = ("--timeout", "10s", "--rollback-timeout", "4s")
    with scene.applying(*late, flags=budgets) as running:
        running.wait_for_line("applied +deployment/six changed")
        before = len(at)
        proxy.on(any_request, says(answer))
        result = running.wait()
    assert result.exit_code == 9, str(result)
    assert len(at) > before
    seen = [
        sum(second - 1.0 < earlier for earlier in at[:number])
        for number, second in enumerate(at[before:], before + 1)
    ]
    assert max(seen) <= MOST_A_SECOND

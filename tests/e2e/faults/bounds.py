"""How many requests a gate may send to a namespace, as the proxy has counted them."""

from __future__ import annotations

from tests.faults.proxy import Proxy
from tests.faults.request import APPLIES

MOST_A_SECOND = 10
STRETCH_SECONDS = 3.0
"""Over a single second, what was late on its way would count with what follows it."""


def assert_bounded(proxy: Proxy, namespace: str) -> None:
    """Assert that no stretch of time after the apply has seen more than 10 requests a second."""
    applied_at = proxy.log.like(APPLIES)[0].at
    found = proxy.log.most_in(STRETCH_SECONDS, namespace, since=applied_at)
    most = MOST_A_SECOND * STRETCH_SECONDS
    assert found <= most, f"{found} requests in {STRETCH_SECONDS:g} s"

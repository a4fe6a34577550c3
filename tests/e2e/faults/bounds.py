"""How many requests a gate may send to a namespace, as the proxy has counted them."""

from __future__ import annotations

from tests.faults.proxy import Proxy
from tests.faults.request import APPLIES

MOST_A_SECOND = 10


def assert_bounded(proxy: Proxy, namespace: str, *, since: float) -> None:
    """Assert that no second from then on has seen more than 10 requests.

    Nothing is allowed for what comes late: a request is counted where it arrives, and the gate
    counts it from before until a second after that.
    """
    found = proxy.log.most_in(1.0, namespace, since=since)
    assert found <= MOST_A_SECOND, f"{found} requests in a second"


def applied_at(proxy: Proxy) -> float:
    """Return when the first write of a Deployment came."""
    return proxy.log.like(APPLIES)[0].at


def first_fault_at(proxy: Proxy) -> float:
    """Return when the first request came that met a fault."""
    return next(seen.at for seen in proxy.log if seen.fault)

"""The log: counts, and the most in any stretch of time."""

from __future__ import annotations

from tests.faults.log import Log
from tests.faults.request import Asked

PODS = "/api/v1/namespaces/{}/pods"


def test_the_most_in_any_second_of_a_namespace() -> None:
    """The stretch may begin at any request; other namespaces do not count."""
    times = iter([0.0, 0.5, 0.9, 1.2, 1.4, 2.5])
    log = Log(lambda: next(times))
    for namespace in ("shop", "shop", "bank", "shop", "shop", "shop"):
        log.note(Asked("GET", PODS.format(namespace), {}), "")
    assert log.most_in(1.0, "shop") == 3
    assert log.most_in(1.0, "bank") == 1
    assert log.most_in(1.0, "nobody") == 0
    assert log.most_in(1.0, "shop", since=1.3) == 1

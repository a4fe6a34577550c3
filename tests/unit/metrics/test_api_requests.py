"""Requests by verb and code: closed sets, whatever a server answers."""

from __future__ import annotations

import tracemalloc

import pytest

from gate.metrics.api_requests import ApiRequests
from gate.metrics.families import VERBS

PODS = "https://10.0.0.1/api/v1/namespaces/shop/pods"


@pytest.mark.contract("B611")
@pytest.mark.parametrize(
    ("method", "url", "status", "counted"),
    [
        ("GET", PODS, 200, ("GET", "200")),
        ("GET", f"{PODS}?watch=true&resourceVersion=7", 200, ("WATCH", "200")),
        ("GET", f"{PODS}?watch=1", 410, ("WATCH", "410")),
        ("GET", f"{PODS}?watch=false", 200, ("GET", "200")),
        ("GET", f"{PODS}/watch=true", 404, ("GET", "404")),
        ("PATCH", PODS, 409, ("PATCH", "409")),
        ("DELETE", PODS, None, ("DELETE", "none")),
        ("GET", PODS, 299, ("GET", "other")),
        ("GET", PODS, -1, ("GET", "other")),
        ("BREW", PODS, 418, ("other", "418")),
    ],
)
def test_a_request_is_counted_by_verb_and_code(
    method: str, url: str, status: int | None, counted: tuple[str, str]
) -> None:
    """A watch is told from a read; what HTTP does not name is one series."""
    requests = ApiRequests()
    requests.count(method, url, status)
    assert dict(requests.tally()) == {counted: 1}


@pytest.mark.contract("B611")
def test_a_server_that_makes_up_codes_makes_no_series() -> None:
    """At most a known status, or one of the two that stand for all else."""
    requests = ApiRequests()
    for status in range(-100, 2_000):
        requests.count("GET", PODS, status)
    assert len(requests.tally()) < 70
    assert {verb for verb, _ in requests.tally()} <= {*VERBS, "other"}


@pytest.mark.contract("B284")
def test_a_request_leaves_a_count_and_nothing_more() -> None:
    """A run of a day may send a million of them."""
    requests = ApiRequests()
    requests.count("GET", PODS, 200)
    tracemalloc.start()
    for _ in range(10_000):
        requests.count("GET", PODS, 200)
    kept_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert requests.tally() == {("GET", "200"): 10_001}
    assert kept_bytes < 10_000

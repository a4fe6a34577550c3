"""A push: what is sent, in which time, and what is said of one that fails."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from gate.metrics.gateway_url import GatewayUrl
from gate.metrics.pushgateway import PUSH_SECONDS, Groups, NotTaken, Pushed, Pushgateway
from gate.metrics.run import Place
from gate.metrics.stale import Existing
from gate.virtual_time import VirtualClock
from tests.unit.metrics.test_stale import NOW, group

BASE = "http://gw:9091"
WEB, API = Place("shop", "Deployment", "web"), Place("shop", "Deployment", "api")
KEY = f"{BASE}/metrics/job/rollout-gate/namespace/shop/deployment"
Answer = Callable[[str, str], bytes]


class Gateway:
    """A Pushgateway of a test's making; `asked` is all that came, with the seconds allowed."""

    def __init__(self, answer: Answer = lambda *_: b"") -> None:
        self.clock = VirtualClock()
        self.asked: list[tuple[str, str, float, bytes]] = []
        self._answer = answer

    def __call__(self, method: str, url: str, seconds: float, body: bytes = b"") -> bytes:
        """Answer as the test says."""
        self.asked.append((method, url, seconds, body))
        return self._answer(method, url)

    @property
    def requests(self) -> list[tuple[str, str]]:
        """What was asked, in the order of names."""
        return sorted((method, url) for method, url, _, _ in self.asked)

    def take(self, groups: Groups, seconds: float = PUSH_SECONDS) -> Pushed:
        """Have a run pushed."""
        return Pushgateway(GatewayUrl.parse(BASE), self, self.clock).push(groups, seconds)


def refuse(*_: str) -> bytes:
    """Refuse."""
    raise NotTaken("gw:9091 refuses the connection")


@pytest.mark.contract("B614")
def test_each_group_is_replaced() -> None:
    """By a PUT, which leaves nothing of what was there; of one that is gone nothing is left."""
    gateway = Gateway()
    assert gateway.take(Groups({WEB: b"a 1\n", API: None})) == Pushed()
    assert gateway.requests == [("DELETE", f"{KEY}/api"), ("PUT", f"{KEY}/web")]
    assert [body for method, _, _, body in gateway.asked if method == "PUT"] == [b"a 1\n"]


@pytest.mark.contract("B615")
def test_stale_groups_are_deleted() -> None:
    """The run's own are none, whatever the cluster had when it was looked."""
    stale = [group(), group({"deployment": "web"})]
    gateway = Gateway(lambda method, _: json.dumps({"data": stale}).encode() * (method == "GET"))
    pushed = gateway.take(Groups({WEB: b""}, Existing("uid-1", NOW, {("shop", "Deployment"): ()})))
    assert pushed == Pushed(removed=(Place("shop", "Deployment", "old"),))
    assert gateway.requests == [
        ("DELETE", f"{KEY}/old"),
        ("GET", f"{BASE}/api/v1/metrics"),
        ("PUT", f"{KEY}/web"),
    ]


@pytest.mark.contract("B616")
@pytest.mark.parametrize(
    ("takes", "allowed", "problem"),
    [(3600.0, {3.0}, "there was no answer within 3.0 s"), (1.0, {1.0, 2.0, 3.0}, "")],
)
def test_a_gateway_that_hangs_costs_its_time_and_no_more(
    takes: float, allowed: set[float], problem: str
) -> None:
    """However many groups there are, each request has what is left; one that refuses costs none."""
    gateway = Gateway(lambda *_: bytes(gateway.clock.wait(takes)))
    groups = Groups({Place("shop", "Deployment", f"web-{number}"): b"" for number in range(100)})
    found = gateway.take(groups).problem
    assert found
    assert problem in found
    assert gateway.clock.now() == PUSH_SECONDS == 3.0
    asked = len(gateway.asked)
    assert {seconds for _, _, seconds, _ in gateway.asked} == allowed
    assert gateway.take(groups, -0.5).problem == "no time is left for it", "as after a signal"
    assert len(gateway.asked) == asked
    refusing = Gateway(refuse)
    assert refusing.take(groups).problem == "gw:9091 refuses the connection"
    assert refusing.clock.now() == 0.0


@pytest.mark.parametrize(
    ("answer", "unswept"),
    [
        (lambda *_: b"<html>", "the answer is no list of groups"),
        (lambda method, _: refuse() if method == "GET" else b"", "gw:9091 refuses the connection"),
    ],
)
def test_a_list_that_cannot_be_read_leaves_what_was_pushed(answer: Answer, unswept: str) -> None:
    """And says that stale groups may stand."""
    gateway = Gateway(answer)
    pushed = gateway.take(Groups({WEB: b""}, Existing("uid-1", NOW, {("shop", "Deployment"): ()})))
    assert pushed == Pushed(unswept=unswept)

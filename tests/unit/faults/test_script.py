"""Rules: which request meets which fault."""

from __future__ import annotations

import pytest

from tests.faults.connections import Drop
from tests.faults.request import APPLIES, READING, WATCHES, WRITES, Asked, Match
from tests.faults.script import Rule, Script

PODS = "/api/v1/namespaces/shop/pods"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"


def asked(target: str = PODS, method: str = "GET") -> Asked:
    """Return a request without headers and body."""
    return Asked(method, target, {})


@pytest.mark.parametrize(
    ("match", "request_of", "fits"),
    [
        (WATCHES, asked(f"{PODS}?watch=true"), True),
        (WATCHES, asked(PODS), False),
        (READING, asked(PODS), True),
        (READING, asked(f"{PODS}?watch=1"), False),
        (APPLIES, asked(f"{WEB}?fieldManager=x", "PATCH"), True),
        (APPLIES, asked(f"{WEB}?dryRun=All", "PATCH"), False),
        (WRITES, asked("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "POST"), False),
        (Match(path="/pods$"), asked(f"{PODS}?limit=5"), True),
        (Match(path="/pods$"), asked(f"{PODS}/web"), False),
    ],
)
def test_a_match_looks_at_what_is_asked(match: Match, request_of: Asked, fits: bool) -> None:
    """Method, path, watch and write tell requests apart; dry runs and reviews write nothing."""
    assert match.fits(request_of) is fits


def test_a_rule_holds_for_some_of_its_requests() -> None:
    """From the second on, two of them; other requests are not counted."""
    script = Script([Rule(READING, Drop(), first=2, count=2)])
    met = []
    for _ in range(5):
        script.fault_for(asked(WEB, "PATCH"))
        met.append(script.fault_for(asked()) is not None)
    assert met == [False, True, True, False, False]


def test_a_rule_can_wait_for_a_request() -> None:
    """It counts only once the apply has ended."""
    script = Script([Rule(READING, Drop(), after=APPLIES)])
    assert script.fault_for(asked()) is None
    apply = asked(WEB, "PATCH")
    script.fault_for(apply)
    assert script.fault_for(asked()) is None
    script.ended(apply)
    assert script.fault_for(asked()) == Drop()


def test_a_rule_ends_with_its_time() -> None:
    """Its time runs from the first request that it holds for."""
    now = 100.0
    script = Script([Rule(READING, Drop(), seconds=30.0)], now=lambda: now)
    assert script.fault_for(asked()) == Drop()
    now = 129.9
    assert script.fault_for(asked()) == Drop()
    now = 130.0
    assert script.fault_for(asked()) is None


def test_chance_is_the_same_for_the_same_seed() -> None:
    """Each request's luck is its own: what others ask in between changes nothing."""

    def met(seed: int, *others: str) -> list[bool]:
        script = Script([Rule(READING, Drop(), chance=0.3)], seed=seed)
        found = []
        for _ in range(200):
            for other in others:
                script.fault_for(asked(other))
            found.append(script.fault_for(asked()) is not None)
        return found

    assert met(1) == met(1, WEB)
    assert met(1) != met(2)
    assert 30 < sum(met(1)) < 90

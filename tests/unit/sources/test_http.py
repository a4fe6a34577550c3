"""Smoke tests by HTTP: the facts of a reply, redirects, and whose fault silence is."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import requests
import responses

from gate.core.checks.questions import Answered, Errored, HttpQuestion, HttpReply, NoReply, Trouble
from gate.sources.access import Access, SecretFile
from gate.sources.http import HttpCheck
from gate.virtual_time import VirtualClock

URL = "https://web.example/health"
OTHER = "https://login.example/"
CANARY = "c4nary-s3cret"


def reply(said: Answered | Errored) -> HttpReply:
    """Return the reply, which there has to be."""
    assert isinstance(said, Answered), said
    assert isinstance(said.answer, HttpReply)
    return said.answer


def ask(clock: VirtualClock, access: Access | None = None, **question: Any) -> Answered | Errored:
    """Ask for the health of the service."""
    return HttpCheck(URL, access or Access(), clock).ask(HttpQuestion(URL, **question))


@pytest.mark.contract("B424")
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("status", [200, 204, 302, 404, 429, 503])
def test_every_status_is_a_reply(
    web: responses.RequestsMock, clock: VirtualClock, status: int, method: str
) -> None:
    """It is told as it is, once, with the time of the whole exchange, and judged elsewhere."""

    def slow(_: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
        clock.advance_to(1002.5)
        return status, {"Location": OTHER}, ""

    web.add_callback(method, URL, callback=slow)
    found = reply(ask(clock, method=method))
    assert (found.status, found.location, found.latency_seconds) == (status, OTHER, 2.5)
    assert len(web.calls) == 1


@pytest.mark.contract("B424")
@pytest.mark.parametrize(
    ("question", "body", "found", "number"),
    [
        ({"contains": "ok"}, "all ok", True, None),
        ({"contains": "ok"}, "down", False, None),
        ({"contains": "läuft"}, "sie läuft", True, None),
        ({"json_path": ("a", 0)}, '{"a": [3]}', None, 3.0),
        ({"json_path": ("a", 0)}, '{"a": ["3"]}', None, None),
        ({"json_path": ("a",)}, '{"a": NaN}', None, None),
        ({"json_path": ("a",)}, "<html>", None, None),
        ({"json_path": ("a",)}, "[" * 100_000, None, None),
    ],
)
def test_text_and_a_number_are_looked_for(
    web: responses.RequestsMock,
    clock: VirtualClock,
    question: dict[str, Any],
    body: str,
    found: bool | None,
    number: float | None,
) -> None:
    """In a body that is not kept."""
    gc.collect()  # or the finalizers of earlier tests run where the recursion of one body ends
    web.get(URL, body=body)
    assert reply(ask(clock, **question)) == HttpReply(200, 0.0, found, number)


@pytest.mark.contract("B424")
def test_a_body_is_bounded_where_it_is_read(
    web: responses.RequestsMock, clock: VirtualClock
) -> None:
    """A large one says nothing of the version; where nothing is looked for, it is not read."""
    web.get(URL, body=b"x" * (2**20 + 1))
    said = ask(clock, contains="ok")
    assert isinstance(said, Errored)
    assert said.trouble is Trouble.BAD_ANSWER
    assert reply(ask(clock)).status == 200


@pytest.mark.contract("B424")
@pytest.mark.parametrize(
    ("raised", "fails"),
    [
        (requests.ConnectTimeout("x"), True),
        (requests.ReadTimeout("x"), True),
        (requests.ConnectionError(ConnectionRefusedError()), True),
        (requests.ConnectionError(ConnectionResetError()), True),
        (requests.ConnectionError(OSError(113, "No route to host")), False),
        (requests.exceptions.SSLError("certificate verify failed: expired ("), False),
    ],
)
def test_silence_is_the_services_own_fault(
    web: responses.RequestsMock, clock: VirtualClock, raised: Exception, fails: bool
) -> None:
    """Refused, broken and late are replies; TLS and no route are errors, and tell nothing."""
    web.get(URL, body=raised)
    said = ask(clock)
    assert (isinstance(said, Answered) and isinstance(said.answer, NoReply)) is fails
    assert isinstance(said, Errored) is not fails


@pytest.mark.contract("B424")
def test_redirects_are_followed_as_often_as_asked(
    web: responses.RequestsMock, clock: VirtualClock
) -> None:
    """Relative ones too; beyond that the redirect itself is the reply."""
    web.get(URL, status=302, headers={"Location": "/a"})
    web.get("https://web.example/a", status=307, headers={"Location": OTHER})
    web.get(OTHER, status=200)
    assert [reply(ask(clock, redirects=count)).status for count in (0, 1, 2)] == [302, 307, 200]


@pytest.mark.contract("B427")
def test_credentials_stay_at_their_origin(
    web: responses.RequestsMock, clock: VirtualClock, tmp_path: Path
) -> None:
    """Where a redirect leads elsewhere, they are not sent along, nor are headers."""
    file = tmp_path / "token"
    file.write_text("t0ken")
    secret = SecretFile(str(file))
    web.get(URL, status=302, headers={"Location": OTHER})
    web.get(OTHER)
    reply(ask(clock, Access(token=secret, headers=(("X-Tenant", secret),)), redirects=1))
    first, second = (call.request.headers for call in web.calls)
    assert (first["Authorization"], first["X-Tenant"]) == ("Bearer t0ken", "t0ken")
    assert "Authorization" not in second
    assert "X-Tenant" not in second


@pytest.mark.contract("B428")
@pytest.mark.parametrize("to", ["http://169.254.169.254/", "file:///etc/passwd", "https://a:b@c/"])
def test_a_redirect_leads_to_no_forbidden_address(
    web: responses.RequestsMock, clock: VirtualClock, to: str
) -> None:
    """It is looked at as the first address is."""
    web.get(URL, status=302, headers={"Location": to})
    said = ask(clock, redirects=5)
    assert isinstance(said, Errored)
    assert said.trouble is Trouble.ADDRESS
    assert "a:b" not in said.why


@pytest.mark.contract("B429")
@pytest.mark.parametrize("behind", [f"?state={CANARY}", f"#id_token={CANARY}", f"?a#{CANARY}"])
def test_a_location_is_shown_up_to_its_path(
    web: responses.RequestsMock, clock: VirtualClock, behind: str
) -> None:
    """Behind it logins put what proves who comes back."""
    web.get(URL, status=302, headers={"Location": f"{OTHER}in{behind}"})
    shown = reply(ask(clock)).location
    assert CANARY not in shown
    assert shown.startswith(f"{OTHER}in")

"""Credentials of a source: where they come from, and that none gets out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
import responses

from gate.core.checks.questions import Trouble
from gate.errors import UsageError
from gate.sources.access import Access, SecretFile, SecretVariable
from gate.sources.prometheus import Prometheus
from gate.virtual_time import VirtualClock
from tests.unit.sources.test_prometheus import BASE, QUESTION, URL, error, success

CANARY = "c4nary-s3cret"


@pytest.mark.contract("B427")
def test_a_token_file_is_read_at_each_request(
    web: responses.RequestsMock, clock: VirtualClock, tmp_path: Path
) -> None:
    """What rotates is followed; one that is broken or gone is told by its name alone."""
    file = tmp_path / "token"
    web.post(URL, json=success("vector", []))
    prometheus = Prometheus(BASE, Access(token=SecretFile(str(file))), clock)
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        prometheus.ask(QUESTION)
    assert [call.request.headers["Authorization"] for call in web.calls] == [
        "Bearer first",
        "Bearer second",
    ]
    for broken in ("", "  \n", "two\nlines", "nul\0", "\x1b[31m"):
        file.write_text(broken)
        found = error(prometheus.ask(QUESTION))
        assert found.why == f"{file} is empty or not one printable line"
    file.unlink()
    found = error(prometheus.ask(QUESTION))
    assert (found.trouble, found.permanent) == (Trouble.CREDENTIALS, True)
    assert found.why == f"{file} cannot be read: No such file or directory"


@pytest.mark.contract("B427")
def test_basic_auth_and_headers_come_from_the_environment(
    web: responses.RequestsMock, clock: VirtualClock
) -> None:
    """As do all secrets, or from files; none from a flag."""
    web.post(URL, json=success("vector", []))
    environ = {"WHO": "gate", "WORD": "p:w", "TENANT": "team-a"}
    who, word, tenant = (SecretVariable(name, environ) for name in environ)
    access = Access(user=(who, word), headers=(("X-Scope-OrgID", tenant),))
    Prometheus(BASE, access, clock).ask(QUESTION)
    sent = web.calls[0].request.headers
    assert sent["Authorization"] == "Basic Z2F0ZTpwOnc="
    assert sent["X-Scope-OrgID"] == "team-a"


@pytest.mark.contract("B429", "B466")
@pytest.mark.parametrize(
    "echo",
    [
        lambda sent: (400, {}, f"bad header: {sent}"),
        lambda sent: (200, {"Content-Type": "text/html"}, f"<p>{sent}</p>"),
        lambda sent: (302, {"Location": f"https://evil.example/{sent.split()[-1]}"}, ""),
        lambda sent: (302, {"Location": f"https://x.example/***?state={sent}#{sent}"}, ""),
        lambda sent: (200, {"Content-Encoding": "gzip"}, sent),
        lambda sent: (500, {}, json.dumps({"error": sent})),
    ],
)
def test_a_server_that_shows_what_it_was_sent_gives_nothing_away(
    web: responses.RequestsMock,
    clock: VirtualClock,
    echo: Callable[[str], tuple[int, dict[str, str], str]],
) -> None:
    """Neither in the error's line nor in its form for developers."""

    def answer(request: requests.PreparedRequest) -> tuple[int, dict[str, str], str]:
        return echo(str(request.headers["Authorization"]))

    web.add_callback("POST", URL, callback=answer)
    environ = {"T": CANARY}
    prometheus = Prometheus(BASE, Access(token=SecretVariable("T", environ)), clock)
    found = error(prometheus.ask(QUESTION))
    assert CANARY not in repr(found)
    assert "***" in found.why or "encoded" in found.why
    assert CANARY not in repr(Access(token=SecretVariable("T", environ)))


@pytest.mark.contract("B427")
@pytest.mark.parametrize(
    ("url", "access", "words"),
    [
        ("http://prom.example", Access(token=SecretFile("t")), "in plain text"),
        ("http://prom.example", Access(headers=(("X-A", SecretFile("t")),)), "in plain text"),
        (BASE, Access(token=SecretFile("t"), user=(SecretFile("u"), SecretFile("p"))), "not both"),
        (BASE, Access(headers=(("Host", SecretFile("t")),)), "not a header"),
        (BASE, Access(headers=(("A: b\r\nC", SecretFile("t")),)), "not a header"),
        (BASE, Access(authority="/nowhere"), "holds no certificate"),
        (BASE, Access(certificate="c"), "needs its key"),
        (BASE, Access(certificate="/nowhere", key="/nowhere"), "cannot be used"),
    ],
)
def test_access_that_is_not_safe_or_cannot_work_is_refused(
    clock: VirtualClock, url: str, access: Access, words: str
) -> None:
    """Before anything is sent."""
    with pytest.raises(UsageError, match=words):
        Prometheus(url, access, clock)
    Prometheus("http://prom.example", Access(), clock)
    Prometheus("http://prom.example", Access(SecretFile("t"), allow_plain_http=True), clock)

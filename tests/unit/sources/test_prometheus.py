"""Instant queries: what is sent, what the answers become, and what is wrong with them."""

from __future__ import annotations

import errno
import json
import math
import socket
import ssl
from collections.abc import Container
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import requests
import responses
import urllib3
from urllib3.connection import HTTPConnection

from gate.core.checks.questions import (
    Answered,
    Counted,
    Errored,
    Form,
    MetricQuestion,
    Samples,
    Series,
    Trouble,
)
from gate.core.model.objects import CleanText
from gate.sources.access import Access
from gate.sources.prometheus import Prometheus
from gate.virtual_time import VirtualClock

BASE = "https://prom.example"
URL = f"{BASE}/api/v1/query"
QUESTION = MetricQuestion("sum(up)", at=990.0)


def success(kind: str, result: Any, **more: Any) -> dict[str, Any]:
    """Return the body of a good answer."""
    return {"status": "success", "data": {"resultType": kind, "result": result}, **more}


def one(value: str, **labels: str) -> dict[str, Any]:
    """Return an element of a vector."""
    return {"metric": labels, "value": [1.0, value]}


def samples(said: Answered | Errored) -> Samples:
    """Return the samples of an answer, which it has to have."""
    assert isinstance(said, Answered), said
    assert isinstance(said.answer, Samples)
    return said.answer


def error(said: Answered | Errored) -> Errored:
    """Return the error, which it has to be."""
    assert isinstance(said, Errored), said
    return said


@pytest.fixture
def prometheus(clock: VirtualClock) -> Prometheus:
    """Return a server that asks for no credentials."""
    return Prometheus(BASE, Access(), clock)


@pytest.mark.contract("B410")
def test_a_query_is_posted_with_its_time(
    web: responses.RequestsMock,
    prometheus: Prometheus,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tick's own time on the wall, to the millisecond, and how long the server may take."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine prom.example login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    web.post(URL, json=success("vector", []), headers={"Set-Cookie": "a=b"})
    prometheus.ask(QUESTION)
    prometheus.ask(QUESTION)
    call, again = web.calls
    assert parse_qs(str(call.request.body)) == {
        "query": ["sum(up)"],
        "time": ["1767225590.000"],
        "timeout": ["10000ms"],
        "nocache": ["1"],
    }
    assert call.request.headers["Accept-Encoding"] == "identity"
    assert "Authorization" not in call.request.headers, "whatever a netrc has"
    assert "Cookie" not in again.request.headers, "no question depends on the one before"


@pytest.mark.contract("B400", "B402")
def test_a_vector_comes_with_its_labels(
    web: responses.RequestsMock, prometheus: Prometheus
) -> None:
    """Numbers as PromQL writes them, and label sets as PromQL writes those."""
    result = [
        one("0.25", __name__="up", pod='a"b'),
        one("NaN"),
        one("+Inf", z="1", a="2"),
        one("-1.5e-3"),
    ]
    web.post(URL, json=success("vector", result))
    found = samples(prometheus.ask(QUESTION))
    assert [each.labels for each in found.series] == [
        'up{pod="a\\"b"}',
        "{}",
        '{a="2",z="1"}',
        "{}",
    ]
    values = [each.value for each in found.series]
    assert values[0] == 0.25
    assert math.isnan(values[1])
    assert values[2:] == [math.inf, -0.0015]


@pytest.mark.contract("B1150")
def test_counters_are_told_apart_by_all_their_labels(
    web: responses.RequestsMock, prometheus: Prometheus
) -> None:
    """Whatever their names, and however long their labels; others have no identity."""
    long = "a" * 300
    result = [
        one("1", __name__="a", rollout_gate_counted="bad", path=f"{long}1"),
        one("2", __name__="b", rollout_gate_counted="bad", path=f"{long}1"),
        one("3", __name__="a", rollout_gate_counted="bad", path=f"{long}2", pod="web-1"),
        one("4", __name__="a", rollout_gate_counted="total", path=f"{long}1"),
        one("5", __name__="a", path=f"{long}1"),
    ]
    web.post(URL, json=success("vector", result))
    found = samples(prometheus.ask(QUESTION)).series
    assert [each.counted for each in found] == [*[Counted.BAD] * 3, Counted.TOTAL, None]
    assert found[0].identity == found[1].identity
    assert len({each.identity for each in found}) == 4
    assert found[4].identity == ""
    assert [each.pod for each in found] == ["", "", "web-1", "", ""]


@pytest.mark.contract("B400", "B404")
@pytest.mark.parametrize(
    ("kind", "result", "wanted"),
    [
        ("scalar", [1.0, "3"], Samples(Form.SCALAR, (Series(3.0),))),
        ("string", [1.0, "3"], Samples(Form.STRING)),
        ("matrix", [{"metric": {}, "values": [[1.0, "3"]]}], Samples(Form.MATRIX)),
        ("vector", [{"metric": {}, "histogram": [1.0, {}]}], Samples(Form.HISTOGRAM)),
        ("vector", [], Samples(Form.VECTOR)),
    ],
)
def test_every_form_of_a_result_is_told(
    web: responses.RequestsMock, prometheus: Prometheus, kind: str, result: Any, wanted: Samples
) -> None:
    """What is no number has no series."""
    web.post(URL, json=success(kind, result))
    assert samples(prometheus.ask(QUESTION)) == wanted


@pytest.mark.contract("B405")
@pytest.mark.parametrize(
    ("more", "remarks"),
    [
        ({"warnings": ["store-2 is down"]}, ("store-2 is down",)),
        ({"infos": ["PromQL info: ignored histograms in sum"]}, 1),
        ({"infos": ['PromQL info: metric might not be a counter, name does not end in "x"']}, 0),
        ({"infos": ["input to histogram_quantile needed to be fixed for monotonicity"]}, 0),
        ({"isPartial": True}, 1),
        ({"isPartial": False, "warnings": None}, 0),
        ({"warnings": ["a\x1b[31m::error::b"] * 9}, 3),
    ],
)
def test_what_says_that_it_is_partial_is_kept(
    web: responses.RequestsMock, prometheus: Prometheus, more: dict[str, Any], remarks: Any
) -> None:
    """Warnings, infos that say that something was left out, and VictoriaMetrics' flag; clean."""
    web.post(URL, json=success("vector", [one("1")], **more))
    found = samples(prometheus.ask(QUESTION)).remarks
    assert (found if isinstance(remarks, tuple) else len(found)) == remarks
    assert not any("\x1b" in text for text in found)


@pytest.mark.contract("B409")
@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (400, Trouble.BAD_QUERY),
        (401, Trouble.UNAUTHORIZED),
        (403, Trouble.FORBIDDEN),
        (404, Trouble.NOT_FOUND),
        (422, Trouble.BAD_QUERY),
        (302, Trouble.REDIRECTED),
        (418, Trouble.BAD_ANSWER),
        (202, Trouble.BAD_ANSWER),
    ],
)
def test_some_answers_are_the_same_every_time(
    web: responses.RequestsMock, prometheus: Prometheus, status: int, trouble: Trouble
) -> None:
    """They are permanent, and asked once."""
    web.post(URL, status=status, body=b"<html><style>p{}</style><b>Sign  in</b></html>")
    found = error(prometheus.ask(QUESTION))
    assert (found.trouble, found.permanent) == (trouble, True)
    assert "<" not in found.why
    assert len(web.calls) == 1


@pytest.mark.contract("B409")
def test_a_malformed_query_is_told_with_its_position(
    web: responses.RequestsMock, prometheus: Prometheus
) -> None:
    """In the server's own words, with line and column."""
    message = 'invalid parameter "query": 1:9: parse error: unexpected right parenthesis ")"'
    body = {"status": "error", "errorType": "bad_data", "error": message}
    web.post(URL, status=400, json=body)
    found = error(prometheus.ask(QUESTION))
    assert found.position == (1, 9)
    assert found.why == f"{BASE} answered 400: {message}"
    assert found.usage


@pytest.mark.contract("B409")
@pytest.mark.parametrize(
    ("body", "content_type", "words"),
    [
        (b"<html><h1>Log in</h1></html>", "text/html", "no JSON but text/html: Log in"),
        (b"{", "application/json", "not JSON"),
        (b"[" * 100_000, "application/json", "not JSON"),
        (b"[]", "application/json", "none of Prometheus"),
        (b'{"status":"error","error":"x"}', "application/json", "none of Prometheus"),
        (b'{"status":"success","data":[]}', "application/json", "none of Prometheus"),
        (json.dumps(success("tensor", [])).encode(), "application/json", "malformed"),
        (json.dumps(success("vector", {})).encode(), "application/json", "malformed"),
        (json.dumps(success("vector", [1])).encode(), "application/json", "malformed"),
        (json.dumps(success("vector", [one("1_0")])).encode(), "application/json", "malformed"),
        (json.dumps(success("vector", [one("one")])).encode(), "application/json", "malformed"),
        (json.dumps(success("scalar", [])).encode(), "application/json", "malformed"),
        (b"{}", "", "no content type"),
        (b" " * (2**20 + 1), "application/json", "larger than 1024 KiB"),
    ],
)
def test_what_is_none_of_the_apis_answers_is_permanent(
    web: responses.RequestsMock, prometheus: Prometheus, body: bytes, content_type: str, words: str
) -> None:
    """A login page, half a document, an endless one."""
    web.post(URL, body=body, content_type=content_type)
    found = error(prometheus.ask(QUESTION))
    assert found.trouble is Trouble.BAD_ANSWER
    assert words in found.why


@pytest.mark.contract("B408")
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_asked_again(
    web: responses.RequestsMock, prometheus: Prometheus, clock: VirtualClock, status: int
) -> None:
    """Until there is an answer."""
    web.post(URL, status=status, body="busy")
    web.post(URL, json=success("vector", [one("1")]))
    assert samples(prometheus.ask(QUESTION)).series == (Series(1.0, CleanText("{}")),)
    assert clock.now() == 1000.2


@pytest.mark.contract("B408", "B430", "B1958")
@pytest.mark.parametrize(
    ("headers", "calls"),
    [({"Retry-After": "3"}, {4}), ({"Retry-After": "60"}, {1}), ({}, range(5, 11))],
)
def test_all_tries_end_with_the_questions_time(
    web: responses.RequestsMock,
    prometheus: Prometheus,
    clock: VirtualClock,
    headers: dict[str, str],
    calls: Container[int],
) -> None:
    """Never before the server says, not at all where that is too late; the last error is told."""
    web.post(URL, status=503, headers=headers, json={"status": "error", "error": "timed out"})
    found = error(prometheus.ask(QUESTION))
    assert (found.trouble, found.permanent) == (Trouble.SERVER_FAILED, False)
    assert found.why == f"{BASE} answered 503: timed out"
    asked = len(web.calls)
    assert asked in calls
    assert 1000.0 <= clock.now() < 1010.0
    assert not headers or clock.now() == 1000.0 + 3.0 * (asked - 1)
    started = clock.now()
    late = error(prometheus.ask(replace(QUESTION, answer_by=started + 4.0)))
    assert (late.why, clock.now() - started < 4.0) == (found.why, True)
    asked = len(web.calls)
    prometheus.cancel()
    assert error(prometheus.ask(QUESTION)).trouble is Trouble.CANCELLED, "nothing as the run ends"
    assert len(web.calls) == asked


def wrapped(inner: Exception) -> requests.ConnectionError:
    """Return an error as requests wraps what urllib3 wrapped."""
    outer = OSError("outer")
    outer.__cause__ = inner
    return requests.ConnectionError(outer)


def not_connected(number: int) -> Exception:
    """Return urllib3's error of a connection that could not be made, with its cause."""
    error = urllib3.exceptions.NewConnectionError(HTTPConnection("prometheus"), "no connection")
    error.__cause__ = OSError(number, "why")
    return error


@pytest.mark.contract("B408")
@pytest.mark.parametrize(
    ("raised", "trouble", "words"),
    [
        (requests.ConnectTimeout("x"), Trouble.TIMED_OUT, "did not answer in time"),
        (requests.ReadTimeout("x"), Trouble.TIMED_OUT, "did not answer in time"),
        (wrapped(ConnectionRefusedError()), Trouble.REFUSED, "refuses the connection"),
        (wrapped(not_connected(errno.ECONNREFUSED)), Trouble.REFUSED, "refuses the connection"),
        (wrapped(not_connected(errno.EHOSTUNREACH)), Trouble.UNREACHABLE, "cannot reach"),
        (wrapped(ConnectionResetError()), Trouble.REFUSED, "broke"),
        (wrapped(socket.gaierror(-2, "unknown")), Trouble.NAME, "does not resolve"),
        (wrapped(ssl.SSLEOFError()), Trouble.UNREACHABLE, "cannot reach"),
        (requests.exceptions.ProxyError("x"), Trouble.UNREACHABLE, "proxy"),
        (requests.exceptions.SSLError("x: certificate verify failed: self-signed (_ssl.c:1)"),
         Trouble.TLS, "not trusted: self-signed"),
        (requests.exceptions.SSLError("x: certificate verify failed: Hostname mismatch (_ssl.c:1)"),
         Trouble.TLS, "not trusted: Hostname mismatch"),
        (requests.exceptions.SSLError("[SSL: WRONG_VERSION_NUMBER]"), Trouble.TLS, "no TLS"),
    ],
)  # fmt: skip
def test_errors_of_the_network_are_named(
    web: responses.RequestsMock,
    prometheus: Prometheus,
    raised: Exception,
    trouble: Trouble,
    words: str,
) -> None:
    """Only TLS is for good; the line names the server."""
    web.post(URL, body=raised)
    found = error(prometheus.ask(QUESTION))
    assert (found.trouble, found.permanent) == (trouble, trouble is Trouble.TLS)
    assert words in found.why
    assert "prom.example" in found.why

"""The ways that metrics leave a run: a file, an endpoint, requests."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from gate.clock import SystemClock
from gate.errors import UsageError
from gate.metrics.endpoint import listening
from gate.metrics.families import LAST_DURATION, Sample
from gate.metrics.pushgateway import NotTaken
from gate.metrics.sending import Sender
from gate.sources.access import Access, SecretVariable
from gate.wire.files import put
from tests.unit.kube.scripted import Reply, ScriptedServer, serving
from tests.unit.metrics.runs import parsed, values

OPENER = build_opener(ProxyHandler({}))
SAMPLE = Sample(LAST_DURATION, ("shop", 'we"b\n'), 1.5)


def get(url: str, **headers: str) -> tuple[str, bytes]:
    """Return the type and the body of an answer."""
    request = Request(url, headers=headers)  # noqa: S310 - the test's own
    with OPENER.open(request, timeout=5.0) as response:
        return response.headers["Content-Type"], response.read()


@pytest.mark.contract("B612")
def test_a_file_is_replaced_whole_and_can_be_read_by_others(tmp_path: Path) -> None:
    """The collector is another user, and reads `*.prom` at any moment."""
    path = tmp_path / "gate.prom"
    path.write_bytes(b"old 1\n")
    before = os.umask(0o022)
    try:
        with path.open("rb") as reader:
            put(path, b"new 2\n")
            assert reader.read() == b"old 1\n"
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [each.name for each in tmp_path.iterdir()] == ["gate.prom"]


# -- an endpoint -----------------------------------------------------------------------------------


@pytest.mark.contract("B613")
def test_an_endpoint_serves_what_is_known_now_until_its_end() -> None:
    """In the format that is asked for, values of labels escaped; no other path is there."""
    read = [SAMPLE]
    with listening("127.0.0.1", 0, lambda: read) as url:
        kind, body = get(url)
        assert kind.startswith("text/plain")
        assert values(parsed(body), LAST_DURATION.name, "deployment") == {('we"b\n',): 1.5}
        assert get(url, Accept="application/openmetrics-text")[1].endswith(b"# EOF\n")
        read.clear()
        assert LAST_DURATION.name.encode() not in get(url)[1]
        with pytest.raises(HTTPError, match="404"):
            get(url.removesuffix("/metrics"))
    with pytest.raises(URLError, match="refused"):
        get(url)


def test_an_endpoint_ends_while_a_client_dawdles() -> None:
    """Nobody waits for somebody who asks nothing."""
    threads = set(threading.enumerate())
    with listening("127.0.0.1", 0, lambda: [SAMPLE]) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])
        dawdler = socket.create_connection(("127.0.0.1", port))
        get(url)
    dawdler.close()
    for thread in set(threading.enumerate()) - threads:
        thread.join(10.0)
        assert not thread.is_alive()


# -- requests --------------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """Return a server; whatever proxy the environment names is not asked."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield from serving()


@pytest.mark.contract("B614")
def test_a_push_is_a_put_of_text(server: ScriptedServer) -> None:
    """With the type of the text format."""
    sender = Sender(server.url, Access(), SystemClock())
    for method, body in (("PUT", b"a 1\n"), ("DELETE", b"")):
        server.on(method, "/group", Reply(202))
        sender(method, f"{server.url}/group", 5.0, body)
    kind = "text/plain; version=0.0.4; charset=utf-8"
    assert [(one.method, one.header("Content-Type"), one.body) for one in server.seen] == [
        ("PUT", kind, b"a 1\n"),
        ("DELETE", None, b""),
    ]
    assert {one.header("Authorization") for one in server.seen} == {None}


@pytest.mark.contract("B616")
@pytest.mark.parametrize("status", [400, 301, 503])
def test_what_is_not_taken_is_told(server: ScriptedServer, status: int) -> None:
    """In the server's own words, without its markup; a redirect is not followed."""
    words = "" if status == 301 else ": pushed metrics are bad"
    body = b"pushed metrics are <b>bad</b>\n"
    server.on("PUT", "/group", Reply(status, body, {"Location": "/elsewhere"}))
    push = Sender(server.url, Access(), SystemClock())
    with pytest.raises(NotTaken, match=f"^{server.url} answered {status}{words}$"):
        push("PUT", f"{server.url}/group", 5.0, b"a 1\n")
    with pytest.raises(NotTaken, match="no time was left"):
        push("PUT", f"{server.url}/group", 0.0)
    assert len(server.seen) == 1


@pytest.mark.contract("B623")
def test_credentials_go_over_plain_http_only_where_that_is_allowed(server: ScriptedServer) -> None:
    """And to the server that they are for."""
    token = SecretVariable("TOKEN", {"TOKEN": "sesame"})
    with pytest.raises(UsageError, match="in plain text"):
        Sender(server.url, Access(token), SystemClock())
    server.on("PUT", "/group", Reply(200))
    allowed = Access(token, allow_plain_http=True)
    Sender(server.url, allowed, SystemClock())("PUT", f"{server.url}/group", 5.0)
    assert server.seen[0].header("Authorization") == "Bearer sesame"

"""The socket: TLS, streams, time, port, kubeconfig, and an end that leaves nothing."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import signal
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest
import yaml

from gate.signals import delivered_to
from sandbox.failure import SandboxError
from sandbox.serving.http import Endpoint, ServeOptions, serve, serve_until_signalled
from sandbox.serving.options import MOST_BODY_BYTES
from sandbox.serving.request import Answer, Request, text_answer
from sandbox.times import Timers


class Ticks:
    """A stream that says a line a sandbox second."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._lines: list[bytes] = []
        self._hear: Callable[[], None] = lambda: None
        self.ended = False
        self._tick()

    def take(self) -> list[bytes]:
        """Return the lines so far."""
        taken, self._lines = self._lines, []
        return taken

    def on_data(self, hear: Callable[[], None]) -> None:
        """Keep who hears."""
        self._hear = hear

    def close(self) -> None:
        """End."""
        self.ended = True
        self._hear()

    def _tick(self) -> None:
        self._lines.append(f"{self._timers.now():.0f}\n".encode())
        self._timers.call_later(1.0, self._tick)
        self._hear()


class Echo:
    """A cluster that says what it was asked."""

    def __init__(self) -> None:
        self.timers = Timers()
        self.token = "well-known"
        self.streams: list[Ticks] = []

    def renew_admin_token(self, token: str) -> None:
        """Keep it."""
        self.token = token

    def handle(self, request: Request) -> Answer:
        """Answer with the request's own words."""
        if request.path == "/ticks":
            self.streams.append(Ticks(self.timers))
            return Answer(200, self.streams[-1], {"content-type": "application/json"})
        text = f"{request.method} {request.path} {request.query} {len(request.body)}"
        named = [request.headers.get(name, "-") for name in ("x-group", "authorization")]
        return text_answer(200, " ".join([text, *named]))


class Session:
    """A client that trusts what the kubeconfig says."""

    def __init__(self, endpoint: Endpoint) -> None:
        document = yaml.safe_load(endpoint.kubeconfig)
        authority = document["clusters"][0]["cluster"]["certificate-authority-data"]
        self.server = document["clusters"][0]["cluster"]["server"]
        token = document["users"][0]["user"]["token"]
        self.headers = {"Authorization": f"Bearer {token}"}
        self.context = ssl.create_default_context(cadata=base64.b64decode(authority).decode())

    def client(self) -> aiohttp.ClientSession:
        """Return a session with the certificate checked."""
        connector = aiohttp.TCPConnector(ssl=self.context)
        return aiohttp.ClientSession(self.server, connector=connector, headers=self.headers)


async def _running(
    cluster: Echo, options: ServeOptions
) -> tuple[Endpoint, Callable[[], None], asyncio.Task[None]]:
    stop, ready = asyncio.Event(), asyncio.Queue[Endpoint]()
    task = asyncio.create_task(serve(cluster, stop, ready.put_nowait, options))
    waiting = asyncio.create_task(ready.get())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        waiting.cancel()
        await task
    return waiting.result(), stop.set, task


@pytest.mark.contract("B303")
def test_a_request_reaches_the_cluster_over_tls(tmp_path: Path) -> None:
    """Method, decoded path, query, body and token arrive; the kubeconfig is all that one needs."""
    path = tmp_path / "config"

    async def scene() -> tuple[str, str]:
        cluster = Echo()
        endpoint, stop, task = await _running(cluster, ServeOptions(kubeconfig=path))
        assert path.read_text() == endpoint.kubeconfig
        async with Session(endpoint).client() as client:
            url = "/apis/x%3Ay?a=1&b=&a=2"
            twice = [("X-Group", "a"), ("X-Group", "b")]
            async with client.post(url, data=b"12345", headers=twice) as answer:
                text = await answer.text()
        stop()
        await task
        return text, cluster.token

    text, token = asyncio.run(scene())
    assert len(token) >= 32
    request = "POST /apis/x:y (('a', '1'), ('b', ''), ('a', '2')) 5"
    assert text == f"{request} a, b Bearer {token}"
    assert not path.exists()


def test_a_body_is_read_up_to_the_limit() -> None:
    """What is larger reaches the cluster cut, and larger than it takes."""

    async def scene() -> int:
        endpoint, stop, task = await _running(Echo(), ServeOptions())
        body = io.BytesIO(b" " * (MOST_BODY_BYTES + 500_000))
        async with Session(endpoint).client() as client, client.post("/", data=body) as answer:
            text = await answer.text()
        stop()
        await task
        return int(text.split(" ")[3])

    assert asyncio.run(scene()) > MOST_BODY_BYTES


@pytest.mark.contract("B303")
def test_a_signal_ends_it(tmp_path: Path) -> None:
    """SIGTERM is an orderly end."""
    path = tmp_path / "config"
    endpoints: list[Endpoint] = []

    def ready(endpoint: Endpoint) -> None:
        endpoints.append(endpoint)
        os.kill(os.getpid(), signal.SIGTERM)

    serve_until_signalled(Echo(), ready, ServeOptions(kubeconfig=path), delivered_to)
    assert endpoints[0].server == f"https://127.0.0.1:{endpoints[0].port}"
    assert not path.exists()


def test_a_stream_grows_with_scaled_time_and_ends_with_the_server() -> None:
    """Lines come as they are said, a thousand times as fast; stopping ends the stream."""

    async def scene() -> list[bytes]:
        cluster = Echo()
        endpoint, stop, task = await _running(cluster, ServeOptions(speed=1000.0))
        async with Session(endpoint).client() as client, client.get("/ticks") as answer:
            lines = [await answer.content.readline() for _ in range(5)]
            stop()
            await answer.content.read()
        await task
        assert cluster.streams[0].ended
        return lines

    lines = asyncio.run(scene())
    numbers = [int(line) for line in lines]
    assert numbers == list(range(numbers[0], numbers[0] + 5))


def test_a_reader_that_goes_closes_its_stream() -> None:
    """A watch whose client has gone is not kept."""

    async def scene() -> bool:
        cluster = Echo()
        endpoint, stop, task = await _running(cluster, ServeOptions(speed=1000.0))
        async with Session(endpoint).client() as client, client.get("/ticks") as answer:
            await answer.content.readline()
            answer.close()
        closed = asyncio.Event()
        cluster.streams[0].on_data(lambda: closed.set() if cluster.streams[0].ended else None)
        if not cluster.streams[0].ended:
            await asyncio.wait_for(closed.wait(), 10)
        stop()
        await task
        return cluster.streams[0].ended

    assert asyncio.run(scene())


def test_a_port_in_use_is_said_so() -> None:
    """The message names the port and the way out."""

    async def scene(port: int) -> None:
        await _running(Echo(), ServeOptions(port=port))

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SandboxError, match=f"port {port} on 127.0.0.1 is in use") as refused:
            asyncio.run(scene(port))
    assert "another port" in refused.value.hint


def test_a_broken_timer_ends_the_server() -> None:
    """A fault inside the cluster is not kept silent."""

    async def scene() -> None:
        cluster = Echo()
        cluster.timers.call_later(1.0, _fail)
        _, _, task = await _running(cluster, ServeOptions(speed=1000.0))
        await asyncio.wait_for(task, 10)

    with pytest.raises(RuntimeError, match="broken"):
        asyncio.run(scene())


def _fail() -> None:
    raise RuntimeError("broken")

"""The sandbox on a socket: HTTPS on 127.0.0.1 alone, in the asyncio loop of the calling thread.

`serve` runs until its event is set and leaves nothing behind: watches end, the port is free, and
the kubeconfig file is gone. Certificate and token are created again each time.
"""

from __future__ import annotations

import asyncio
import errno
import math
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, unquote

from aiohttp import web

from sandbox.failure import SandboxError
from sandbox.serving.kubeconfig import (
    check_kubeconfig,
    kubeconfig_text,
    self_signed,
    write_kubeconfig,
)
from sandbox.serving.options import MOST_BODY_BYTES
from sandbox.serving.request import Answer, Request, Stream
from sandbox.times import Timers

LONGEST_SLEEP_SECONDS = 3600.0


class Pacer:
    """Moves `timers` along with the loop's clock; `speed` sandbox seconds pass in one second."""

    def __init__(self, timers: Timers, speed: float, clock: Callable[[], float]) -> None:
        """`clock` gives monotonic seconds; the sandbox's time goes on from where it stands."""
        self._timers = timers
        self._speed = speed
        self._clock = clock
        self._started_at = clock()
        self._offset = timers.now()
        self._changed = asyncio.Event()

    def now(self) -> float:
        """Return what the sandbox's time is by the clock."""
        return self._offset + (self._clock() - self._started_at) * self._speed

    def catch_up(self) -> None:
        """Run what is due: a request sees the cluster of its moment."""
        self._timers.run_due(self.now())

    def wake(self) -> None:
        """Look again at what is due next: something may have been asked for since."""
        self._changed.set()

    async def run(self) -> None:
        """Run what is due, each at its time, until cancelled."""
        while True:
            self._changed.clear()
            self.catch_up()
            try:
                await asyncio.wait_for(self._changed.wait(), self._pause())
            except TimeoutError:
                continue

    def _pause(self) -> float:
        due = self._timers.due_at()
        if math.isinf(due):
            return LONGEST_SLEEP_SECONDS
        seconds = (due - self.now()) / self._speed
        return min(max(0.0, seconds), LONGEST_SLEEP_SECONDS)


HOST = "127.0.0.1"
STOP_SECONDS = 1.0
TOKEN_BYTES = 24


class Served(Protocol):
    """What is put on the socket (`sandbox.cluster.Cluster`)."""

    @property
    def timers(self) -> Timers:
        """The time that is moved along."""

    def renew_admin_token(self, token: str) -> None:
        """Accept a token of the user who may do everything, and none before it."""

    def handle(self, request: Request) -> Answer:
        """Answer one request."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How to serve: a port (0 takes a free one), how fast, and where to put the kubeconfig."""

    port: int = 0
    speed: float = 1.0
    kubeconfig: Path | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the sandbox listens; `kubeconfig` is the text that reaches it as its administrator."""

    server: str
    port: int
    kubeconfig: str


Ready = Callable[[Endpoint], None]
Delivered = Callable[[Callable[[int], None]], AbstractContextManager[None]]
"""Hands a signal's number to a function for a block (`gate.signals`)."""


async def serve(
    cluster: Served, stop: asyncio.Event, ready: Ready, options: ServeOptions | None = None
) -> None:
    """Serve until `stop` is set; `ready` is told where. SandboxError: port, kubeconfig."""
    chosen = options or ServeOptions()
    if chosen.kubeconfig is not None:
        check_kubeconfig(chosen.kubeconfig)
    async with _listening(cluster, chosen) as (endpoint, turning):
        written = None
        if chosen.kubeconfig is not None:
            written = write_kubeconfig(chosen.kubeconfig, endpoint.kubeconfig)
        try:
            ready(endpoint)
            await _until(stop, turning)
        finally:
            if written is not None:
                written.remove()


def serve_until_signalled(
    cluster: Served, ready: Ready, options: ServeOptions, delivered: Delivered
) -> None:
    """Serve in a loop of its own until the first signal that is delivered; in the main thread."""

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end(_number: int) -> None:
            loop.call_soon_threadsafe(stop.set)

        with delivered(end):
            await serve(cluster, stop, ready, options)

    asyncio.run(run())


@asynccontextmanager
async def _listening(
    cluster: Served, options: ServeOptions
) -> AsyncIterator[tuple[Endpoint, asyncio.Task[None]]]:
    """Serve as long as the block runs; the task is what turns the cluster's clock."""
    pacer = Pacer(cluster.timers, options.speed, asyncio.get_running_loop().time)
    face = _Face(cluster, pacer)
    certificate = self_signed()
    runner = web.ServerRunner(
        web.Server(face.handle, handler_cancellation=True, access_log=None),
        shutdown_timeout=STOP_SECONDS,
    )
    await runner.setup()
    turning = asyncio.create_task(pacer.run())
    try:
        site = web.TCPSite(runner, HOST, options.port, ssl_context=certificate.context())
        await _listen(site, options.port)
        port = int(runner.addresses[0][1])
        server = f"https://{HOST}:{port}"
        token = secrets.token_urlsafe(TOKEN_BYTES)
        cluster.renew_admin_token(token)
        text = kubeconfig_text(server, certificate.certificate, token)
        yield Endpoint(server, port, text), turning
    finally:
        turning.cancel()
        face.close()
        await runner.cleanup()
        with suppress(asyncio.CancelledError, Exception):
            await turning


async def _until(stop: asyncio.Event, turning: asyncio.Task[None]) -> None:
    """Wait for the event; raise what breaks the cluster meanwhile."""
    waiting = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({waiting, turning}, return_when=asyncio.FIRST_COMPLETED)
        if turning.done():
            turning.result()
    finally:
        waiting.cancel()


class _Face:
    """Requests to the cluster, answers to the socket; streams are written as they grow."""

    def __init__(self, cluster: Served, pacer: Pacer) -> None:
        self._cluster = cluster
        self._pacer = pacer
        self._streams: set[Stream] = set()

    async def handle(self, asked: web.BaseRequest) -> web.StreamResponse:
        request = await _receive_request(asked)
        self._pacer.catch_up()
        answer = self._cluster.handle(request)
        self._pacer.wake()
        if isinstance(answer.body, bytes):
            return web.Response(status=answer.status, headers=answer.headers, body=answer.body)
        return await self._send_stream(asked, answer.status, answer.headers, answer.body)

    def close(self) -> None:
        """End every stream."""
        for stream in tuple(self._streams):
            stream.close()

    async def _send_stream(
        self, asked: web.BaseRequest, status: int, headers: Mapping[str, str], stream: Stream
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers=headers)
        grown = asyncio.Event()
        stream.on_data(grown.set)
        self._streams.add(stream)
        try:
            await response.prepare(asked)
            await _copy(stream, grown, response)
        except ConnectionError:
            asked.protocol.force_close()
        finally:
            self._streams.discard(stream)
            stream.close()
        return response


async def _copy(stream: Stream, grown: asyncio.Event, response: web.StreamResponse) -> None:
    while True:
        grown.clear()
        pending = b"".join(stream.take())
        if pending:
            await response.write(pending)
        elif stream.ended:
            await response.write_eof()
            return
        else:
            await grown.wait()


async def _receive_request(asked: web.BaseRequest) -> Request:
    path, _, query = asked.raw_path.partition("?")
    return Request(
        method=asked.method,
        path=unquote(path),
        query=tuple(parse_qsl(query, keep_blank_values=True)),
        headers={name.lower(): ", ".join(asked.headers.getall(name)) for name in asked.headers},
        body=await _body(asked),
    )


async def _body(asked: web.BaseRequest) -> bytes:
    """Read one chunk beyond the limit at most: the cluster refuses what is too large."""
    body = bytearray()
    async for chunk in asked.content.iter_any():
        body += chunk
        if len(body) > MOST_BODY_BYTES:
            break
    return bytes(body)


async def _listen(site: web.TCPSite, port: int) -> None:
    try:
        await site.start()
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is in use" if error.errno == errno.EADDRINUSE else "needs more rights"
        raise SandboxError(
            f"port {port} on {HOST} {why}", hint="choose another port, or 0 for a free one"
        ) from error

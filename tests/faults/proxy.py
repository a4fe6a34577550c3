"""The proxy itself: it listens on loopback, asks its script about each request, and counts."""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Self

import aiohttp
from aiohttp import web

from tests.cluster.access import Certificate
from tests.faults.exchange import Exchange, Server
from tests.faults.log import Log
from tests.faults.request import Asked
from tests.faults.script import Fault, Script

_HOST = "127.0.0.1"
_BODY_BYTES = 64 << 20
_CLOSING_ROUNDS = 8

Sleep = Callable[[float], Coroutine[object, object, None]]


class Proxy:
    """A server in front of another one, in a thread of its own, as a context manager.

    Clients trust `certificate`; the server behind is trusted by `authority`. Bearer tokens pass
    through. `play` changes the script for the requests that come from then on.
    """

    def __init__(
        self, server: str, authority: Path, certificate: Certificate, sleep: Sleep = asyncio.sleep
    ) -> None:
        """Listen to nothing yet; `sleep` is what delays wait by."""
        self.certificate = certificate
        self.log = Log(time.monotonic)
        self._server = server
        self._authority = authority
        self._sleep = sleep
        self._script = Script()
        self._port = 0
        self._late: set[asyncio.Task[object]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="faults", daemon=True)

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"https://{_HOST}:{self._port}"

    def play(self, script: Script) -> None:
        """Go by another script; what is under way goes on by the one that it met."""
        self._script = script

    def cut_all(self) -> None:
        """End every connection that is open, as a balancer does that restarts."""
        self._run(self._cut_all())

    def __enter__(self) -> Self:
        """Listen."""
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        """Cut what is open, and end the thread."""
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # -- in the loop's thread ------------------------------------------------------------------

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _start(self) -> None:
        trusting = ssl.create_default_context(cafile=self._authority)
        connector = aiohttp.TCPConnector(ssl=trusting, limit=0, force_close=True)
        session = aiohttp.ClientSession(
            connector=connector,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            read_bufsize=1 << 20,
        )
        self._behind = Server(self._server, session)
        application = web.Application(client_max_size=_BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await self._listen()

    async def _listen(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate.certificate, self.certificate.key)
        assert self._runner.server is not None
        self._listening = await self._loop.create_server(
            self._runner.server, _HOST, self._port, ssl=context, reuse_address=True
        )
        self._port = self._listening.sockets[0].getsockname()[1]

    async def _cut_all(self) -> None:
        assert self._runner.server is not None
        for connection in tuple(self._runner.server.connections):
            if connection.transport is not None:
                connection.transport.abort()

    async def _close(self) -> None:
        self._listening.close()
        await self._cut_all()
        late = tuple(self._late)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        await self._runner.cleanup()
        await self._behind.session.close()
        for _ in range(_CLOSING_ROUNDS):
            await asyncio.sleep(0)  # an aborted transport closes its socket in the next rounds

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        script = self._script
        asked = Asked(request.method, request.raw_path, request.headers, await request.read())
        fault = script.fault_for(asked)
        seen = self.log.note(asked, type(fault).__name__ if fault else "")

        def ended() -> None:
            script.ended(asked)

        exchange = Exchange(
            asked=asked,
            server=self._behind,
            has_ended=script.has_ended,
            wait=self._sleep,
            later=self._later,
            request=request,
            began=seen.began,
            ended=ended,
        )
        try:
            async with exchange.stack:
                await _played(fault, exchange)
        except (aiohttp.ClientError, ConnectionError):
            exchange.cut()  # one of the two is gone: so is the other, for the other
        finally:
            ended()
        return exchange.response or web.Response()

    def _later(self, work: Coroutine[object, object, object]) -> None:
        task: asyncio.Task[object] = self._loop.create_task(work)
        self._late.add(task)
        task.add_done_callback(self._late.discard)


async def _played(fault: Fault | None, exchange: Exchange) -> None:
    if fault is None:
        await exchange.pass_on(await exchange.forward())
    else:
        await fault.play(exchange)

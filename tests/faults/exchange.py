"""One request on its way: what a fault can do with it, down to the socket."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web
from yarl import URL

from tests.faults.request import Asked, Match

_BETWEEN_NEIGHBOURS = frozenset(
    {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}
)
_RESET = struct.pack("ii", 1, 0)  # SO_LINGER of no time: closing sends RST in the place of FIN


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Server:
    """The API server behind the proxy."""

    url: str
    session: aiohttp.ClientSession

    async def open(self, asked: Asked, stack: AsyncExitStack) -> aiohttp.ClientResponse:
        """Send a request and return its answer as far as its head; the stack closes it."""
        headers = {
            name: value
            for name, value in asked.headers.items()
            if name.lower() not in _BETWEEN_NEIGHBOURS
        }
        request = self.session.request(
            asked.method,
            URL(self.url + asked.target, encoded=True),
            headers=headers,
            data=asked.body or None,
            allow_redirects=False,
        )
        return await stack.enter_async_context(request)

    async def reply(self, asked: Asked) -> Reply:
        """Send a request and return its whole answer."""
        async with AsyncExitStack() as stack:
            answer = await self.open(asked, stack)
            return Reply(answer.status, headers_of(answer), await answer.read())


@dataclass(slots=True)
class Exchange:
    """A request, the server that it is for, and the connection that waits for its answer.

    `has_ended` tells whether a request like this has ended; `wait` sleeps, `later` has
    something done that outlives the connection. `began` is told the status that is answered,
    `ended` that nothing more will come: both before the client can know.
    """

    asked: Asked
    server: Server
    has_ended: Callable[[Match], bool]
    wait: Callable[[float], Coroutine[object, object, None]]
    later: Callable[[Coroutine[object, object, object]], object]
    request: web.Request
    began: Callable[[int], None]
    ended: Callable[[], None]
    response: web.StreamResponse | None = None
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    # -- what the server says ------------------------------------------------------------------

    async def forward(self, asked: Asked | None = None) -> aiohttp.ClientResponse:
        """Ask the server, in other words where they are given; the body is still to come."""
        return await self.server.open(asked or self.asked, self.stack)

    async def reply(self, asked: Asked | None = None) -> Reply:
        """Ask the server, and return its whole answer."""
        return await self.server.reply(asked or self.asked)

    # -- what the client hears -----------------------------------------------------------------

    async def begin(
        self, status: int, headers: Mapping[str, str], length: int | None = None
    ) -> None:
        """Send the head of an answer; `length` None for a body of any length."""
        self.began(status)
        self.response = web.StreamResponse(status=status, headers=dict(headers))
        if length is None:
            self.response.enable_chunked_encoding()
        else:
            self.response.content_length = length
        await self.response.prepare(self.request)

    async def send(self, data: bytes) -> None:
        """Send a part of the body."""
        assert self.response is not None, "the answer has no head"
        if data:
            await self.response.write(data)

    async def end(self) -> None:
        """End the answer as it should."""
        assert self.response is not None, "the answer has no head"
        self.ended()
        await self.response.write_eof()

    async def say(self, reply: Reply) -> None:
        """Send a whole answer."""
        await self.begin(reply.status, reply.headers, len(reply.body))
        self.ended()
        await self.send(reply.body)
        await self.end()

    async def pass_on(self, answer: aiohttp.ClientResponse) -> None:
        """Send what the server says as it says it."""
        await self.begin(answer.status, headers_of(answer))
        async for piece in pieces(answer):
            await self.send(piece)
        await self.end()

    # -- what becomes of the connection --------------------------------------------------------

    def cut(self, *, reset: bool = False) -> None:
        """End the connection where it stands, without TLS's farewell; `reset` by RST, not FIN."""
        self.ended()
        transport = self.request.transport
        if transport is None:
            return
        if reset:
            connection: socket.socket = transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        transport.abort()

    async def keep_silent(self) -> None:
        """Leave the connection open and say nothing more, until the client gives it up."""
        self.ended()
        await asyncio.Event().wait()


def headers_of(answer: aiohttp.ClientResponse) -> dict[str, str]:
    """Return the headers of an answer that are not about the connection."""
    return {
        name: value
        for name, value in answer.headers.items()
        if name.lower() not in _BETWEEN_NEIGHBOURS
    }


async def pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield what arrives as it arrives, until the answer ends."""
    while piece := await answer.content.readany():
        yield piece

"""Faults of an answer while it is under way: cut, truncated, stuck, slow, in other pieces."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass

import aiohttp

from tests.faults.exchange import Exchange, headers_of, pieces
from tests.faults.request import Match

_POLL_SECONDS = 0.02
_LONGEST_PIECE_BYTES = 97


@dataclass(frozen=True, slots=True)
class CutAfter:
    """The connection ends after so many bytes of the body, or so many seconds."""

    body_bytes: int | None = None
    seconds: float | None = None
    reset: bool = False

    async def play(self, exchange: Exchange) -> None:
        """Pass on until it is time, then cut; a shorter answer ends well."""
        try:
            async with asyncio.timeout(self.seconds):
                if not await self._pass_on(exchange):
                    return
        except TimeoutError:
            pass
        exchange.cut(reset=self.reset)

    async def _pass_on(self, exchange: Exchange) -> bool:
        """Return whether there was more than is let through."""
        left = self.body_bytes
        answer = await exchange.forward()
        await exchange.begin(answer.status, headers_of(answer))
        async for piece in pieces(answer):
            await exchange.send(piece if left is None else piece[:left])
            if left is not None:
                left -= len(piece)
                if left < 0:
                    return True
        await exchange.end()
        return False


@dataclass(frozen=True, slots=True)
class EndAfter:
    """The answer ends as it should, but early: what a server does whose watch times out."""

    seconds: float

    async def play(self, exchange: Exchange) -> None:
        """Pass on for a while, then end."""
        answer = await exchange.forward()
        await exchange.begin(answer.status, headers_of(answer))
        try:
            async with asyncio.timeout(self.seconds):
                async for piece in pieces(answer):
                    await exchange.send(piece)
        except TimeoutError:
            pass
        await exchange.end()


@dataclass(frozen=True, slots=True)
class Truncated:
    """An answer that ends `lacking_bytes` before the length that its head has told."""

    lacking_bytes: int

    async def play(self, exchange: Exchange) -> None:
        """Tell the length, keep back the end."""
        reply = await exchange.reply()
        await exchange.begin(reply.status, reply.headers, len(reply.body))
        await exchange.send(reply.body[: -self.lacking_bytes])
        exchange.cut()


@dataclass(frozen=True, slots=True)
class HalfOpen:
    """Nothing comes once a request like `once` has ended, and the connection stays: no FIN."""

    once: Match

    async def play(self, exchange: Exchange) -> None:
        """Pass on until it is time, then keep silent."""
        answer = await exchange.forward()
        await exchange.begin(answer.status, headers_of(answer))
        async for piece in pieces(answer):
            if exchange.has_ended(self.once):
                break
            await exchange.send(piece)
        else:
            await exchange.end()
            return
        await exchange.keep_silent()


@dataclass(frozen=True, slots=True)
class Slow:
    """Few bytes at a time, with a pause before each piece."""

    piece_bytes: int
    pause_seconds: float

    async def play(self, exchange: Exchange) -> None:
        """Trickle."""
        answer = await exchange.forward()
        await exchange.begin(answer.status, headers_of(answer))
        async for piece in pieces(answer):
            for start in range(0, len(piece), self.piece_bytes):
                await exchange.wait(self.pause_seconds)
                await exchange.send(piece[start : start + self.piece_bytes])
        await exchange.end()


@dataclass(frozen=True, slots=True)
class Split:
    """The same bytes in pieces of chance, none longer than 97 bytes: lines end anywhere."""

    seed: int = 0

    async def play(self, exchange: Exchange) -> None:
        """Send each piece by itself."""
        lengths = random.Random(self.seed)
        answer = await exchange.forward()
        await exchange.begin(answer.status, headers_of(answer))
        async for piece in pieces(answer):
            rest = piece
            while rest:
                length = lengths.randint(1, _LONGEST_PIECE_BYTES)
                await exchange.send(rest[:length])
                await exchange.wait(0)
                rest = rest[length:]
        await exchange.end()


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a watch, each changed into any number of lines."""

    change: Callable[[bytes], Iterable[bytes]]

    async def play(self, exchange: Exchange) -> None:
        """Pass on what the change makes of each line."""
        answer = await exchange.forward()
        await exchange.begin(answer.status, headers_of(answer))
        async for line in _lines(answer):
            for each in self.change(line):
                await exchange.send(each + b"\n")
        await exchange.end()


@dataclass(frozen=True, slots=True)
class Reordered:
    """Each second line comes before the one that it follows, where it comes soon after it."""

    soon_seconds: float = 0.2

    async def play(self, exchange: Exchange) -> None:
        """Keep a line back until the next one has come, or none does."""
        answer = await exchange.forward()
        await exchange.begin(answer.status, headers_of(answer))
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        reading = asyncio.create_task(_read(answer, queue))
        try:
            while (first := await queue.get()) is not None:
                second = await self._soon(queue)
                await exchange.send(b"".join(line + b"\n" for line in (second, first) if line))
        finally:
            reading.cancel()
        await exchange.end()

    async def _soon(self, queue: asyncio.Queue[bytes | None]) -> bytes | None:
        try:
            line = await asyncio.wait_for(queue.get(), self.soon_seconds)
        except TimeoutError:
            return None
        if line is None:
            queue.put_nowait(None)
        return line


async def _read(answer: aiohttp.ClientResponse, queue: asyncio.Queue[bytes | None]) -> None:
    async for line in _lines(answer):
        queue.put_nowait(line)
    queue.put_nowait(None)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """Yield the whole lines of an answer as they arrive."""
    rest = b""
    async for piece in pieces(answer):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line

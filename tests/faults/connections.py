"""Faults of the connection: requests that do not arrive, answers that do not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.exchange import Exchange

_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection ends at once, by RST, and the server hears nothing."""

    async def play(self, exchange: Exchange) -> None:
        """Cut."""
        exchange.cut(reset=True)


@dataclass(frozen=True, slots=True)
class Blackhole:
    """The server hears nothing, and the client hears nothing; nothing ends."""

    async def play(self, exchange: Exchange) -> None:
        """Swallow the request."""
        await exchange.keep_silent()


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """The server does as it was asked, and its answer is lost."""

    async def play(self, exchange: Exchange) -> None:
        """Ask, then cut."""
        await exchange.reply()
        exchange.cut()


@dataclass(frozen=True, slots=True)
class MuteAnswer:
    """The server does as it was asked, its answer never comes, and the connection stays open."""

    async def play(self, exchange: Exchange) -> None:
        """Ask, then swallow the answer."""
        await exchange.reply()
        await exchange.keep_silent()


@dataclass(frozen=True, slots=True)
class Late:
    """The connection ends at once; the server hears the request only `seconds` later."""

    seconds: float

    async def play(self, exchange: Exchange) -> None:
        """Cut, and deliver the request when nobody waits for it any more."""
        exchange.later(self._deliver(exchange))
        exchange.cut()

    async def _deliver(self, exchange: Exchange) -> None:
        await exchange.wait(self.seconds)
        await exchange.reply()


@dataclass(frozen=True, slots=True)
class Held:
    """The request waits until the test lets it go; `reached` is set when it has come.

    Where `of_answer`, the server has done its work by then, and the answer waits.
    """

    reached: threading.Event
    released: threading.Event
    of_answer: bool = False

    async def play(self, exchange: Exchange) -> None:
        """Wait for the test."""
        reply = await exchange.reply() if self.of_answer else None
        self.reached.set()
        while not self.released.is_set():
            await exchange.wait(_POLL_SECONDS)
        await exchange.say(reply or await exchange.reply())


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Somebody else is quicker: what they `do` is done when the request reaches the server."""

    do: Callable[[], None]

    async def play(self, exchange: Exchange) -> None:
        """Let them, then ask."""
        await asyncio.to_thread(self.do)
        await exchange.say(await exchange.reply())


@dataclass(frozen=True, slots=True)
class Twice:
    """The server hears the request twice, as from a balancer that tries again; the later answer."""

    async def play(self, exchange: Exchange) -> None:
        """Ask two times."""
        await exchange.reply()
        await exchange.say(await exchange.reply())

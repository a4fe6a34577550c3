"""Faults of the answer as a whole: another status, another body, another time."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, quote, urlencode

from tests.faults.exchange import Exchange, Reply, headers_of, pieces
from tests.faults.request import Asked

_JSON = {"Content-Type": "application/json"}
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


@dataclass(frozen=True, slots=True)
class Says:
    """An answer that the server has never given; it hears nothing of the request."""

    reply: Reply

    async def play(self, exchange: Exchange) -> None:
        """Answer in the server's place."""
        await exchange.say(self.reply)


def status(code: int, reason: str, message: str, **headers: str) -> Says:
    """Return an answer as the API server words it: a `Status` object (meta/v1)."""
    body = {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Says(Reply(code, {**_JSON, **named}, json.dumps(body).encode()))


def too_many(retry_after: int | None = None) -> Says:
    """Return a 429, with the seconds that it asks to wait for or without any."""
    asks = {} if retry_after is None else {"Retry_After": str(retry_after)}
    return status(429, "TooManyRequests", "too many requests, please try again later", **asks)


def page(code: int) -> Says:
    """Return what a balancer says in the server's place: HTML."""
    body = f"<html><body><h1>{code} Server Error</h1></body></html>".encode()
    return Says(Reply(code, {"Content-Type": "text/html"}, body))


UNAUTHORIZED = status(401, "Unauthorized", "Unauthorized")
GONE = status(410, "Expired", "too old resource version: 1 (2)")


@dataclass(frozen=True, slots=True)
class GzipBomb:
    """An answer that grows by a thousand where it is unpacked; nobody has asked for gzip."""

    mebibytes: int

    async def play(self, exchange: Exchange) -> None:
        """Answer with zeros."""
        packed = gzip.compress(bytes(self.mebibytes << 20))
        await exchange.say(Reply(200, {**_JSON, "Content-Encoding": "gzip"}, packed))


@dataclass(frozen=True, slots=True)
class Asking:
    """The server hears another target than the client has sent."""

    change: Callable[[str], str]

    async def play(self, exchange: Exchange) -> None:
        """Ask otherwise."""
        asked = replace(exchange.asked, target=self.change(exchange.asked.target))
        await exchange.pass_on(await exchange.forward(asked))


@dataclass(frozen=True, slots=True)
class Stale:
    """Reads are answered by a server that has seen nothing since a resource version.

    Lists of that exact version are what the API itself offers (`resourceVersionMatch=Exact`); an
    object is the one item of a list by its name.
    """

    resource_version: str

    async def play(self, exchange: Exchange) -> None:
        """Answer a list or an object as it was; everything else as it is."""
        asked = exchange.asked
        if asked.method != "GET" or asked.is_watch:
            await exchange.pass_on(await exchange.forward())
            return
        collection, name = _collection(asked.path)
        query = [
            *((key, value) for key, value in _pairs(asked) if key != "resourceVersion"),
            ("resourceVersion", self.resource_version),
            ("resourceVersionMatch", "Exact"),
            *([("fieldSelector", f"metadata.name={name}")] if name else []),
        ]
        reply = await exchange.reply(replace(asked, target=f"{collection}?{urlencode(query)}"))
        await exchange.say(_item(reply, name) if name and reply.status < 400 else reply)


def _collection(path: str) -> tuple[str, str]:
    """Part the path of an object from its name; the name of a collection is ""."""
    parts = path.split("/")
    depth = parts.index("namespaces") + 3 if "namespaces" in parts else len(parts)
    return "/".join(parts[:depth]), quote("".join(parts[depth : depth + 1]))


def _pairs(asked: Asked) -> list[tuple[str, str]]:
    return parse_qsl(asked.target.partition("?")[2])


def _item(reply: Reply, name: str) -> Reply:
    """Return the answer to a GET of one object, made of the list of it."""
    listed = json.loads(reply.body)
    if not listed["items"]:
        return status(404, "NotFound", f'"{name}" not found').reply
    [item] = listed["items"]
    kinds = {"apiVersion": listed["apiVersion"], "kind": listed["kind"].removesuffix("List")}
    return Reply(200, _JSON, json.dumps(kinds | item).encode())


@dataclass(frozen=True, slots=True)
class Skewed:
    """The server's clock is ahead by `seconds`: its times are, and it takes ours for such."""

    seconds: int

    async def play(self, exchange: Exchange) -> None:
        """Shift every time of the request back and every time of the answer forth."""
        asked = exchange.asked
        body = _shifted(asked.body, -self.seconds)
        answer = await exchange.forward(replace(asked, body=body))
        await exchange.begin(answer.status, headers_of(answer))
        rest = b""
        async for piece in pieces(answer):
            *lines, rest = (rest + piece).split(b"\n")
            await exchange.send(b"".join(_shifted(line, self.seconds) + b"\n" for line in lines))
        await exchange.send(_shifted(rest, self.seconds))
        await exchange.end()


def _shifted(text: bytes, seconds: int) -> bytes:
    def shift(found: re.Match[bytes]) -> bytes:
        moved = datetime.fromisoformat(found[0].decode()) + timedelta(seconds=seconds)
        has_parts = b"." in found[0]
        written = moved.isoformat(timespec="microseconds" if has_parts else "seconds")
        return written.replace("+00:00", "Z").encode()

    return _TIME.sub(shift, text)

"""Drives a headless Chromium through its DevTools protocol, over one WebSocket on loopback.

Source: https://chromedevtools.github.io/devtools-protocol/
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp

from tests.bed.lacking import lacks

PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
    "--remote-debugging-port=0", "--disable-dev-shm-usage",
)  # fmt: skip
_CLOSING: Final = aiohttp.ClientWSTimeout(ws_close=0.5)
_LISTENING: Final = re.compile(rb"DevTools listening on (ws://\S+)")
_MEASURE: Final = """({
  width: document.documentElement.scrollWidth,
  room: document.documentElement.clientWidth,
  height: document.documentElement.scrollHeight,
  scripts: document.scripts.length,
  handlers: document.querySelectorAll('*').values()
    .filter(e => e.getAttributeNames().some(n => n.startsWith('on'))).toArray().length,
  cut: Array.from(document.querySelectorAll('.steps pre'))
    .filter(e => e.scrollWidth > e.clientWidth).length,
  text: document.body.innerText,
})"""


@dataclass(frozen=True, slots=True)
class Look:
    """How a page is looked at."""

    width: int = 1100
    dark: bool = False
    styles: bool = True


@dataclass(slots=True)
class Seen:
    """What a page was: `cut` counts commands wider than their box, `asked` its URLs.

    `complaints` are those of the console.
    """

    width: int
    room: int
    height: int
    scripts: int
    handlers: int
    cut: int
    text: str
    picture: bytes = b""
    printed: bytes = b""
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def program() -> str:
    """Return the browser's program; fail where there is none."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        lacks("no Chromium: apt-get install chromium-headless-shell")
    return found


def see(page: Path, *looks: Look) -> list[Seen]:
    """Open a page once for each look, and return what was seen."""
    with _browser() as address:
        return asyncio.run(_see(address, page, looks))


async def _see(address: str, page: Path, looks: tuple[Look, ...]) -> list[Seen]:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(address, max_msg_size=0, timeout=_CLOSING) as socket,
    ):
        devtools = _DevTools(socket)
        return [await _seen(devtools, page, look) for look in looks]


async def _seen(devtools: _DevTools, page: Path, look: Look) -> Seen:
    tab = await devtools.tab()
    for domain in ("Page", "Network", "Log", "Runtime"):
        await tab.call(f"{domain}.enable")
    size = {"width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    await tab.call("Emulation.setDeviceMetricsOverride", **size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if look.dark else "light"}
    await tab.call("Emulation.setEmulatedMedia", features=[scheme])
    await tab.call("Page.navigate", url=page.as_uri())
    await tab.until("Page.loadEventFired")
    if not look.styles:
        await tab.value("document.querySelectorAll('style').forEach(style => style.remove())")
    seen = Seen(**await tab.value(_MEASURE))
    whole = {"x": 0, "y": 0, "width": look.width, "height": seen.height, "scale": 1}
    shot = await tab.call("Page.captureScreenshot", clip=whole, captureBeyondViewport=True)
    seen.picture = base64.b64decode(shot["data"])
    seen.printed = base64.b64decode((await tab.call("Page.printToPDF"))["data"])
    seen.complaints = tab.complaints
    seen.asked = tab.asked
    return seen


class _DevTools:
    """The protocol's one connection, shared by all tabs."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._heard: list[dict[str, Any]] = []

    async def tab(self) -> _Tab:
        made = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        return _Tab(self, attached["sessionId"])

    async def call(self, method: str, session: str = "", **params: Any) -> dict[str, Any]:
        """Return the answer to a command; what comes before it is kept."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params}
        await self._socket.send_json(message | ({"sessionId": session} if session else {}))
        while True:
            heard = await self.hear()
            if heard.get("id") == number:
                if "error" in heard:
                    raise RuntimeError(f"{method}: {heard['error']}")
                answer: dict[str, Any] = heard["result"]
                return answer
            self._heard.append(heard)

    async def hear(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(await self._socket.receive_str(timeout=30))
        return message

    def kept(self, session: str) -> list[dict[str, Any]]:
        """Return the events of a tab so far."""
        return [heard for heard in self._heard if heard.get("sessionId") == session]

    async def keep_one(self) -> None:
        """Wait for one more event."""
        self._heard.append(await self.hear())


class _Tab:
    """One page of the browser."""

    def __init__(self, devtools: _DevTools, session: str) -> None:
        self._devtools = devtools
        self._session = session

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        return await self._devtools.call(method, self._session, **params)

    async def value(self, expression: str) -> Any:
        """Return what an expression gives; it is the debugger's, not the page's."""
        answer = await self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    async def until(self, event: str) -> None:
        while not any(heard["method"] == event for heard in self._events):
            await self._devtools.keep_one()

    @property
    def _events(self) -> list[dict[str, Any]]:
        return [heard for heard in self._devtools.kept(self._session) if "method" in heard]

    @property
    def complaints(self) -> list[str]:
        """What the console shows, errors of scripts among it."""
        kinds = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [json.dumps(heard["params"]) for heard in self._events if heard["method"] in kinds]

    @property
    def asked(self) -> list[str]:
        """The URLs that the page asked for, itself first."""
        sent = [h for h in self._events if h["method"] == "Network.requestWillBeSent"]
        return [heard["params"]["request"]["url"] for heard in sent]


@contextmanager
def _browser() -> Iterator[str]:
    """Start a browser with a profile of its own; yield its address, end it with all its helpers."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        subprocess.Popen(
            [program(), *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield _address(process)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def _address(process: subprocess.Popen[bytes]) -> str:
    for line in process.stderr or ():
        found = _LISTENING.search(line)
        if found:
            return found[1].decode()
    raise RuntimeError("the browser ended before it listened")

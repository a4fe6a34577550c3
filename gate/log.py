"""Diagnostics on stderr: retries, reconnects, and the timeline if stderr is JSON.

Callers name an event and facts (`log.info("reconnecting", after_seconds=2)`), never bodies or
credentials; `text` is the message for people. JSON lines also name their run.
structlog is loaded by the first line that is severe enough to be written.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator, MutableMapping
from datetime import UTC, datetime
from typing import Any, Final, TextIO

_RANKS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
_SECRET_KEY: Final = re.compile("authorization|token|passw|secret|credential|^body$", re.IGNORECASE)
_SECRET_TEXT: Final = re.compile(
    r"(?<=bearer )\S+|(?<=basic )\S+|(?<=://)[^/\s@]+(?=@)", re.IGNORECASE
)
_MASK: Final = "***"
_AT: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_LONGEST: Final = 2_000
"""Most characters of one value; a library's error can quote a whole response."""

Line = MutableMapping[str, Any]
Wall = Callable[[], datetime]


class _Log:
    """Which lines are written, and where."""

    def __init__(self) -> None:
        self.least = _RANKS["info"]
        self.as_json = False
        self.stream: TextIO | None = None
        self.wall: Wall = _now
        self.bound: dict[str, str] = {}
        self.mask: Callable[[str], str] = str
        self.logger: Any = None

    def write(self, level: str, event: str, facts: dict[str, object]) -> None:
        """Write one line; a closed or full stream is ignored."""
        if _RANKS[level] < self.least:
            return
        if self.logger is None:
            self.logger = self._open_logger()
        with contextlib.suppress(OSError, ValueError):
            getattr(self.logger, level)(event, **facts)

    def _open_logger(self) -> Any:
        import structlog

        shape = (
            [self._stamp_line, structlog.processors.JSONRenderer()]
            if self.as_json
            else [_console_line]
        )
        return structlog.wrap_logger(
            structlog.WriteLogger(self.stream or sys.stderr),
            processors=[structlog.processors.add_log_level, _mask_line, *shape],
            wrapper_class=structlog.BoundLogger,
            cache_logger_on_first_use=False,
        )

    def _stamp_line(self, _logger: object, _method: str, line: Line) -> Line:
        at = self.wall().strftime(_AT)
        what = {"level": line.pop("level"), "event": line.pop("event")}
        return {"at": at, **what, **self.bound, **line}


def _now() -> datetime:
    return datetime.now(UTC)


_log: Final = _Log()


def configure(
    form: str,
    level: str,
    *,
    quiet: bool = False,
    stream: TextIO | None = None,
    wall: Wall = _now,
) -> None:
    """Write lines of `level` and above to `stream` (None: stderr); `form` is console or json.

    `quiet` writes errors only; `wall` returns the current time, in UTC.
    """
    _log.as_json = form == "json"
    _log.least = _RANKS["error" if quiet else level]
    _log.stream = stream
    _log.wall = wall
    _log.logger = None


@contextlib.contextmanager
def bind_facts(**facts: str) -> Iterator[None]:
    """Add these facts about the run to every JSON line, for the block; "" is left out.

    Lines for people do not need them: they are in the log of their run anyway.
    """
    before = _log.bound
    _log.bound = {key: value for key, value in facts.items() if value}
    try:
        yield
    finally:
        _log.bound = before


@contextlib.contextmanager
def masked_by(mask: Callable[[str], str]) -> Iterator[None]:
    """Pass every value of a line through `mask`, for the block."""
    before = _log.mask
    _log.mask = mask
    try:
        yield
    finally:
        _log.mask = before


def json_warning(text: str) -> str:
    """Return a warning about the stream itself as a JSON line like the others."""
    at = _log.wall().strftime(_AT)
    facts = {"at": at, "level": "warning", "event": "output", **_log.bound, "text": text}
    return json.dumps(facts) + "\n"


def debug(event: str, **facts: object) -> None:
    """Say what only developers want to know."""
    _log.write("debug", event, facts)


def info(event: str, **facts: object) -> None:
    """Say what happens."""
    _log.write("info", event, facts)


def warning(event: str, **facts: object) -> None:
    """Say what may be wrong."""
    _log.write("warning", event, facts)


def error(event: str, **facts: object) -> None:
    """Say what is wrong."""
    _log.write("error", event, facts)


def _mask_line(_logger: object, _method: str, line: Line) -> Line:
    """Hide what looks like a credential: callers pass none, libraries' messages may."""
    return {key: _mask(key, value) for key, value in line.items()}


def _mask(key: str, value: object) -> object:
    if _SECRET_KEY.search(key):
        return _MASK
    if value is None or isinstance(value, bool | int | float):
        return value
    return _SECRET_TEXT.sub(_MASK, _log.mask(str(value))[:_LONGEST])


def _console_line(_logger: object, _method: str, line: Line) -> str:
    """Return `warning: reconnecting (after_seconds=2)`; a `text` replaces the event."""
    named = ("level", "event", "text")
    facts = [f"{key}={_printable(value)}" for key, value in line.items() if key not in named]
    tail = f" ({', '.join(facts)})" if facts else ""
    return f"{line['level']}: {_printable(line.get('text', line['event']))}{tail}"


def _printable(value: object) -> str:
    text = str(value)
    return text if text.isprintable() else json.dumps(text)[1:-1]

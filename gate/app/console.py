"""What a run says while it goes on: lines on stderr, kept for the document at the end.

A stream that is closed or full never changes a verdict: writing simply stops.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TextIO

from gate import __version__, log
from gate.clock import Clock
from gate.config import Settings
from gate.core.attempt import Attempt
from gate.core.effects import Announce
from gate.report.run import Run
from gate.report.timeline import timeline_line, waiting_for

WARNING = "warning"


class Console:
    """Hears the timeline and warnings of one run; a `Listener` of the engine."""

    def __init__(self, clock: Clock, show: Callable[[Announce, float], None], command: str) -> None:
        """Start the run's clock; `show` gets each line with the start of the run."""
        self._clock = clock
        self._show = show
        self._command = command
        self._started_clock = clock.now()
        self._started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._attempt_id = uuid.uuid4().hex[:12]
        self._timeline: list[Announce] = []
        self._warnings: list[str] = []
        self._about: dict[str, str] = {}

    def said(self, announce: Announce) -> None:
        """Show a line of the timeline and keep it."""
        self._timeline.append(announce)
        self._show(announce, self._started_clock)

    def beat(self, attempt: Attempt) -> None:
        """Show what is waited for, so that nobody takes silence for death."""
        now = self._clock.now()
        self._show(Announce(now, "waiting", waiting_for(attempt, now)), self._started_clock)

    def note(self, event: str, message: str) -> None:
        """Say something of the run before or beside its attempt."""
        self.said(Announce(self._clock.now(), event, message))

    def warn(self, message: str) -> None:
        """Warn once, and keep it for the document."""
        if message not in self._warnings:
            self._warnings.append(message)
            self._show(Announce(self._clock.now(), WARNING, message), self._started_clock)

    def about(self, facts: Mapping[str, str]) -> None:
        """Take what is known of the run: server, context, cluster_uid, run_url."""
        self._about.update(facts)

    def run(self) -> Run:
        """Return the run as it stands now."""
        return Run(
            version=__version__,
            attempt_id=self._attempt_id,
            command=self._command,
            started_at=self._started_at,
            clock_start=self._started_clock,
            clock_end=self._clock.now(),
            run_url=self._about.get("run_url", ""),
            server=self._about.get("server", ""),
            context=self._about.get("context", ""),
            cluster_uid=self._about.get("cluster_uid", ""),
            timeline=tuple(self._timeline),
            warnings=tuple(self._warnings),
        )


def lines_on(stream: TextIO, settings: Settings) -> Callable[[Announce, float], None]:
    """Return what shows lines of the timeline on a stream, in the form that was asked for.

    `--quiet` and a log level above info leave them out; they stay in the document.
    """

    def plain(announce: Announce, started_at: float) -> None:
        write_safely(stream, timeline_line(announce, started_at) + "\n")

    def as_json(announce: Announce, started_at: float) -> None:
        say = log.warning if announce.event == WARNING else log.info
        say(announce.event, at_seconds=round(announce.at - started_at, 3), text=announce.message)

    if settings.log_format == "json":
        return as_json
    return _only_warnings(plain, settings) if _is_terse(settings) else plain


def _is_terse(settings: Settings) -> bool:
    return settings.quiet or settings.log_level in ("warning", "error")


def _only_warnings(
    show: Callable[[Announce, float], None], settings: Settings
) -> Callable[[Announce, float], None]:
    def terse(announce: Announce, started_at: float) -> None:
        if announce.event == WARNING and not settings.quiet and settings.log_level == WARNING:
            show(announce, started_at)

    return terse


def write_safely(stream: TextIO, text: str) -> None:
    """Write to a stream that may be closed or full."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        return

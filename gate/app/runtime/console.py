"""What a run says as it goes on: lines on stderr, kept for the document at the end.

A closed or full stream never changes a verdict: writing simply stops.
"""

from __future__ import annotations

import os
import sys
import traceback
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final, TextIO

from gate import __version__, log
from gate.app.runtime.live_tree import LiveTree, shows
from gate.app.runtime.world import World
from gate.clock import Clock
from gate.cluster_name import ClusterName
from gate.config import Settings
from gate.core.attempt.state import Attempt
from gate.core.model.body import FrozenMap
from gate.core.model.objects import Ref
from gate.core.model.origin import NO_ORIGIN, Origin
from gate.core.protocol.effects import Announce
from gate.last_word import Word
from gate.report.document.course import Course
from gate.report.document.late_configuration import describe_late
from gate.report.document.run import (
    CheckCall,
    Run,
    RunCluster,
    RunIdentity,
    RunLines,
    RunRecord,
    RunTimes,
)
from gate.report.style.style import Style
from gate.report.views.timeline import timeline_line, waiting_for

Show = Callable[[Announce, float], None]
"""Shows a line; the second argument is the start of the run, on the same clock as the line."""

Warn = Callable[[str], None]
"""Warns once, as `Console.warn` does."""

Environment = Mapping[str, str]
NO_ENVIRONMENT: Final[Environment] = MappingProxyType({})

WARNING = "warning"
_SILENT_LEVELS = ("warning", "error")
_USUAL_COLUMNS = 80
_WHOLE_COLUMNS = 1_000_000


class Console:
    """Shows and keeps the timeline and the warnings of one run; a `Listener` of the engine."""

    def __init__(
        self,
        clock: Clock,
        show: Show,
        command: str,
        stdout: TextIO | None = None,
        *,
        origin: Origin = NO_ORIGIN,
        environ: Environment = NO_ENVIRONMENT,
    ) -> None:
        """Start the run's time; results go to `stdout`, by default that of the process.

        `tree` shows the states of the run to people at a terminal; `environ` says what a terminal
        can show. `end_word` is the last word of an attempt that has ended, in case a signal ends
        the process before its report is written.
        """
        self.tree: LiveTree | None = None
        self.is_locked = False
        self.has_open_record = False
        self.has_recovered = False
        self.end_word: Word = lambda _: ""
        self.check_flags: tuple[str, ...] | None = None
        self.check_variables: tuple[str, ...] = ()
        self.clock = clock
        self.stdout = stdout or sys.stdout
        self._show = show
        self._command = command
        self.origin = origin
        self._environ = environ
        self._started_clock = clock.now()
        self._started_at = clock.wall().isoformat(timespec="milliseconds")
        self._attempt_id = uuid.uuid4().hex[:12]
        self._timeline: list[Announce] = []
        self._warnings: list[str] = []
        self._advice: list[str] = []
        self._recoveries: list[str] = []
        self._cautions: set[str] = set()
        self._of_pods: dict[str, Ref] = {}
        self._about: dict[str, str] = {}
        self._places: FrozenMap[Ref, tuple[str, int]] = FrozenMap()
        self._course = Course()
        self._attending: list[Callable[[Attempt], None]] = []

    @property
    def cluster(self) -> ClusterName:
        """How suggested commands name the run's cluster."""
        return ClusterName(self._about.get("context", ""), self._about.get("kubeconfig", ""))

    @property
    def attempt_id(self) -> str:
        """The run's unique name."""
        return self._attempt_id

    def on_announce(self, announce: Announce) -> None:
        """Show a line of the timeline and keep it."""
        pod = announce.waits_for
        if pod is not None:
            delete = self.cluster.command(
                "kubectl", "delete", f"pod/{pod.name}", namespace=pod.namespace
            )
            message = f"{announce.message}; to go on at once: {delete}"
            announce = Announce(announce.at, announce.event, message)
        self._timeline.append(announce)
        self._show(announce, self._started_clock)

    def on_step(self, attempt: Attempt) -> None:
        """Keep what a chart of the run needs; hand the state to the live tree and the listeners."""
        self._course = self._course.after_step(attempt)
        if self.tree is not None:
            from gate.report.live.attempts import attempt_view  # few runs have a terminal

            self.tree.see(partial(attempt_view, attempt, started_at=self._started_clock))
        for hear in self._attending:
            hear(attempt)

    def attend(self, hear: Callable[[Attempt], None]) -> None:
        """Call `hear` with each state of the run too; it returns at once and raises nothing."""
        self._attending.append(hear)

    def beat(self, attempt: Attempt) -> None:
        """Show what the run waits for, so that it does not look dead; a live tree does that."""
        if self.tree is not None and self.tree.shown:
            return
        now = self.clock.now()
        self._show(
            Announce(now, "waiting", waiting_for(attempt, now, self.cluster)), self._started_clock
        )

    def write(self, text: str) -> None:
        """Write a result."""
        write_safely(self.stdout, text)

    def style(self, settings: Settings) -> Style:
        """Return what the stream for results can show now."""
        return style_of(self.stdout, settings, self._environ)

    def uncut(self, settings: Settings) -> Style:
        """Return the style of a table or tree: off a terminal nothing is truncated or wrapped."""
        style = self.style(settings)
        return style if self.stdout.isatty() else replace(style, width=_WHOLE_COLUMNS)

    def note(self, event: str, message: str) -> None:
        """Announce something about the run, before or beside its attempt."""
        self.on_announce(Announce(self.clock.now(), event, message))

    def warn(self, message: str) -> None:
        """Warn once, and keep it for the document; any thread may call this."""
        self._warn(message, self._warnings)

    def advise(self, message: str) -> None:
        """Warn of what is so in the manifest, whatever becomes of the run: it ranks last."""
        self._warn(message, self._advice)

    def _warn(self, message: str, kept: list[str]) -> None:
        if message not in kept:
            kept.append(message)
            self._show(Announce(self.clock.now(), WARNING, message), self._started_clock)

    def note_recovery(self, message: str, ended: Attempt) -> None:
        """Say how an earlier attempt ended that this run has finished, and what its pods keep.

        The document has it as a warning too: that attempt wrote, whatever this one does.
        """
        self.has_recovered = True
        self._recoveries.append(
            f"this run first finished what an earlier attempt had left of {message}"
        )
        self.note("recovered", message)
        for ref, said in describe_late(ended).items():
            self._of_pods[said] = ref
            self.warn(said)

    def caution(self, message: str) -> None:
        """Warn of what is foreseen, as of what could not be restored if the attempt fails.

        The document of a run that went well leaves it out, since nothing was rolled back; so does
        that of a run that rolled back, which reports what it really could not restore. Of what was
        written both say how the server kept it.
        """
        self._cautions.add(message)
        self.warn(message)

    def describe_end(self, number: int) -> str:
        """Say how the last attempt ended, "" before one has; this is the run's last word."""
        return self.end_word(number)

    def record_stays(self) -> None:
        """Note that a record stays open: the attempt's own, or one left by an earlier gate."""
        self.has_open_record = True

    def about(self, facts: Mapping[str, str]) -> None:
        """Take facts about the run, by their names in the document."""
        self._about.update(facts)

    def take_places(self, places: Mapping[Ref, tuple[str, int]]) -> None:
        """Take the file and line of each object of the manifest."""
        self._places = FrozenMap(places)

    def run(self) -> Run:
        """Return the run as it is now."""
        about = self._about
        return Run(
            RunIdentity(
                __version__,
                self._attempt_id,
                self._command,
                self.origin.run_url,
                about.get("traceparent", ""),
            ),
            RunTimes(self._started_at, self._started_clock, self.clock.now()),
            RunCluster(
                about.get("server", ""),
                about.get("context", ""),
                about.get("kubeconfig", ""),
                about.get("cluster_uid", ""),
            ),
            CheckCall(self.check_flags, self.check_variables),
            RunLines(
                tuple(self._timeline),
                (*self._recoveries, *self._warnings),
                frozenset(self._cautions),
                tuple(self._advice),
                FrozenMap(self._of_pods),
            ),
            RunRecord(self.is_locked, self.has_open_record, self.has_recovered),
            self._course,
            self._places,
        )


def lines_on(stream: TextIO, settings: Settings) -> Show:
    """Return what shows lines on a stream, in the configured format and from the configured level.

    Lines that are not shown are still in the document.
    """
    if settings.log_format == "json":
        return _log_announce
    silent = settings.quiet or settings.log_level == "error"

    def show(announce: Announce, started_at: float) -> None:
        if silent or (settings.log_level in _SILENT_LEVELS and announce.event != WARNING):
            return
        write_safely(stream, timeline_line(announce, started_at) + "\n")

    return show


def _log_announce(announce: Announce, started_at: float) -> None:
    """Write one JSON object per line, through the log, which filters by level."""
    say = log.warning if announce.event == WARNING else log.info
    say(announce.event, at_seconds=round(announce.at - started_at, 3), text=announce.message)


def write_safely(stream: TextIO, text: str) -> None:
    """Write to a stream that may be closed or full."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        return


def write_trace(world: World, settings: Settings, error: BaseException) -> None:
    """Write the traceback of a bug to stderr, where `--log-level debug` asks for it."""
    if settings.log_level == "debug":
        write_safely(world.streams.stderr, "".join(traceback.format_exception(error)))


def style_of(stream: TextIO, settings: Settings, environ: Environment) -> Style:
    """Return what a stream can show: colour on a terminal with people, unless they decline.

    A CI host may give its jobs a terminal, although people only see a log later.
    """
    encoding = stream.encoding or "utf-8"
    if not stream.isatty():
        return Style(encoding=encoding)
    wanted = not settings.plain and shows(environ)
    return Style(color=wanted, encoding=encoding, width=_columns(stream))


def _columns(stream: TextIO) -> int:
    """Return a terminal's width; 80 if it does not say, as on some CI hosts."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS

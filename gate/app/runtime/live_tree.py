"""The live tree of a run: shown at the bottom of a terminal, from the run's latest state.

The run only leaves its state here; the terminal's thread renders it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TextIO, TypeAlias, cast

from gate.app.runtime.terminal import Terminal, TerminalStream, tell_when_continued
from gate.app.runtime.world import World
from gate.clock import Clock, SystemClock
from gate.config import Settings
from gate.signals import ignore_signal

if TYPE_CHECKING:  # few runs have a terminal
    from gate.report.live.canvas import Painted
    from gate.report.live.view import View

Seen: TypeAlias = "Callable[[float], View]"
"""Returns what to show at a given time of the run's clock."""

_DUMB: Final = ("", "dumb", "unknown")
_OFF: Final = ("", "0", "false")
_STIFF: Final = ("linux", "screen", "st-", "xterm-r")
"""Terminals, by the beginning of TERM, that do not rewrap lines when they get narrower."""


class LiveTree:
    """What a terminal shows below the lines of a run, on the run's own clock."""

    def __init__(self, terminal: Terminal, clock: Clock) -> None:
        self._terminal = terminal
        self._clock = clock
        self._seen: Seen | None = None
        self._key: tuple[object, ...] = ()
        self._picture: Sequence[Painted] = ()

    @property
    def shown(self) -> bool:
        """Whether there is something to show."""
        return self._seen is not None

    def see(self, seen: Seen) -> None:
        """Show this from the next painting on; returns at once."""
        self._seen = seen
        self._terminal.show(self._lines)

    def end(self) -> None:
        """Remove the tree."""
        self._seen = None
        self._terminal.show(None)

    def _lines(self, columns: int, rows: int) -> Sequence[Painted]:
        """Return the picture, rendered again if the state, the second or the window changed."""
        seen, now = self._seen, self._clock.now()
        if seen is None:
            return ()
        key = (seen, math.floor(now), columns, rows)
        if key != self._key:
            from gate.report.live.rendering import Look, frame  # rich

            self._picture = frame(seen(now), Look(columns, rows, self._terminal.encoding))
            self._key = key
        return self._picture


def live_tree(stream: TextIO, settings: Settings, clock: Clock) -> LiveTree | None:
    """Return the tree of a run whose lines go to `stream`; None if plain lines are wanted."""
    silent = settings.quiet or settings.log_level in ("warning", "error")
    if settings.plain or silent or settings.log_format == "json":
        return None
    if isinstance(stream, TerminalStream) and stream.terminal.shows:
        return LiveTree(stream.terminal, clock)
    return None


def shows(environ: Mapping[str, str]) -> bool:
    """Tell whether a terminal may show the tree: it is able to, and it is not a pipeline's."""
    dumb = environ.get("TERM", "") in _DUMB
    in_pipeline = environ.get("CI", "").lower() not in _OFF
    return not dumb and not in_pipeline and "NO_COLOR" not in environ


def of_terminal(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return only the variables that `shows` reads, nothing about the pipeline or the machine."""
    return {name: environ[name] for name in ("TERM", "CI", "NO_COLOR") if name in environ}


def reflows(environ: Mapping[str, str]) -> bool:
    """Tell whether the terminal rewraps lines when it gets narrower; xterm cuts them off."""
    if "TMUX" in environ:
        return True
    return "XTERM_VERSION" not in environ and not environ.get("TERM", "").startswith(_STIFF)


@contextmanager
def on_terminals(world: World) -> Iterator[World]:
    """Yield a world that writes to its terminals without waiting for them."""
    found: dict[int, Terminal] = {}

    def wrap_stream(stream: TextIO) -> TextIO:
        device = _terminal_device(stream)
        if device is None:
            return stream
        if device not in found:
            found[device] = Terminal(
                stream.fileno(),
                stream.encoding or "utf-8",
                SystemClock(),
                reflows=reflows(world.environ),
                shows=shows(world.environ),
            )
        return cast("TextIO", TerminalStream(found[device], stream))

    with ExitStack() as stack:
        stderr, stdout = wrap_stream(world.streams.stderr), wrap_stream(world.streams.stdout)
        for terminal in found.values():
            stack.callback(_close, world, terminal)
        stack.enter_context(tell_when_continued(tuple(found.values())))
        yield replace(world, streams=replace(world.streams, stdout=stdout, stderr=stderr))


def _close(world: World, terminal: Terminal) -> None:
    """Send the rest; a first signal does not cut off a verdict, the second ends the process."""
    with world.delivered(ignore_signal):
        terminal.close()


def _terminal_device(stream: TextIO) -> int | None:
    """Return the device number of a stream's terminal, None if it goes elsewhere."""
    try:
        return os.fstat(stream.fileno()).st_rdev if stream.isatty() else None
    except (OSError, ValueError):
        return None

"""One call of the program: what was typed and where it writes; the settings once they are known."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from gate.cli.catalog import COMMANDS, PROGRAM
from gate.output import Output, as_warning

if TYPE_CHECKING:
    from gate.app.runtime.world import World
    from gate.config import Settings  # loading it takes longer than `--help` may


@dataclass(slots=True)
class Call:
    """The arguments behind the program's name, and the environment."""

    arguments: tuple[str, ...]
    environ: Mapping[str, str]
    world: World | None = None
    settings: Settings | None = None
    ended_at: float | None = None
    """When the command came to its end, in monotonic seconds; what is said then may take longer."""

    @property
    def stdout(self) -> TextIO:
        """Where results go."""
        return self.world.streams.stdout if self.world is not None else sys.stdout

    @property
    def stderr(self) -> TextIO:
        """Where everything else goes."""
        return self.world.streams.stderr if self.world is not None else sys.stderr

    def wall(self) -> datetime:
        """Return the date and time, in UTC."""
        return self.world.clock.wall() if self.world is not None else datetime.now(UTC)

    def configure_log(self, form: str, level: str, *, quiet: bool = False) -> None:
        """Let the log write in this call's surroundings."""
        from gate import log  # `--help` has nothing to log

        stream = self.world.streams.stderr if self.world is not None else None
        log.configure(form, level, quiet=quiet, stream=stream, wall=self.wall)
        if isinstance(self.stderr, Output):
            self.stderr.as_line = log.json_warning if form == "json" else as_warning

    @property
    def command_path(self) -> str:
        """The program and its command, as far as one was named."""
        return " ".join([PROGRAM, *(name for name in self.arguments[:1] if name in COMMANDS)])

    @property
    def wants_document(self) -> bool:
        """Whether a JSON document is expected on stdout."""
        return self._read_option("output", "-o") == "json"

    @property
    def wants_json_lines(self) -> bool:
        """Whether stderr is read by a program."""
        return self._read_option("log_format") == "json"

    @property
    def wants_traceback(self) -> bool:
        """Whether developers look on."""
        return self._read_option("log_level") == "debug"

    def _read_option(self, name: str, short: str = "") -> str:
        """Return an option; where the settings could not be made, what it seems to be."""
        if self.settings is not None:
            return str(getattr(self.settings, name))
        flag = f"--{name.replace('_', '-')}"
        value = self.environ.get(f"ROLLOUT_GATE_{name.upper()}", "")
        for argument, following in zip(self.arguments, (*self.arguments, "")[1:], strict=True):
            if argument in (flag, short):
                value = following
            elif argument.startswith(f"{flag}="):
                value = argument.partition("=")[2]
        return value

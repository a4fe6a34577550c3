"""One declaration of an option; flag, variable, file key, help and reference follow from it."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final

from gate.core.frozen import dataclass

VARIABLE_PREFIX: Final = "ROLLOUT_GATE_"


class Group(enum.StrEnum):
    """The headings under which help and reference list options, in their order."""

    MANIFEST = "Manifest"
    CLUSTER = "Cluster"
    VERDICT = "Verdict"
    CHECKS = "Health checks"
    FAILURE = "Failure"
    OWNERSHIP = "Ownership"
    LOCK = "Lock"
    SANDBOX = "Sandbox"
    OUTPUT = "Output"
    METRICS = "Metrics"


class Place(enum.StrEnum):
    """Where an option may be given."""

    COMMAND_LINE = "command line"
    ENVIRONMENT = "environment"
    FILE = "file"


EVERYWHERE: Final = frozenset(Place)
NOT_IN_FILES: Final = EVERYWHERE - {Place.FILE}
ONLY_FLAG: Final = frozenset({Place.COMMAND_LINE})
ONLY_IN_FILES: Final = frozenset({Place.FILE})


@dataclass(frozen=True, slots=True)
class Form:
    """How values of a type are given: the help's placeholder, and whether several may be given."""

    metavar: str
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Option:
    """The part of a declaration that type and default do not say.

    `commands` are those that take it. `metavar` replaces the type's, and `default` the default's
    value, where they tell people more; otherwise both are empty. `off_in` are the commands in which
    a switch is off by default although it is on in the others. `file_key` is what to write in a
    file instead, if files have no key of the option's name.
    """

    group: Group
    commands: frozenset[str]
    help: str
    metavar: str = ""
    short: str = ""
    default: str = ""
    off_in: frozenset[str] = frozenset()
    places: frozenset[Place] = EVERYWHERE
    file_key: str = ""

    @property
    def in_file(self) -> bool:
        """Whether a configuration file may give it."""
        return Place.FILE in self.places

    @property
    def in_environment(self) -> bool:
        """Whether a variable may give it."""
        return Place.ENVIRONMENT in self.places

    @property
    def on_command_line(self) -> bool:
        """Whether a flag may give it."""
        return Place.COMMAND_LINE in self.places


@dataclass(frozen=True, slots=True)
class Setting:
    """An option under its name. `metavar` is empty for a switch, which takes no value."""

    name: str
    option: Option
    metavar: str
    repeated: bool
    default: object

    @property
    def key(self) -> str:
        """The key in a configuration file."""
        return self.name.rstrip("_").replace("_", "-")

    @property
    def flag(self) -> str:
        """The flag on the command line; for an option of files alone, its key."""
        return f"--{self.key}" if self.option.on_command_line else self.key

    @property
    def opposite(self) -> str:
        """The flag that turns a switch off; empty for other options."""
        return "" if self.metavar else f"--no-{self.key}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return VARIABLE_PREFIX + self.name.rstrip("_").upper()

    def default_in(self, command: str) -> object:
        """Return the default's value in a command."""
        return False if command in self.option.off_in else self.default

    def shown_default_in(self, command: str) -> str:
        """Return a command's default for people; empty if nothing is set."""
        if self.default is True:
            return "on" if self.default_in(command) else "off"
        if self.option.default or not isinstance(self.default, str):
            return self.option.default
        return str(self.default)

    @property
    def shown_default(self) -> str:
        """The default in all commands, for people; empty if nothing is set."""
        shown = self.shown_default_in("")
        off_in = ", ".join(sorted(self.option.off_in))
        return f"{shown}; off in {off_in}" if off_in else shown


def closest(word: str, known: Iterable[str]) -> str:
    """Return the known word that `word` may be a typo of, or ""."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), n=1)), "")

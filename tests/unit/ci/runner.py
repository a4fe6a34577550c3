"""What GitHub's runner makes of a step's output: commands, groups, annotations, lines.

Source: actions/runner, `ActionCommandManager.cs`, `ActionCommand.cs`, `FileCommandManager.cs`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_V2: Final = re.compile(
    r"::(?P<name>[^\s:]+)(?: (?P<properties>[^:]*(?:%3A[^:]*)*))?::(?P<data>.*)"
)
_V1: Final = re.compile(r"##\[(?P<name>[^\s\]]+)(?: (?P<properties>[^\]]*))?\](?P<data>.*)")
_ESCAPES: Final = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
_HEREDOC: Final = re.compile(r"(?P<name>[^=<]+)<<(?P<delimiter>.+)")


@dataclass
class Command:
    """One command that was read."""

    name: str
    properties: dict[str, str]
    data: str


@dataclass
class Log:
    """A step's output as it was read."""

    commands: list[Command] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def of(self, name: str) -> list[Command]:
        """Return the commands of a name."""
        return [command for command in self.commands if command.name == name]


def read(output: str) -> Log:
    """Read a step's output line by line, as the runner splits it."""
    log = Log()
    stopped = ""
    for line in re.split(r"\r\n|\r|\n", output):
        if stopped:
            if line.strip() == f"::{stopped}::":
                stopped = ""
            else:
                log.lines.append(line)
            continue
        found = _V2.fullmatch(line.lstrip()) or _V1.search(line)
        if found is None:
            log.lines.append(line)
            continue
        command = Command(
            found["name"], _properties(found["properties"]), _unescaped(found["data"])
        )
        log.commands.append(command)
        stopped = command.data if command.name == "stop-commands" else ""
    return log


def _properties(text: str | None) -> dict[str, str]:
    pairs = (part.split("=", 1) for part in (text or "").split(",") if "=" in part)
    return {name.strip(): _unescaped(value) for name, value in pairs}


def _unescaped(text: str) -> str:
    for escape, character in _ESCAPES.items():
        text = text.replace(escape, character)
    return text


def outputs(file: Path) -> dict[str, str]:
    """Read a file of outputs: `name=value`, or lines up to a delimiter."""
    found: dict[str, str] = {}
    lines = iter(file.read_text(encoding="utf-8").split("\n"))
    for line in lines:
        heredoc = _HEREDOC.fullmatch(line)
        if heredoc is not None:
            value = []
            for inner in lines:
                if inner == heredoc["delimiter"]:
                    break
                value.append(inner)
            found[heredoc["name"]] = "\n".join(value)
        elif line:
            name, _, value_ = line.partition("=")
            found[name] = value_
    return found

"""A place in a manifest, and the error that names it."""

from __future__ import annotations

import json

from gate.core.frozen import dataclass
from gate.errors import UsageError


def escape_line(text: str, most: int = 200) -> str:
    """Return `text` for one line of a message: cut after `most` characters, escaped as needed."""
    cut = text if len(text) <= most else f"{text[:most]}..."
    return cut if cut.isprintable() else json.dumps(cut)[1:-1]


@dataclass(frozen=True, slots=True)
class Source:
    """A place in a manifest; `line` and `column` count from 1, and are 0 if unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`."""
        numbers = (str(number) for number in (self.line, self.column) if number)
        return ":".join((escape_line(self.file), *numbers))


class ManifestError(UsageError):
    """Something is wrong with a manifest; the message begins with the place. Exit 2."""

    def __init__(self, source: Source, problem: str, *, hint: str = "") -> None:
        """Put `source` before `problem`, which is one line."""
        super().__init__(f"{source}: {problem}", hint=hint)
        self.source = source

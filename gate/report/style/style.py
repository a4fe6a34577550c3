"""How text is laid out for one stream: width, encoding, colour; not what it says.

Widths are columns of a terminal: East Asian wide characters take two, combining ones none.
"""

from __future__ import annotations

import codecs
import enum
import unicodedata
from typing import Final

from gate.core.frozen import dataclass

USUAL_WIDTH: Final = 100


class Symbol(enum.Enum):
    """A sign, and its replacement if the stream's encoding does not have it."""

    GOOD = ("✓", "+")
    BAD = ("✗", "x")
    UNSURE = ("!", "!")
    MOVING = ("•", "*")
    QUIET = ("·", "-")
    RULE = ("─", "-")
    BAR = ("━", "=")
    CUT = ("…", "...")
    BRANCH = ("├─ ", "|- ")
    LAST_BRANCH = ("└─ ", "`- ")
    TRUNK = ("│  ", "|  ")
    NO_TRUNK = ("   ", "   ")
    QUOTE = ("│ ", "| ")


class Tone(enum.Enum):
    """The few colours, as SGR parameters (ECMA-48)."""

    GOOD = "1;32"
    BAD = "1;31"
    UNSURE = "1;33"
    QUIET = "2"


@dataclass(frozen=True, slots=True)
class Style:
    """What a stream can show; the caller knows whether colour is wanted (NO_COLOR)."""

    color: bool = False
    encoding: str = "utf-8"
    width: int = USUAL_WIDTH

    def sign(self, symbol: Symbol) -> str:
        """Return the symbol, or its replacement."""
        sign, plain = symbol.value
        return sign if self._encodes(sign) else plain

    def paint(self, text: str, tone: Tone) -> str:
        """Return `text` in a colour if colour is wanted."""
        return f"\x1b[{tone.value}m{text}\x1b[0m" if self.color else text

    def printable(self, text: str) -> str:
        """Return one line that the stream can take.

        External text is clean already; this is for what did not pass through the cleaner, such as
        a result file that somebody else wrote.
        """
        plain = text if text.isprintable() else _printable(text)
        if self._encodes(plain):
            return plain
        return plain.encode(self._codec, "replace").decode(self._codec, "replace")

    def cut(self, text: str, width: int | None = None) -> str:
        """Return `text` as one line of at most `width` columns, by default the stream's."""
        line = self.printable(text)
        most = self.width if width is None else width
        if _fits(line, most):
            return line
        sign = self.sign(Symbol.CUT)
        return _take_columns(line, max(0, most - columns(sign))) + sign

    def cut_before(self, text: str, width: int) -> str:
        """Return the end of `text` in at most `width` columns: an image's tag says the most."""
        line = self.printable(text)
        if _fits(line, width):
            return line
        sign = self.sign(Symbol.CUT)
        return sign + _take_columns(line[::-1], max(0, width - columns(sign)))[::-1]

    def wrap(self, text: str, width: int, lines: int) -> list[str]:
        """Return `text` broken at spaces into at most `lines` lines; the last one may be cut."""
        rest = " ".join(self.printable(text).split())
        found: list[str] = []
        while len(found) < lines - 1 and not _fits(rest, width):
            line = _break_line(rest, width)
            found.append(line)
            rest = rest[len(line) :].lstrip()
        return [*found, self.cut(rest, width)]

    def roomy(self, lines: int) -> int:
        """Return how many lines of this width hold as much as `lines` of the usual width."""
        return lines * max(1, -(-USUAL_WIDTH // self.width))

    @property
    def _codec(self) -> str:
        try:
            return codecs.lookup(self.encoding).name
        except LookupError:
            return "ascii"

    def _encodes(self, text: str) -> bool:
        try:
            text.encode(self._codec)
        except UnicodeEncodeError:
            return False
        return True


def columns(text: str) -> int:
    """Return how many columns of a terminal a printable text takes."""
    return len(text) if text.isascii() else sum(map(_column, text))


def pad(text: str, width: int) -> str:
    """Return `text` filled up with spaces to `width` columns."""
    return text + " " * (width - columns(text))


def _column(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _printable(text: str) -> str:
    """Replace what does not print: escapes, controls, line breaks, direction marks."""
    spaced = text.replace("\t", "    ")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in spaced)


def _fits(text: str, width: int) -> bool:
    """Tell whether a text takes at most so many columns, without measuring all of a long one."""
    return len(_take_columns(text, width)) == len(text)


def _take_columns(text: str, width: int) -> str:
    """Return as much of the beginning as fits."""
    taken = 0
    for index, character in enumerate(text):
        taken += _column(character)
        if taken > width:
            return text[:index]
    return text


def _break_line(text: str, width: int) -> str:
    """Return the first line: up to the last space that fits, else as much as fits."""
    fitting = _take_columns(text, width + 1)
    at = fitting.rfind(" ")
    return fitting[:at] if at > 0 else _take_columns(text, max(1, width)) or text[:1]

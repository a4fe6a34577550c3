"""The one cleaner of external text, used where text enters: logs, events, names, messages.

Its output has no control characters except line feed and tab, no terminal escapes, nothing that is
invisible or changes the direction of writing, no lone surrogates, and nothing that a CI host takes
for a command; it is no longer than the limit. Cleaning a clean text changes nothing.
"""

from __future__ import annotations

import re
from typing import Final

from gate.core.model.objects import CleanText

TEXT_LIMIT: Final = 4096
"""Characters of a text of several lines: what a container may leave as its termination message."""
LINE_LIMIT: Final = 1024
"""Characters of one line: what an Event's note may hold (events.k8s.io/v1)."""

_ELLIPSIS: Final = "…"
# Escape sequences of ECMA-48, with ESC or as one C1 byte. The strings (OSC, DCS, SOS, PM, APC)
# end in ST or BEL, and are text if they do not end on their line. Their contents exclude every
# introducer, so that a search stays linear.
_STRING: Final = r"[^\x07\x1b\n\r\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
_ESCAPES: Final = re.compile(
    rf"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])(?:{_STRING})?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-Z\\^-~]"
)
_LINE_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_UNWANTED: Final = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # soft hyphen, joiners, fillers
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"  # zero width, direction of writing
    "\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff"  # variants, byte order mark, annotations
    "\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # formats of scripts, music
    "\U000e0000-\U000e0fff"  # tags and variants
    "\ud800-\udfff"  # lone surrogates
    "]"
)
# GitHub: `::name::` at the start of a line, after any white space; `##[name]` anywhere in it.
# Azure: `##vso[...]` anywhere. TeamCity: `##teamcity[...]`.
_COMMANDS: Final = re.compile(r"(?mi)^[^\S\n]*:(?=:)|#(?=#(?:\[|vso\[|teamcity\[))")


def clean(text: str | bytes, limit: int = TEXT_LIMIT) -> CleanText:
    """Clean a text that may have several lines; a lone carriage return ends a line too.

    Bytes are taken as UTF-8. Beyond `limit` characters the text is cut and ends in "…".
    """
    given = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if _is_plain(given):
        return CleanText(_cut(given, limit))
    broken = _LINE_BREAKS.sub("\n", _ESCAPES.sub("", given))
    return CleanText(_cut(_disarm_commands(_UNWANTED.sub("", broken)), limit))


def clean_line(text: str | bytes, limit: int = LINE_LIMIT) -> CleanText:
    """Clean a text that has to fit on one line: line feeds and tabs become spaces."""
    if isinstance(text, str) and len(text) <= limit and _is_plain(text):
        return CleanText(text.strip())
    line = clean(text, limit=4 * limit).replace("\n", " ").replace("\t", " ")
    return CleanText(_cut(line.strip(), limit))


def _is_plain(text: str) -> bool:
    """Tell whether nothing is to be done: printable ASCII without a trace of a command."""
    return text.isascii() and text.isprintable() and "::" not in text and "##" not in text


def _disarm_commands(text: str) -> str:
    """Separate the two characters that start a command: it stays readable, but no command."""
    return _COMMANDS.sub(lambda start: start[0] + " ", text)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - len(_ELLIPSIS)] + _ELLIPSIS

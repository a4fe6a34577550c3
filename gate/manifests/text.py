"""Decode bytes for a YAML parser, and turn its complaints into one line with a place."""

from __future__ import annotations

import codecs
import re
from typing import Final

import yaml

from gate.manifests.source import ManifestError, Source, escape_line

TEMPLATE_HINT: Final = "this looks like a template: render it first (helm template ... | ... -f -)"
_TABS_HINT: Final = "YAML is indented with spaces, not with tabs"
_STREAM_HINT: Final = "several JSON objects need a line --- between them, or a List around them"
_TOO_DEEP: Final = "exceeded maximum nesting depth"
_NO_SEPARATOR: Final = "did not find expected <document start>"

_BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UNPRINTABLE_ASCII: Final = re.compile("[^\t\n\r\x20-\x7e]")
_UNPRINTABLE: Final = (
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What a YAML 1.1 stream cannot hold; libyaml would report it without a line number.

To compile it takes a hundredth of an apply's start, and most manifests are ASCII.
"""

_TAG_DIRECTIVE: Final = re.compile("(?<![^\r\n\x85\u2028\u2029])%TAG")
"""At the start of a line. For each one libyaml walks over all earlier ones, and no tag that it
could declare is accepted anyway."""

_SURROGATES: Final = re.compile(
    r"(?<!\\)((?:\\\\){0,64})\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE
)
"""A pair of JSON escapes for a character beyond 16 bits; YAML has no such pairs."""


def decode_text(file: str, content: bytes) -> str:
    """Return the text of a manifest; ManifestError with the place of what is not text.

    UTF-8, or UTF-16 with a byte order mark, which is what PowerShell's `>` writes.
    """
    encoding = "utf-16" if content.startswith(_BYTE_ORDER_MARKS) else "utf-8-sig"
    if encoding == "utf-8-sig" and b"\0" in content:
        raise ManifestError(Source(file), "is binary, neither YAML nor JSON")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode(encoding, "ignore")
        problem = f"is not {encoding.removesuffix('-sig').upper()} text"
        raise ManifestError(_end_of(file, before), problem, hint="save it as UTF-8") from error
    unprintable = _UNPRINTABLE_ASCII if text.isascii() else re.compile(_UNPRINTABLE)
    if found := unprintable.search(text) or _TAG_DIRECTIVE.search(text):
        problem = f"{escape_line(found[0])} has no place in a manifest"
        raise ManifestError(_end_of(file, text[: found.start()]), problem)
    return _SURROGATES.sub(_join_surrogates, text) if text.lstrip().startswith("{") else text


def not_yaml(file: str, text: str, error: yaml.YAMLError, depth: int) -> ManifestError:
    """Translate libyaml's error into one line with its place and the likeliest fix.

    Its own bound on nesting, which it may meet as it reads ahead, is far above ours, `depth`.
    """
    mark = getattr(error, "problem_mark", None)
    at = Source(file, mark.line + 1, mark.column + 1) if mark else Source(file)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    if problem == _TOO_DEEP:
        return ManifestError(at, f"nested deeper than {depth} levels")
    return ManifestError(at, f"not valid YAML: {problem}", hint=_hint(problem, text, at))


def _hint(problem: str, text: str, at: Source) -> str:
    if "{{" in text:
        return TEMPLATE_HINT
    if text[_offset(text, at) :].startswith("\t"):
        return _TABS_HINT
    return _STREAM_HINT if problem == _NO_SEPARATOR and "{" in text else ""


def _offset(text: str, at: Source) -> int:
    begin = 0
    for _ in range(at.line - 1):
        begin = text.find("\n", begin) + 1
    return begin + max(at.column - 1, 0)


def _end_of(file: str, text: str) -> Source:
    """Return the place right behind `text`, which begins the file."""
    return Source(file, text.count("\n") + 1, len(text) - text.rfind("\n"))


def _join_surrogates(pair: re.Match[str]) -> str:
    high, low = int(pair[2], 16), int(pair[3], 16)
    return pair[1] + chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

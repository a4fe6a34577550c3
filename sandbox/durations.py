"""Durations in behaviours and scenario files: `600`, `1.5`, `90s`, `10m`, `1h30m`."""

from __future__ import annotations

import re

MOST_SECONDS = 30 * 24 * 3600
_BARE = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_UNITS = re.compile(r"(?=.)(?:(?P<h>[0-9]+)h)?(?:(?P<m>[0-9]+)m)?(?:(?P<s>[0-9]+(?:\.[0-9]+)?)s)?")
_HINT = "durations are seconds (600, 1.5) or like 90s, 10m, 1h30m"
_SHOWN_LETTERS = 40


def parse_seconds(text: str) -> float:
    """Return a duration in seconds, at least 0 and at most 30 days; ValueError otherwise."""
    form = text.strip()
    shown = ascii(text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}...")
    match = _UNITS.fullmatch(form)
    if _BARE.fullmatch(form):
        seconds = float(form)
    elif match:
        hours, minutes, rest = (float(match[unit] or 0) for unit in "hms")
        seconds = 3600 * hours + 60 * minutes + rest
    else:
        raise ValueError(f"not a duration: {shown}; {_HINT}")
    if seconds > MOST_SECONDS:
        raise ValueError(f"too long a duration: {shown} is more than 30 days; {_HINT}")
    return seconds

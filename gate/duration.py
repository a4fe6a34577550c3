"""Durations as people write and read them: `600`, `90s`, `10m`, `1h30m`."""

from __future__ import annotations

import re
from typing import Final

from gate.errors import UsageError

MOST_SECONDS: Final = 30 * 24 * 3600
"""No rollout takes longer: a bigger number is a typing error."""

_BARE: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_UNITS: Final = re.compile(
    r"(?=.)(?:(?P<h>[0-9]+)h)?(?:(?P<m>[0-9]+)m)?(?:(?P<s>[0-9]+(?:\.[0-9]+)?)s)?"
)
_HINT: Final = "durations are seconds (600, 1.5) or like 90s, 10m, 1h30m"


def parse_seconds(text: str) -> float:
    """Read a duration as seconds, at least 0 and at most 30 days; UsageError otherwise."""
    form = text.strip()
    seconds = _seconds(form)
    if seconds is None:
        raise UsageError(f"not a duration: {_quote_value(text)}", hint=_HINT)
    if seconds > MOST_SECONDS:
        raise UsageError(
            f"too long a duration: {_quote_value(text)} is more than 30 days", hint=_HINT
        )
    return seconds


def format_seconds(seconds: float) -> str:
    """Return `1m30s` for 90: to the tenth of a second below a minute, else whole seconds."""
    if seconds < 0:
        return f"-{format_seconds(-seconds)}"
    tenths = round(seconds, 1)
    if tenths < 60:  # noqa: PLR2004 - a minute
        return f"{tenths:g}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count)


def _seconds(form: str) -> float | None:
    if _BARE.fullmatch(form):
        return float(form)
    match = _UNITS.fullmatch(form)
    if match is None:
        return None
    return 3600 * float(match["h"] or 0) + 60 * float(match["m"] or 0) + float(match["s"] or 0)


def _quote_value(text: str) -> str:
    return ascii(text if len(text) <= 40 else f"{text[:40]}...")  # noqa: PLR2004 - one short line

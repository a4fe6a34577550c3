"""How long ago, as `kubectl get` shows it (apimachinery `duration.HumanDuration`)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

UNKNOWN = "<unknown>"

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY


def since(timestamp: Any, now: datetime) -> str:
    """Return the time from an RFC 3339 timestamp until now; `<unknown>` where there is none."""
    if not timestamp:
        return UNKNOWN
    return human((now - datetime.fromisoformat(timestamp)).total_seconds())


def human(seconds: float) -> str:
    """Return two units at most, the second one only while it says something."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    for below, show in _SCALE:
        if whole < below:
            return show(max(0, whole))
    return f"{whole // _YEAR}y"


def _seconds(whole: int) -> str:
    return f"{whole}s"


def _pair(whole: int, unit: int, suffix: str, small: int, small_suffix: str) -> str:
    rest = whole % unit // small
    return f"{whole // unit}{suffix}" + (f"{rest}{small_suffix}" if rest else "")


_SCALE = (
    (2 * _MINUTE, _seconds),
    (10 * _MINUTE, lambda whole: _pair(whole, _MINUTE, "m", 1, "s")),
    (3 * _HOUR, lambda whole: f"{whole // _MINUTE}m"),
    (8 * _HOUR, lambda whole: _pair(whole, _HOUR, "h", _MINUTE, "m")),
    (2 * _DAY, lambda whole: f"{whole // _HOUR}h"),
    (8 * _DAY, lambda whole: _pair(whole, _DAY, "d", _HOUR, "h")),
    (2 * _YEAR, lambda whole: f"{whole // _DAY}d"),
    (8 * _YEAR, lambda whole: _pair(whole, _YEAR, "y", _DAY, "d")),
)
"""Up to which age which form is used."""

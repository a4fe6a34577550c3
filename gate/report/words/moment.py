"""Times as people read them: RFC 3339 in UTC, to the second."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from gate.duration import format_seconds

_FRACTION: Final = re.compile(r"(?<=\d)\.\d+(?=[Z+-]|$)")


def moment(time: str) -> str:
    """Return an RFC 3339 time of UTC without fractions of a second."""
    return _FRACTION.sub("", time).replace("+00:00", "Z")


def describe_run(began: str, ended: str) -> str:
    """Say when something began and ended, and how long that took, as far as it is known."""
    said = f"started at {began}, ended at {ended}" if began else f"ended at {ended}"
    try:
        took = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
    except (ValueError, TypeError):
        return said
    return f"{said}, after {format_seconds(took.total_seconds())}"

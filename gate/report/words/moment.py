"""A time as people read it: RFC 3339 in UTC, to the second."""

from __future__ import annotations

import re
from typing import Final

_FRACTION: Final = re.compile(r"(?<=\d)\.\d+(?=[Z+-]|$)")


def moment(time: str) -> str:
    """Return an RFC 3339 time of UTC without fractions of a second."""
    return _FRACTION.sub("", time).replace("+00:00", "Z")

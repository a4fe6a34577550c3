"""Times of the cluster: RFC 3339 with a zone, as the API server writes them."""

from __future__ import annotations

from datetime import datetime


def parse_moment(text: str) -> datetime | None:
    """Return a time, None for a text that is none; one without a zone compares with no other."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None

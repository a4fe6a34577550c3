"""Whether a query gives counters as they are: what is computed from them hides their resets."""

from __future__ import annotations

import re
from typing import Final

from gate.core.checks.query_template import Query, strip_text

_RANGE: Final = re.compile(r"\[")
_AGGREGATION: Final = re.compile(
    r"\b(sum|avg|min|max|count|group|stddev|stdvar|topk|bottomk|quantile|count_values)"
    r"\s*(?:by\b|without\b|\()",
    re.IGNORECASE,
)


def why_no_counters(query: Query) -> str:
    """Return what keeps a query from giving counters as they are, "" for nothing."""
    code = strip_text(query.text)
    if _RANGE.search(code):
        return "needs the counters themselves: the increases are computed here, exactly"
    found = _AGGREGATION.search(code)
    return f"{found[1]} hides which counter began again: leave it out" if found else ""

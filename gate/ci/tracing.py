"""The trace that a pipeline runs in, according to its environment.

Sources: W3C Trace Context, section 3.2 (`traceparent`); OpenTelemetry, environment variables as
context propagation carriers (the name `TRACEPARENT`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gate.core.frozen import dataclass

VARIABLE: Final = "TRACEPARENT"
_FIELDS: Final = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace_id>[0-9a-f]{32})-(?P<span_id>[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?",
    re.ASCII,
)
_INVALID: Final = "ff"
_FIRST: Final = "00"


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The trace and the span that started this process; all are "" outside of a trace."""

    traceparent: str = ""
    trace_id: str = ""
    span_id: str = ""


def trace_context(environ: Mapping[str, str]) -> TraceContext:
    """Return the trace that the environment names; an empty one if it breaks the grammar.

    A version after 00 may have more fields after the flags, which are dropped.
    """
    found = _FIELDS.fullmatch(environ.get(VARIABLE, "").strip())
    if found is None or found["version"] == _INVALID:
        return TraceContext()
    if found["version"] == _FIRST and found["more"] is not None:
        return TraceContext()
    trace_id, span_id = found["trace_id"], found["span_id"]
    if not trace_id.strip("0") or not span_id.strip("0"):
        return TraceContext()
    known = f"{found['version']}-{trace_id}-{span_id}-{found['flags']}"
    return TraceContext(known, trace_id, span_id)

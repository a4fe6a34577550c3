"""The trace of the environment: W3C's grammar, and nothing for what breaks it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.ci.tracing import TraceContext, trace_context

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = f"00-{TRACE}-{SPAN}-01"
NONE = TraceContext()


@pytest.mark.contract("B622")
@pytest.mark.parametrize(
    ("text", "known"),
    [
        (GOOD, GOOD),
        (f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00"),
        (f"  {GOOD}\n", GOOD),
        (f"01-{TRACE}-{SPAN}-01", f"01-{TRACE}-{SPAN}-01"),
        (f"cc-{TRACE}-{SPAN}-01-what the future will be like", f"cc-{TRACE}-{SPAN}-01"),
    ],
)
def test_a_trace_is_known_by_its_ids(text: str, known: str) -> None:
    """Of a later version the fields that the first one has."""
    assert trace_context({"TRACEPARENT": text}) == TraceContext(known, TRACE, SPAN)


@pytest.mark.contract("B622")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "00",
        GOOD.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}a-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"{GOOD}-",
        f"{GOOD}-more",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"{GOOD}\n::error::",
        f"00-{TRACE}-{SPAN}-\u0660\u0661",
        "00-" + "g" * 32 + f"-{SPAN}-01",
    ],
)
def test_what_breaks_the_grammar_counts_for_nothing(text: str) -> None:
    """As the recommendation has it: the trace is not continued."""
    assert trace_context({"TRACEPARENT": text}) == NONE


@given(st.text(alphabet="0123456789abcdefABCDEF-.\n ", max_size=70) | st.text(max_size=70))
def test_whatever_stands_there_only_hex_comes_out(text: str) -> None:
    """It goes into logs and pages."""
    found = trace_context({"TRACEPARENT": text})
    assert set(found.traceparent) <= set("0123456789abcdef-")

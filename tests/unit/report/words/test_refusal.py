"""Errors before a verdict: one line, and the next step."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Reason
from gate.errors import RefusedError, UsageErrors
from gate.report.style.style import Style
from gate.report.words.refusal import refusal


@pytest.mark.contract("B652")
def test_each_of_several_mistakes_has_its_own_hint() -> None:
    """A hint that the next mistake shares stands below the last of them."""
    error = UsageErrors([("a", "be brief"), ("b", "be brief"), ("c", ""), ("d", "look:\n  x")])
    assert refusal(error, Style(), "apply").splitlines() == [
        "error: a",
        "error: b",
        "hint: be brief",
        "error: c",
        "error: d",
        "hint: look:",
        "  x",
    ]
    assert error.hint == "be brief\nlook:\n  x"


@pytest.mark.contract("B2")
def test_a_long_role_is_printed_whole() -> None:
    """Half of it would be another Role, or no YAML."""
    rules = [f"- apiGroups: [g{number}]" for number in range(500)]
    hint = "\n".join(["this Role grants it:", "rules:", *rules])
    error = RefusedError("may not", reason=Reason.FORBIDDEN, hint=hint)
    assert refusal(error, Style(), "apply").splitlines()[-500:] == rules


def test_hostile_messages_stay_one_line() -> None:
    """A server's message is somebody else's text."""
    error = RefusedError("a\n::error::b\x1b[2J", reason=Reason.REJECTED)
    text = refusal(error, Style(), "apply")
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text

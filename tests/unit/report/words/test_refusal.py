"""Errors before a verdict: one line, and the next step."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Reason
from gate.errors import RefusedError, UsageErrors
from gate.report.style.style import Style
from gate.report.words.refusal import refusal


def test_a_refusal_says_what_why_and_what_next() -> None:
    """The message first, what it means for the cluster below, then the next step."""
    error = RefusedError(
        "kubectl-edit owns .spec.replicas of deployment/web",
        reason=Reason.CONFLICT,
        hint="take it over: --take-over kubectl-edit",
    )
    assert refusal(error, Style()) == (
        "error: kubectl-edit owns .spec.replicas of deployment/web\n"
        "refused (exit 3, Conflict): nothing was written\n"
        "hint: take it over: --take-over kubectl-edit\n"
    )


@pytest.mark.contract("B652")
def test_each_of_several_mistakes_has_its_own_hint() -> None:
    """A hint that the next mistake shares stands below the last of them."""
    error = UsageErrors([("a", "be brief"), ("b", "be brief"), ("c", ""), ("d", "look:\n  x")])
    assert refusal(error, Style()).splitlines() == [
        "error: a",
        "error: b",
        "hint: be brief",
        "error: c",
        "error: d",
        "hint: look:",
        "  x",
    ]
    assert error.hint == "be brief\nlook:\n  x"


def test_a_hint_keeps_its_lines_and_indentation() -> None:
    """A Role that is to be copied stays YAML."""
    hint = "this Role grants it:\nrules:\n- apiGroups: [apps]\n  verbs: [get]"
    error = RefusedError("may not", reason=Reason.FORBIDDEN, hint=hint)
    assert refusal(error, Style()).splitlines()[2:] == [
        "hint: this Role grants it:",
        "rules:",
        "- apiGroups: [apps]",
        "  verbs: [get]",
    ]


@pytest.mark.contract("B2")
def test_a_long_role_is_printed_whole() -> None:
    """Half of it would be another Role, or no YAML."""
    rules = [f"- apiGroups: [g{number}]" for number in range(500)]
    hint = "\n".join(["this Role grants it:", "rules:", *rules])
    error = RefusedError("may not", reason=Reason.FORBIDDEN, hint=hint)
    assert refusal(error, Style()).splitlines()[-500:] == rules


def test_hostile_messages_stay_one_line() -> None:
    """A server's message is somebody else's text."""
    error = RefusedError("a\n::error::b\x1b[2J", reason=Reason.REJECTED)
    text = refusal(error, Style())
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text

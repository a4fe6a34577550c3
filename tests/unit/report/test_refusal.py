"""Errors before a verdict: one line, and the next step."""

from __future__ import annotations

from gate.core.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.report.refusal import refusal
from gate.report.style import Style


def test_a_refusal_says_what_why_and_what_next() -> None:
    """Outcome, exit code, reason and message on one line; the hint below."""
    error = RefusedError(
        "kubectl-edit owns .spec.replicas of deployment/web",
        reason=Reason.CONFLICT,
        hint="take it over: --take-over kubectl-edit",
    )
    assert refusal(error, Style()) == (
        "✗ REFUSED (exit 3, Conflict): kubectl-edit owns .spec.replicas of deployment/web\n"
        "  take it over: --take-over kubectl-edit\n"
    )


def test_a_usage_error_without_a_hint_is_one_line() -> None:
    """No empty hint is printed."""
    text = refusal(UsageError("deploy.yaml:3: not YAML"), Style(encoding="ascii"))
    assert text == "x USAGE (exit 2, Usage): deploy.yaml:3: not YAML\n"


def test_a_hint_keeps_its_lines_and_indentation() -> None:
    """A Role that is to be copied stays YAML."""
    hint = "rules:\n- apiGroups: [apps]\n  verbs: [get]"
    error = RefusedError("may not", reason=Reason.FORBIDDEN, hint=hint)
    assert refusal(error, Style()).splitlines()[1:] == [
        "  rules:",
        "  - apiGroups: [apps]",
        "    verbs: [get]",
    ]


def test_hostile_messages_stay_one_line() -> None:
    """A server's message is somebody else's text."""
    error = RefusedError("a\n::error::b\x1b[2J", reason=Reason.REJECTED)
    text = refusal(error, Style())
    assert len(text.splitlines()) == 1
    assert "\x1b" not in text


def test_colour_marks_the_outcome_alone() -> None:
    """The message stays as it is."""
    error = UsageError("wrong")
    assert refusal(error, Style(color=True)) == "\x1b[1;31m✗ USAGE (exit 2, Usage)\x1b[0m: wrong\n"

"""An error that ended a command before or outside of a verdict: one line, and what to do next."""

from __future__ import annotations

from gate.errors import GateError
from gate.report.style import Style, Symbol, Tone

_HINT_LINES = 60
"""A hint may be a Role that is ready to be applied."""


def refusal(error: GateError, style: Style) -> str:
    """Return `error` as lines for people; the first says outcome, reason and exit code."""
    head = f"{error.outcome.upper()} (exit {error.exit_code}, {error.reason})"
    sign = style.painted(f"{style.sign(Symbol.BAD)} {head}", Tone.BAD)
    lines = [f"{sign}: {style.shown(' '.join(error.message.split()))}"]
    lines.extend(
        f"  {style.shown(line)}".rstrip() for line in error.hint.splitlines()[:_HINT_LINES]
    )
    return "\n".join(lines) + "\n"

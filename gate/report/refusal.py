"""An error that ended a command before or outside of a verdict: what, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence

from gate.core.outcome import Outcome
from gate.errors import GateError, UsageError
from gate.report.style import Style, Tone

_HINT_LINES = 60
"""A hint may be a Role that is ready to be applied."""


def refusal(error: GateError, style: Style) -> str:
    """Return `error` as lines for people: what, what next, and what it means for the cluster."""
    label = style.painted("error:", Tone.BAD)
    lines = [f"{label} {style.shown(' '.join(text.split()))}" for text in _problems(error)]
    if error.outcome is Outcome.REFUSED:
        lines.append(f"refused (exit {error.exit_code}, {error.reason}): nothing was written")
    hint = [style.shown(line) for line in error.hint.splitlines()[:_HINT_LINES]]
    # What stands below the first line is meant to be copied, as a Role is: it stays as it is.
    lines.extend([f"hint: {line}" for line in hint[:1]] + hint[1:])
    return "\n".join(lines) + "\n"


def _problems(error: GateError) -> Sequence[str]:
    """Return all that is wrong: a file, or options, can have several mistakes."""
    several: Sequence[str] = getattr(error, "problems", ()) if isinstance(error, UsageError) else ()
    return several or (error.message,)

"""An error that ended a command before or outside of a verdict: what, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator

from gate.core.model.outcome import Outcome
from gate.errors import GateError
from gate.report.style.style import Style, Tone

NOTHING = "nothing was written"
NOTHING_NEW = "nothing was written beside the end of what an earlier attempt had left"

_HINT_LINES = 5000
"""A hint may be Roles for many namespaces, ready to be applied: half of them would be no YAML."""


def refusal(error: GateError, style: Style) -> str:
    """Return `error` as lines for people: what, what next, and what it means for the cluster."""
    label = style.paint("error:", Tone.BAD)
    lines: list[str] = []
    for problem, hint in error.list_problems():
        lines.append(f"{label} {style.printable(' '.join(problem.split()))}")
        if error.outcome is Outcome.REFUSED:
            wrote = NOTHING_NEW if error.after_recovery else NOTHING
            lines.append(f"refused (exit {error.exit_code}, {error.reason}): {wrote}")
        lines += _hint(hint, style)
    return "\n".join(lines) + "\n"


def _hint(text: str, style: Style) -> Iterator[str]:
    """Iterate a hint; below its first line stands what is to be copied, as a Role, as it is."""
    for number, line in enumerate(text.splitlines()[:_HINT_LINES]):
        yield style.printable(line) if number else f"hint: {style.printable(line)}"

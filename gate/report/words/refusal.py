"""An error that ended a command without a verdict: what it is, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.model.outcome import Outcome
from gate.errors import GateError
from gate.report.style.style import Style, Tone

NOTHING = "nothing was written"
NOTHING_NEW = "nothing was written, except to finish an earlier attempt"
NOTHING_JUDGED = "nothing was judged"

_HINT_LINES = 5000
"""A hint may be Roles for many namespaces, ready to be applied: if cut off, they are not YAML."""


LOOKING: Final = frozenset({"checks", "history", "locks", "status", "verify"})
"""The commands that only look: nobody expects them to write (`locks --release` aside)."""


def refusal(error: GateError, style: Style, command: str) -> str:
    """Return `error` as lines for people: the problem, what it means for the cluster, what next.

    Of a `command` that only looks nothing is said of writing.
    """
    label = style.paint("error:", Tone.BAD)
    lines: list[str] = []
    for problem, hint in error.list_problems():
        lines.append(f"{label} {style.printable(' '.join(problem.split()))}")
        if error.outcome is Outcome.REFUSED:
            wrote = f": {NOTHING_NEW if error.after_recovery else NOTHING}"
            wrote = "" if command in LOOKING else wrote
            lines.append(f"refused (exit {error.exit_code}, {error.reason}){wrote}")
        elif error.outcome is Outcome.FAILED:
            lines.append(f"failed (exit {error.exit_code}, {error.reason})")
        lines += _hint(hint, style)
    return "\n".join(lines) + "\n"


def _hint(text: str, style: Style) -> Iterator[str]:
    """Yield the lines of a hint; all but the first are to be copied, as a Role, and stay as is."""
    for number, line in enumerate(text.splitlines()[:_HINT_LINES]):
        yield style.printable(line) if number else f"hint: {style.printable(line)}"

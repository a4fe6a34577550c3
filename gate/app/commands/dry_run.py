"""The end of a run that should write nothing: what its command would change."""

from __future__ import annotations

from typing import Final

from gate.app.runtime.command_end import Passed
from gate.core.model.outcome import Reason
from gate.core.plan.foreseen_return import would_write
from gate.core.plan.plan import Plan
from gate.report.words.object_names import some_names

NOTHING_WRITTEN: Final = "a dry run: nothing was written"
_MOST_NAMED: Final = 6


def end_dry_run(plan: Plan, said: str) -> Passed:
    """Return the end of a run that should write nothing; its message begins with `said`."""
    whole, parts = f"{said}; an {plan.command} would", []
    for intent, refs in would_write(plan).items():
        names = some_names([plan.name_of(ref) for ref in refs], _MOST_NAMED)
        parts.append(f"{intent.value} {names}")
    if not parts:
        return Passed(f"{whole} change nothing", Reason.NO_CHANGE)
    return Passed(f"{whole} {', and '.join(parts)}", Reason.DRY_RUN)

"""The health checks as the live tree shows them: what was measured last, and what is good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.attempt.check_conclusions import conclusions
from gate.core.attempt.state import Attempt
from gate.core.checks.measurement import Kind, Measurement
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind, Tally
from gate.core.checks.spec import Check
from gate.report.check_report.figures import bounds_of, number
from gate.report.live.view import CheckView, Mark

_CONCLUDED: Final = {
    ConclusionKind.PASS: Mark.GOOD,
    ConclusionKind.FAIL: Mark.BAD,
    ConclusionKind.INCONCLUSIVE: Mark.UNSURE,
}
_MEASURED: Final = {
    Kind.PASS: Mark.GOOD,
    Kind.FAIL: Mark.UNSURE,
    Kind.NO_DATA: Mark.UNSURE,
    Kind.ERROR: Mark.UNSURE,
}
"""A single bad measurement may be tolerated: only the check's own verdict is BAD."""


def check_views(attempt: Attempt) -> tuple[CheckView, ...]:
    """Return every check of an attempt in the order of its configuration."""
    said = zip(attempt.plan.policy.checks, conclusions(attempt), strict=True)
    return tuple(_view(check, attempt.health.checks.get(check.name), one) for check, one in said)


def _view(check: Check, run: CheckRun | None, said: Conclusion) -> CheckView:
    last = None if run is None else run.failure or run.last
    mark = _CONCLUDED.get(said.kind) or (_MEASURED[last.kind] if last is not None else Mark.MOVING)
    only = "" if check.decides else "reports only"
    often = ", ".join(_often(run.tally)) if run is not None else ""
    detail = ", ".join(part for part in (often, only) if part)
    compares = run is not None and run.counts is not None
    return CheckView(check.name, mark, _value(last, compares=compares), bounds_of(check), detail)


def _value(last: Measurement | None, *, compares: bool) -> str:
    """Return the number; the message if there is none, or it did not decide alone.

    The rate of one version says nothing of a comparison by counts.
    """
    if last is None:
        return "not measured yet"
    if last.value is None or last.kind in (Kind.NO_DATA, Kind.ERROR) or compares:
        return last.message
    return number(last.value)


def _often(tally: Tally) -> Iterator[str]:
    counted = (
        (tally.passes, "passed"),
        (tally.failures, "failed"),
        (tally.no_data, "without data"),
        (tally.errors, "not answered"),
    )
    return (f"{count} {what}" for count, what in counted if count)

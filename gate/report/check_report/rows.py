"""How the health checks of an attempt ended: rows of the result document, and lines for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.core.attempt.check_conclusions import conclusions
from gate.core.attempt.state import Attempt
from gate.core.checks.count_run import CountRun
from gate.core.checks.measurement import Kind, Measurement
from gate.core.checks.run import CheckRun, Conclusion, ConclusionKind
from gate.core.checks.spec import Check
from gate.core.model.outcome import Reason
from gate.core.statistics.count_evidence import SideCounts
from gate.report.check_report.figures import finite, source_of
from gate.report.schema.check_verdict import CheckResult, ComparisonResult, CountedResult
from gate.report.style.style import Style, Symbol

MOST_LINES: Final = 4
_MOST_NAMED: Final = 4
_MOST_OUTPUT_LINES: Final = 20
_SIGNS: Final = {
    ConclusionKind.FAIL: Symbol.BAD,
    ConclusionKind.INCONCLUSIVE: Symbol.UNSURE,
    ConclusionKind.UNDECIDED: Symbol.UNSURE,
    ConclusionKind.PASS: Symbol.GOOD,
}
"""By verdict, the worst first."""


def check_rows(attempt: Attempt) -> list[CheckResult]:
    """Return every check of the attempt in the order of its configuration.

    `verdict` is pass, fail, inconclusive, or undecided if the attempt ended before the check was;
    `last_value` is the number that failed it, or the last one.
    """
    checks = attempt.plan.policy.checks
    return [
        _row(check, attempt.health.checks.get(check.name), said)
        for check, said in zip(checks, conclusions(attempt), strict=True)
    ]


def _row(check: Check, run: CheckRun | None, said: Conclusion) -> CheckResult:
    last = None if run is None else run.failure or run.last
    return {
        "name": check.name,
        "source": source_of(check),
        "verdict": _verdict(run, said).value,
        "required": check.decides,
        "measurements": run.tally.measured if run is not None else 0,
        "failures": run.tally.failures if run is not None else 0,
        "errors": run.tally.errors if run is not None else 0,
        "last_value": finite(last.value) if last is not None else None,
        "message": _message(run, said),
        "output": _output(last, said),
        "comparison": _comparison(run, said),
    }


def _output(last: Measurement | None, said: Conclusion) -> str:
    """Return what a program printed as it did not pass, "" for no more than `message` has.

    Nobody can ask a version again that went back.
    """
    is_against = said.kind in (ConclusionKind.FAIL, ConclusionKind.INCONCLUSIVE)
    if last is None or not is_against:
        return ""
    lines = last.output.splitlines()[-_MOST_OUTPUT_LINES:]
    return "\n".join(lines) if len(lines) > 1 else ""


def _verdict(run: CheckRun | None, said: Conclusion) -> ConclusionKind:
    """Return the conclusion; a comparison that has passed has, though its phase was cut short."""
    has_passed = run is not None and run.counts is not None and run.counts.passed
    is_open = said.kind is ConclusionKind.UNDECIDED
    return ConclusionKind.PASS if is_open and has_passed else said.kind


def _message(run: CheckRun | None, said: Conclusion) -> str:
    """Return what a check says; a comparison whose run ended before it has its figures so far."""
    is_over = said.kind is not ConclusionKind.UNDECIDED
    counts = None if run is None or is_over else run.counts
    if run is None or counts is None or not counts.evidence.ticks or run.last_kind is Kind.ERROR:
        return said.message
    if counts.passed:
        return f"{counts.describe()}{counts.describe_figures(at_the_end=False)}"
    return counts.describe_undecided(at_the_end=False)


def _comparison(run: CheckRun | None, said: Conclusion) -> ComparisonResult | None:
    if run is None or run.counts is None or not run.counts.evidence.ticks:
        return None
    over = said.kind is not ConclusionKind.UNDECIDED and run.failure is None
    found, evidence = run.counts.estimate(at_the_end=over), run.counts.evidence
    return {
        "new": _count_document(evidence.new),
        "old": _count_document(evidence.old),
        "compared": {
            "new": _count_document(evidence.compared.new),
            "old": _count_document(evidence.compared.old),
        },
        "baseline": run.counts.counts.compared_pods.value,
        "fresh_pods": sorted(run.counts.old_pods.fresh) if run.counts.compares_fresh else [],
        "ratio": found.ratio,
        "low": found.low,
        "high": finite(found.high),
        "detectable": found.detectable,
        "shared_seconds": run.counts.shared_seconds,
        "enough_seconds": run.counts.enough_seconds,
        "why_undecided": _why_undecided(run, run.counts, said),
    }


def _why_undecided(run: CheckRun, counts: CountRun, said: Conclusion) -> str:
    if _verdict(run, said) in (ConclusionKind.PASS, ConclusionKind.FAIL):
        return ""
    if said.reason is Reason.CHECK_ERROR:
        return said.message
    return counts.why_undecided(at_the_end=said.kind is not ConclusionKind.UNDECIDED)


def _count_document(side: SideCounts) -> CountedResult:
    return {"bad": side.bad, "total": side.total}


def check_lines(rows: Sequence[CheckResult], style: Style) -> list[str]:
    """Return what checks said in at most four lines, the worst first, each after its sign."""
    ranked = sorted(rows, key=lambda row: (_rank(row), not row["required"]))
    if len(ranked) <= MOST_LINES:
        return [_line(row, style) for row in ranked]
    shown = [row for row in ranked if row["verdict"] != ConclusionKind.PASS][: MOST_LINES - 1]
    return [*(_line(row, style) for row in shown), _rest(ranked[len(shown) :], style)]


def _rest(rows: Sequence[CheckResult], style: Style) -> str:
    passed = all(row["verdict"] == ConclusionKind.PASS for row in rows)
    sign = style.sign(Symbol.GOOD if passed else Symbol.UNSURE)
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    names = ", ".join(row["name"] for row in rows[:_MOST_NAMED]) + more
    return f"{sign} {len(rows)} {'passed' if passed else 'more'}: {names}"


def _rank(row: CheckResult) -> int:
    """Return a verdict's rank, the worst first; a file that somebody else wrote may hold any."""
    kinds = [kind.value for kind in _SIGNS]
    return kinds.index(row["verdict"]) if row["verdict"] in kinds else len(kinds)


def _line(row: CheckResult, style: Style) -> str:
    """Return name, what decided, and how often it was measured."""
    signs = {kind.value: sign for kind, sign in _SIGNS.items()}
    sign = style.sign(signs.get(row["verdict"], Symbol.UNSURE))
    reports = "" if row["required"] else " (reports only)"
    said = [row["message"]] if row["message"] else []
    return f"{sign} {row['name']}{reports}: {'; '.join([*said, _often(row)])}"


def _often(row: CheckResult) -> str:
    count, failures, errors = row["measurements"], row["failures"], row["errors"]
    if not count and errors:
        return f"asked {_times(errors)}, without an answer to judge"
    unanswered = f", {errors} more without an answer to judge" if errors else ""
    if failures and row["comparison"]:
        return f"failed at look {count}, by all that was counted so far{unanswered}"
    if failures:
        return f"{failures} of {count} measurements failed{unanswered}"
    return f"measured {_times(count)}{unanswered}" if count else "not measured"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"

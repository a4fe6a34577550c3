"""What rehearsals came to: one line each, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

from gate.duration import format_seconds
from gate.report.style import Style, columns, padded

SCHEMA: Final = "rollout-gate/rehearsals/v1"
_LEAST_COLUMNS: Final = 24


class RehearsalResult(TypedDict):
    """One rehearsal; `as_expected` is false where a failure passed, or a good version did not."""

    kind: str
    says: str
    outcome: str
    exit_code: int
    reason: str
    why: str
    decided_at_seconds: float
    duration_seconds: float
    returned_to: str
    as_expected: bool


class Rehearsals(TypedDict):
    """All rehearsals of one manifest; seconds are those of the played cluster."""

    schema: str
    rehearsals: list[RehearsalResult]
    at_worst_seconds: float
    warnings: list[str]


def document(
    rehearsals: list[RehearsalResult], warnings: Sequence[str], at_worst_seconds: float
) -> Rehearsals:
    """Return rehearsals of one manifest as a document; `warnings` are those of its run."""
    return {
        "schema": SCHEMA,
        "rehearsals": rehearsals,
        "at_worst_seconds": at_worst_seconds,
        "warnings": [*warnings],
    }


def rehearsals_text(found: Rehearsals, style: Style) -> str:
    """Return the table, what is not as it should be, and the advice."""
    rows = [_HEAD, *(_row(each) for each in found["rehearsals"])]
    widths = [max(columns(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [_line(row, widths, style) for row in rows]
    at_worst = format_seconds(found["at_worst_seconds"])
    lines += ["", f"at worst, by its budgets, a run takes {at_worst}"]
    wrong = [each["kind"] for each in found["rehearsals"] if not each["as_expected"]]
    if wrong:
        lines.append(f"not as it should be: {', '.join(wrong)}")
    lines += [f"warning: {warning}" for warning in found["warnings"]]
    return "\n".join(lines) + "\n"


_HEAD: Final = ("", "what goes wrong", "outcome", "exit", "decided", "over", "returns to", "why")


def _row(result: RehearsalResult) -> tuple[str, ...]:
    return (
        "ok" if result["as_expected"] else "!!",
        result["kind"],
        result["outcome"],
        str(result["exit_code"]),
        format_seconds(result["decided_at_seconds"]),
        format_seconds(result["duration_seconds"]),
        result["returned_to"] or "-",
        result["why"],
    )


def _line(row: Sequence[str], widths: Sequence[int], style: Style) -> str:
    """Return a row; its last cell takes what the others leave, and is cut."""
    cells = [padded(cell, width) for cell, width in zip(row[:-1], widths[:-1], strict=True)]
    start = "  ".join([*cells, ""])
    return (
        f"{start}{style.cut(row[-1], max(_LEAST_COLUMNS, style.width - columns(start)))}".rstrip()
    )

"""What rehearsals came to: one line each, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypedDict

from gate.duration import format_seconds
from gate.report.style.style import Style
from gate.report.style.table import table

SCHEMA: Final = "rollout-gate/rehearsals/v1"


class RehearsalResult(TypedDict):
    """One rehearsal; `as_expected` is false if a failure passed, or a good version did not.

    It is None where nobody said how it should end, as of a scenario file. `mend` is the setting
    that changes a false one, else "".
    """

    kind: str
    says: str
    outcome: str
    exit_code: int
    reason: str
    why: str
    decided_at_seconds: float
    duration_seconds: float
    returned_to: str
    as_expected: bool | None
    mend: str


class RequestsResult(TypedDict):
    """The requests that are taken to come to both versions together, and the share of bad ones."""

    per_second: float
    rate: float


class Rehearsals(TypedDict):
    """All rehearsals of one manifest; seconds are those of the played cluster.

    `subject` names those of several workloads in which it goes wrong, "" if there is only one.
    `requests` are None where no check counts any.
    """

    schema: str
    subject: str
    rehearsals: list[RehearsalResult]
    at_worst_seconds: float
    requests: RequestsResult | None
    warnings: list[str]


def document(
    rehearsals: list[RehearsalResult],
    warnings: Sequence[str],
    at_worst_seconds: float,
    *,
    subject: str = "",
    requests: RequestsResult | None = None,
) -> Rehearsals:
    """Return rehearsals of one manifest as a document; `warnings` are those of its run."""
    return {
        "schema": SCHEMA,
        "subject": subject,
        "rehearsals": rehearsals,
        "at_worst_seconds": at_worst_seconds,
        "requests": requests,
        "warnings": [*warnings],
    }


def rehearsals_text(found: Rehearsals, style: Style, *, whole: bool = False) -> str:
    """Return the table, what is not as it should be, and the advice; `whole` cuts nothing off."""
    rows = [_HEAD, *(_row(each) for each in found["rehearsals"])]
    lines = table(rows, style, whole=whole)
    at_worst = format_seconds(found["at_worst_seconds"])
    is_judged = all(each["as_expected"] is not None for each in found["rehearsals"])
    lines += ["", _JUDGED if is_judged else _NOT_JUDGED, _TIMES, _LONGEST.format(at_worst)]
    if found["requests"]:
        lines.append(_describe_requests(found["requests"]))
    if found["subject"]:
        lines.append(f"what goes wrong does so in {found['subject']}")
    wrong = [each for each in found["rehearsals"] if each["as_expected"] is False]
    if wrong:
        lines.append(f"not as it should be: {', '.join(each['kind'] for each in wrong)}")
    lines += [f"{each['kind']}: {each['mend']}" for each in wrong if each["mend"]]
    lines += [f"warning: {warning}" for warning in found["warnings"]]
    return "\n".join(lines) + "\n"


def _describe_requests(taken: RequestsResult) -> str:
    rate = f"{100 * taken['rate']:.3g}%"
    return (
        f"comparisons: as if ready pods shared {taken['per_second']:,g} requests/s, {rate} of those"
        " to a good version bad (--traffic, --rate)"
    )


_HEAD: Final = ("", "what goes wrong", "outcome", "exit", "decided", "over", "returns to", "why")
_MARKS: Final = {True: "ok", False: "!!", None: "-"}
_JUDGED: Final = "ok: a failure was caught, or a harmless change passed; !!: not so"
_NOT_JUDGED: Final = "-: a scenario is not judged: read its outcome"
_TIMES: Final = "exit: apply's; decided: when the verdict came; over: when apply ended"
_LONGEST: Final = "the longest possible run: {} (for your CI timeout), after any --lock-wait"


def _row(result: RehearsalResult) -> tuple[str, ...]:
    return (
        _MARKS[result["as_expected"]],
        result["kind"],
        result["outcome"],
        str(result["exit_code"]),
        format_seconds(result["decided_at_seconds"]),
        format_seconds(result["duration_seconds"]),
        result["returned_to"] or "-",
        result["why"],
    )

"""What a changed policy makes of recordings: a line for each, and how many verdicts it turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, TypedDict

from gate.duration import format_seconds
from gate.report.style.style import Style, Tone
from gate.report.style.table import table

SCHEMA: Final = "rollout-gate/backtest/v1"
_TURNED: Final = "turned"


class Judgement(TypedDict):
    """What one policy makes of a recording; `decided_at` is null while it is undecided."""

    verdict: str
    reason: str
    message: str
    decided_at: float | None


class Backtested(TypedDict):
    """One recording: `then` under the policy that it was recorded under, `now` under the other.

    `turned` is whether the verdicts differ.
    """

    file: str
    then: Judgement
    now: Judgement
    turned: bool


class Unreadable(TypedDict):
    """One recording that cannot be judged, and why."""

    file: str
    problem: str


class Backtest(TypedDict):
    """All recordings, in the order in which they were named."""

    schema: str
    recordings: list[Backtested]
    turned: int
    unreadable: list[Unreadable]


def document(recordings: list[Backtested], unreadable: list[Unreadable]) -> Backtest:
    """Return what was judged as a document."""
    turned = sum(each["turned"] for each in recordings)
    return {
        "schema": SCHEMA,
        "recordings": recordings,
        "turned": turned,
        "unreadable": unreadable,
    }


def backtest_text(found: Backtest, style: Style, *, whole: bool = False) -> str:
    """Return the table and its summary; `whole` cuts nothing off."""
    rows = [_HEAD, *map(_row, found["recordings"])]
    head, *lines = table(rows, style, whole=whole) if found["recordings"] else [""]
    painted = [
        style.paint(line, Tone.UNSURE) if line.startswith(_TURNED) else line for line in lines
    ]
    unreadable = [f"not judged: {each['problem']}" for each in found["unreadable"]]
    page_lines = [head, *painted, "", _summary(found), *map(style.printable, unreadable)]
    return "\n".join(page_lines).lstrip("\n") + "\n"


_HEAD: Final = ("", "recording", "then", "at", "now", "at", "why")


def _row(found: Backtested) -> Sequence[str]:
    then, now = found["then"], found["now"]
    mark = _TURNED if found["turned"] else ""
    why = now["message"] if now["message"] != now["reason"] else ""
    return (mark, found["file"], *_cells(then), *_cells(now), why)


def _cells(judged: Judgement) -> tuple[str, str]:
    at = judged["decided_at"]
    when = "undecided" if at is None else format_seconds(round(at, 1))
    reason = judged["reason"]
    says_no_more = reason.lower() in (judged["verdict"], "")
    return (judged["verdict"] if says_no_more else f"{judged['verdict']} {reason}"), when


def _summary(found: Backtest) -> str:
    """Say how many verdicts are turned, and from what to what."""
    judged, turned = len(found["recordings"]), found["turned"]
    ways = Counter(
        f"{each['then']['verdict']} to {each['now']['verdict']}"
        for each in found["recordings"]
        if each["turned"]
    )
    kinds = ", ".join(f"{count} from {way}" for way, count in ways.most_common())
    line = f"{turned} of {judged} verdicts changed"
    return f"{line}: {kinds}" if kinds else line

"""The table that `history` prints: a Deployment's revisions, latest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.report.style import Style, columns, padded

_HEADINGS = ("REVISION", "AGE", "PODS", "IMAGES", "CHANGE CAUSE")
_NUMERIC = 3
"""How many columns, from the left, stand to the right side."""
_GAP = "  "
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_LEAST_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Revision:
    """One ReplicaSet of a Deployment.

    `number` is None before the controller wrote one, `age_seconds` where it is not known.
    `running` is true of the live template's, `returns_here` of the one that a failure of the next
    apply would go back to.
    """

    number: int | None
    replica_set: str
    images: tuple[str, ...]
    change_cause: str
    age_seconds: float | None
    pods: int
    running: bool
    returns_here: bool


def history_table(revisions: Sequence[Revision], style: Style) -> str:
    """Return the revisions as an aligned table, the highest number first, with marks below.

    What is too long for the stream is cut in the columns of images and change cause, never in the
    marks.
    """
    if not revisions:
        return "no revisions\n"
    ordered = sorted(revisions, key=lambda revision: -(revision.number or 0))
    marks = [_mark(revision) for revision in ordered]
    rows = [_HEADINGS, *(_cells(revision) for revision in ordered)]
    widths = _widths(rows, max(map(columns, marks)), style)
    lines = [_line(row, widths, style) for row in rows]
    marked = (f"{line}{_GAP}{mark}" for line, mark in zip(lines, ["", *marks], strict=True))
    return "\n".join(line.rstrip() for line in marked) + "\n"


def age_words(seconds: float | None) -> str:
    """Return an age in its largest unit, as kubectl does."""
    if seconds is None:
        return "?"
    whole = max(0, int(seconds))
    for unit, sign in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if whole >= 2 * unit or (unit == _DAY and whole >= unit):
            return f"{whole // unit}{sign}"
    return f"{whole}s"


def _mark(revision: Revision) -> str:
    parts = ["running"] if revision.running else []
    parts += ["<- a failure would return here"] if revision.returns_here else []
    return " ".join(parts)


def _cells(revision: Revision) -> tuple[str, ...]:
    return (
        "?" if revision.number is None else str(revision.number),
        age_words(revision.age_seconds),
        str(revision.pods),
        ", ".join(revision.images),
        revision.change_cause or "-",
    )


def _widths(rows: Sequence[tuple[str, ...]], mark: int, style: Style) -> list[int]:
    """Return the columns' widths: images and change cause share what the others leave."""
    widths = [
        max(columns(style.shown(cell)) for cell in column) for column in zip(*rows, strict=True)
    ]
    fixed = sum(widths[:_NUMERIC]) + len(_GAP) * len(widths) + mark
    room = max(2 * _LEAST_COLUMNS, style.width - fixed)
    images, cause = widths[_NUMERIC:]
    if images + cause > room:
        cause = min(cause, max(_LEAST_COLUMNS, room - images))
        images = min(images, max(_LEAST_COLUMNS, room - cause))
    return [*widths[:_NUMERIC], images, cause]


def _line(row: tuple[str, ...], widths: Sequence[int], style: Style) -> str:
    cells = [style.cut(cell, width) for cell, width in zip(row, widths, strict=True)]
    left = [cell.rjust(width) for cell, width in zip(cells[:_NUMERIC], widths, strict=False)]
    right = [padded(c, w) for c, w in zip(cells[_NUMERIC:], widths[_NUMERIC:], strict=True)]
    return _GAP.join([*left, *right])

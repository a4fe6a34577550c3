"""The table that `history` prints: a Deployment's revisions, latest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gate.report.style import Style, columns, padded

_HEADINGS = ("REVISION", "AGE", "PODS", "IMAGES", "CHANGE CAUSE")
_NUMERIC = 3
"""How many columns, from the left, stand to the right side."""
_GAP = "  "
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"))
_LEAST_COLUMNS = 12
_WIDE = 100
_RETURNS = "<- a failure would return here"
_RETURNS_SHORT = "<- returned to"
_UNDO = "<- undo would return here"
_UNDO_SHORT = "<- undo"


@dataclass(frozen=True, slots=True)
class Revision:
    """One ReplicaSet of a Deployment.

    `number` is None before the controller wrote one; `created_at` is RFC 3339. `running` is true
    of the live template's, `returned_to` of the one that a failure of the next apply would go
    back to since it serves now. Where there is none, `undo_returns` is true of the one that
    `undo` chooses.
    """

    number: int | None
    replica_set: str
    images: tuple[str, ...]
    change_cause: str
    created_at: str
    pods: int
    running: bool
    returned_to: bool
    undo_returns: bool = False

    def document(self) -> dict[str, Any]:
        """Return the JSON object that `history --output json` prints of it."""
        return {
            "revision": self.number,
            "replicaset": self.replica_set,
            "images": list(self.images),
            "change_cause": self.change_cause,
            "created_at": self.created_at,
            "pods": self.pods,
            "running": self.running,
            "returned_to": self.returned_to,
            "undo_returns": self.undo_returns,
        }


def history_table(revisions: Sequence[Revision], now: datetime, style: Style) -> str:
    """Return the revisions as an aligned table, the highest number first, marks to the right.

    What is too long for the stream is cut in the columns of images and change cause, never in the
    marks. `now` has a time zone; ages are counted from it.
    """
    if not revisions:
        return "no revisions\n"
    ordered = sorted(revisions, key=lambda revision: -(revision.number or 0))
    marks = [_mark(revision, wide=style.width >= _WIDE) for revision in ordered]
    rows = [_HEADINGS, *(_cells(revision, now) for revision in ordered)]
    widths = _widths(rows, max(map(columns, marks)), style)
    lines = [_line(row, widths, style) for row in rows]
    marked = (f"{line}{_GAP}{mark}" for line, mark in zip(lines, ["", *marks], strict=True))
    return "\n".join(line.rstrip() for line in marked) + "\n"


def age(created_at: str, now: datetime) -> str:
    """Return an age in its largest unit of which there are two, "?" where it is not known."""
    try:
        created = datetime.fromisoformat(created_at)
    except ValueError:
        return "?"
    if created.tzinfo is None:
        return "?"
    seconds = max(0, int((now - created).total_seconds()))
    for unit, sign in _UNITS:
        if seconds >= 2 * unit:
            return f"{seconds // unit}{sign}"
    return f"{seconds}s"


def _mark(revision: Revision, *, wide: bool) -> str:
    parts = ["running"] if revision.running else []
    if revision.returned_to:
        parts.append(_RETURNS if wide else _RETURNS_SHORT)
    elif revision.undo_returns:
        parts.append(_UNDO if wide else _UNDO_SHORT)
    return " ".join(parts)


def _cells(revision: Revision, now: datetime) -> tuple[str, ...]:
    return (
        "?" if revision.number is None else str(revision.number),
        age(revision.created_at, now),
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
    cells = [
        style.cut_before(cell, width) if column == _NUMERIC else style.cut(cell, width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    left = [cell.rjust(width) for cell, width in zip(cells[:_NUMERIC], widths, strict=False)]
    right = [padded(c, w) for c, w in zip(cells[_NUMERIC:], widths[_NUMERIC:], strict=True)]
    return _GAP.join([*left, *right])

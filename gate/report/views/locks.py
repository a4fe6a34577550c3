"""The table that `locks` prints: who holds what since when."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from gate.core.frozen import dataclass
from gate.report.style.stacked import stack_rows
from gate.report.style.style import Style, columns, pad
from gate.report.views.history import age

_HEADINGS = ("LOCK", "STATE", "SINCE", "HOLDER", "RUN")
_GAP = "  "


@dataclass(frozen=True, slots=True)
class LockRow:
    """One lock; times are RFC 3339.

    `state` is "held", "dead" (its process ran on this machine and is gone), "expired" (by this
    machine's clock), "free", or "released" (somebody gave it back for a run that may still live;
    `holder` names it). `unfinished` is whether an attempt left something that `recover` would
    finish.
    """

    namespace: str
    name: str
    locks: str
    state: str
    holder: str
    run_url: str
    acquired_at: str
    renewed_at: str
    unfinished: bool

    def document(self) -> dict[str, Any]:
        """Return the JSON object that `locks --output json` prints for it."""
        return {
            "namespace": self.namespace,
            "name": self.name,
            "locks": self.locks,
            "state": self.state,
            "holder": self.holder,
            "run_url": self.run_url,
            "acquired_at": self.acquired_at,
            "renewed_at": self.renewed_at,
            "unfinished": self.unfinished,
        }


def locks_table(
    rows: Sequence[LockRow], now: datetime, style: Style, *, with_namespace: bool = False
) -> str:
    """Return the locks as an aligned table; `now` has a time zone, and ages are counted from it.

    If the stream is too narrow for states and holders, each lock gets a block.
    """
    if not rows:
        return "no locks\n"
    table = [_HEADINGS, *(tuple(map(style.printable, _cells(row, now))) for row in rows)]
    if with_namespace:
        namespaces = ["NAMESPACE", *(style.printable(row.namespace) for row in rows)]
        table = [(name, *cells) for name, cells in zip(namespaces, table, strict=True)]
    widths = [max(map(columns, column)) for column in zip(*table, strict=True)]
    if sum(widths[:-1]) + len(_GAP) * (len(widths) - 1) > style.width:
        return "".join(f"{line}\n" for line in stack_rows(table[0], table[1:], style))
    lines = (
        _GAP.join(pad(cell, width) for cell, width in zip(cells, widths, strict=True))
        for cells in table
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _cells(row: LockRow, now: datetime) -> tuple[str, ...]:
    state = f"{row.state}, unfinished" if row.unfinished and row.state != "held" else row.state
    held = row.state != "free"
    since = age(row.acquired_at, now) if held else "-"
    return row.locks, state, since, row.holder if held else "-", row.run_url or "-"

"""The table of docs/reliability.md, made of what a run has written: `python -m tests.faults.page`.

The lines come from `pytest --reliability FILE`; of several for one test the last one counts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.faults.reliability import Line
from tests.faults.rows import ROWS, Row

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- faults: generated -->\n", "<!-- faults: end -->\n"
OPEN = "not shown"
_HEAD = "| # | fault | expected | seen | tests | seconds | requests |\n" + "|---" * 7 + "|\n"


def main() -> None:
    """Put the table of a file's lines into the page."""
    [path] = sys.argv[1:]
    PAGE.write_text(with_table(PAGE.read_text(), table(read(Path(path)))))


def read(path: Path) -> list[Line]:
    """Return the lines of a file."""
    return [Line(**json.loads(text)) for text in path.read_text().splitlines()]


def with_table(page: str, generated: str) -> str:
    """Return the page with another table between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + generated + END + after


def table(lines: Iterable[Line]) -> str:
    """Return how many faults were survived, and a row for each."""
    latest = {(line.fault, line.test): line for line in lines}
    of_row = {row: [line for line in latest.values() if line.fault == row.number] for row in ROWS}
    shown = sum(bool(found) and all(line.passed for line in found) for found in of_row.values())
    rows = "".join(_row(row, found) for row, found in of_row.items())
    return f"\n**{shown} of {len(ROWS)}**\n\n{_HEAD}{rows}\n"


def _row(row: Row, lines: Sequence[Line]) -> str:
    row_text = f"| {row.number} | {row.fault} | {row.expected} "
    if not lines:
        return f"{row_text}| {OPEN} | 0 | | |\n"
    seen = Counter(end for line in lines for end in line.ends)
    failed = [f"{sum(not line.passed for line in lines)} of {len(lines)} failed"]
    ends = [f"{end} ({count})" if count > 1 else end for end, count in seen.most_common()]
    words = (failed if not all(line.passed for line in lines) else []) + ends
    seconds = _range([round(line.seconds) for line in lines])
    requests = _range([line.requests for line in lines])
    return f"{row_text}| {'; '.join(words)} | {len(lines)} | {seconds} | {requests} |\n"


def _range(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least}" if least == most else f"{least} to {most}"


if __name__ == "__main__":
    main()

"""The page of faults: its table is that of the rows, and each row is shown by a test."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

from tests.contract import TIERS
from tests.faults.page import OPEN, PAGE, table
from tests.faults.reliability import Line
from tests.faults.rows import ROWS

LINE = Line(4, "test_one", passed=True, ends=("0 verified",), seconds=3.2, requests=20)


def marked(source: str) -> set[int]:
    """Return the rows that the tests of a file name."""
    if "mark.fault" not in source:
        return set()
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    marks = (call for call in calls if ast.unparse(call.func) == "pytest.mark.fault")
    return {number for mark in marks for number in map(ast.literal_eval, mark.args)}


def shown() -> set[int]:
    """Return the rows that any test names."""
    files = (path for tier in TIERS for path in Path(tier).rglob("test_*.py"))
    return set().union(*(marked(path.read_text(encoding="utf-8")) for path in files))


def rows_of_the_page() -> list[tuple[str, ...]]:
    """Return the cells of each row of the table, as they stand in the page."""
    lines = re.findall(r"^\| (\d+ .*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [tuple(cell.strip() for cell in line.split(" | ")) for line in lines]


def test_the_page_has_every_fault() -> None:
    """Number, fault and expectation are those of the rows, in their order."""
    rows = [(str(row.number), row.fault, row.expected) for row in ROWS]
    assert [cells[:3] for cells in rows_of_the_page()] == rows


def test_the_page_says_that_every_fault_was_shown() -> None:
    """No row is open, none has failed, and the sum is that of the rows."""
    seen = {cells[0]: cells[3] for cells in rows_of_the_page()}
    failed = re.compile(r"\d+ of \d+ failed")
    assert not [row for row, ends in seen.items() if ends == OPEN or failed.match(ends)]
    assert f"**{len(ROWS)} of {len(ROWS)}**" in PAGE.read_text(encoding="utf-8")


def test_every_fault_has_a_test() -> None:
    """A row without a mark in the tests' source would be a claim."""
    missing = {row.number for row in ROWS} - shown()
    assert not missing


def test_a_table_counts_what_was_shown() -> None:
    """A test that failed, or that never ran, is no fault survived."""
    other = replace(LINE, test="test_two", ends=("4 rolled-back", "0 verified"), requests=32)
    made = table([LINE, other])
    assert f"**1 of {len(ROWS)}**" in made
    assert "| 0 verified (2); 4 rolled-back | 2 | 3 | 20 to 32 |" in made
    broken = table([LINE, other, replace(other, passed=False)])
    assert f"**0 of {len(ROWS)}**" in broken
    assert "1 of 2 failed" in broken

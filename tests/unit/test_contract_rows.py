"""The contract page and the tests say the same: each row is shown, each mark is a row."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract import (
    CONTRACT,
    ROOT,
    UnreadableMarkError,
    in_order,
    rows,
    shown_by_tests,
    shown_in,
)

PAGE = CONTRACT.read_text(encoding="utf-8")


def test_every_row_is_shown_by_a_test_and_every_mark_names_a_row() -> None:
    """A promise without a test is not made; the end-to-end tests' marks are checked here too."""
    behaviours, shown = dict(rows(PAGE)), shown_by_tests()
    missing = in_order(behaviours.keys() - shown.keys())
    listing = "\n".join(f"  {row} {behaviours[row]}" for row in missing)
    assert not missing, f"{len(missing)} of {len(behaviours)} rows are shown by no test:\n{listing}"
    unknown = {row: where for row, where in shown.items() if row not in behaviours}
    assert not unknown


def test_every_table_line_is_a_row() -> None:
    """No line of the page escapes the reading: ids are unique, rising, and never malformed."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    ids = [row for row, _ in rows(PAGE)]
    assert len(ids) == len([line for line in lines if not re.match(r"\| (id|---)", line)])
    assert ids == in_order(set(ids))


MARKED = """
pytestmark = [pytest.mark.contract("B1")]
@pytest.mark.contract("B2", "B3")
def test_plain(): ...
@pytest.mark.contract("B4")
class TestMany:
    @pytest.mark.contract("B5")
    def test_inside(self): ...
@pytest.mark.parametrize("case", [pytest.param(1, marks=pytest.mark.contract("B6")), 2])
def test_each(case): ...
CASES = [pytest.param(1, marks=[pytest.mark.slow, pytest.mark.contract("B7")])]
"""


@pytest.mark.parametrize(
    ("source", "shown"),
    [  # sources that are read and never run: the skipped one shows no row
        (MARKED, {"B1", "B2", "B3", "B4", "B5", "B6", "B7"}),
        ('@pytest.mark.contract("B1")\n@pytest.mark.skip("later")\ndef test_it(): ...\n', set()),
        ("def test_it():\n    'pytest.mark.contract(\"B1\")'\n", set()),
    ],
    ids=["wherever pytest honours a mark", "skipped", "a text"],
)
def test_marks_are_read_where_they_count(source: str, shown: set[str]) -> None:
    """Tests, classes, modules and parameters have marks; skipping a test takes its rows away."""
    assert shown_in(source) == shown


@pytest.mark.parametrize(
    "source",
    [
        "@pytest.mark.contract(ROW)\ndef test_it(): ...",
        "@pytest.mark.contract(*ROWS)\ndef test_it(): ...",
        '@pytest.mark.contract("B1")\ndef helper(): ...',
    ],
    ids=["a name", "unpacked", "no test"],
)
def test_a_mark_that_cannot_be_read_is_an_error(source: str) -> None:
    """A mark that the source does not spell out would count for nothing unseen."""
    with pytest.raises(UnreadableMarkError):
        shown_in(source)


@pytest.mark.long
@pytest.mark.parametrize(
    ("mark", "ends_with"),
    [('contract("B1")', 0), ('contract("B0")', 4), ("contract()", 4)],
)
def test_an_unknown_row_ends_the_collection(tmp_path: Path, mark: str, ends_with: int) -> None:
    """Running the tests ends at a mark whose row the page does not have."""
    test = tmp_path / "test_marked.py"
    test.write_text(f"import pytest\n@pytest.mark.{mark}\ndef test_it(): pass\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-p", "tests.contract", str(test)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert run.returncode == ends_with, run.stdout + run.stderr
    assert ("is no row of docs/contract.md" in run.stderr) == (ends_with != 0)

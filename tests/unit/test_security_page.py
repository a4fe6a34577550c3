"""docs/security.md names a control and its tests for each threat, and the tests exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if re.match(r"\| T\d+ \|", line)]


def functions_of(path: Path) -> set[str]:
    """Return the names of a file's test functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {node.name for node in found if node.name.startswith("test_")}


def test_every_row_names_tests_that_exist() -> None:
    """A file with all of its tests (`*`), or one of them."""
    for row in ROWS:
        named = re.findall(r"`(tests/[^`]+)::([^`]+)`", row)
        assert named, row
        for file, name in named:
            found = functions_of(ROOT / file)
            assert found if name == "*" else name in found, f"{file}::{name}"


def test_every_threat_is_there_once_and_in_order() -> None:
    """None of the twenty is left out."""
    numbers = [int(re.match(r"\| T(\d+)", row)[1]) for row in ROWS]  # type: ignore[index]
    assert numbers == [*range(1, 21)]

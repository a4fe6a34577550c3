"""What the documentation quotes of a screen stands there, in that order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.screens.write import path_of

DOCS = Path(__file__).resolve().parents[2] / "docs"
QUOTE = re.compile(
    r"<!-- screen (?P<name>\S+) -->\n```\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL
)


def iter_quotes() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each screen that is quoted, with the lines that are."""
    for path in sorted(DOCS.glob("*.md")):
        for found in QUOTE.finditer(path.read_text(encoding="utf-8")):
            yield found["name"], [line for line in found["text"].splitlines() if line != "..."]


def test_each_quoted_line_stands_on_its_screen() -> None:
    """A screen that changes takes the documentation with it."""
    quotes = list(iter_quotes())
    assert {name for name, _ in quotes} >= {"kinds-stateful-set-blocked", "kinds-job-failed"}
    for name, lines in quotes:
        shown = iter(path_of(name).read_text(encoding="utf-8").splitlines())
        missing = [line for line in lines if line not in shown]
        assert not missing, (name, missing)

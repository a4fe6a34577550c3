"""The pages name files of this repository that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/**/README.md")])
NAMED = re.compile(r"`((?:gate|tests|docs|examples)/[\w./-]+?)/?(?:::\w+)?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    """A move leaves no page behind."""
    gone = [name for name in NAMED.findall(page.read_text()) if not (ROOT / name).exists()]
    assert not gone


def test_the_pages_name_files() -> None:
    """The pattern finds what it is to look at."""
    found = [name for page in PAGES for name in NAMED.findall(page.read_text())]
    assert "gate/core/steps/step.py" in found

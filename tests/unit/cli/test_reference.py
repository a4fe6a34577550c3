"""docs/cli.md is made of the declarations."""

from __future__ import annotations

from pathlib import Path

from gate.cli.reference import reference

PAGE = Path(__file__).resolve().parents[3] / "docs" / "cli.md"


def test_the_published_reference_is_this_one() -> None:
    """`python -m gate.cli.reference > docs/cli.md` changes nothing."""
    assert PAGE.read_text(encoding="utf-8") == reference()

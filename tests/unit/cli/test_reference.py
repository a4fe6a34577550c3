"""docs/cli.md is made of the declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.cli.exit_codes import MEANINGS, table
from gate.cli.reference import reference
from gate.config.fail_fast import DEFAULTS
from gate.core.model.outcome import Outcome

PAGE = Path(__file__).resolve().parents[3] / "docs" / "cli.md"


def test_the_published_reference_is_this_one() -> None:
    """`python -m gate.cli.reference > docs/cli.md` changes nothing."""
    assert PAGE.read_text(encoding="utf-8") == reference()


@pytest.mark.contract("B37")
def test_the_readme_says_of_each_exit_code_what_runs_and_what_to_do() -> None:
    """One table, in README.md and docs/cli.md; no outcome that a pipeline can see is left out."""
    rows = "\n".join(table())
    for page in ("README.md", "docs/cli.md"):
        assert rows in Path(page).read_text(encoding="utf-8")
    elsewhere = {Outcome.APPLIED, Outcome.OBSERVED, Outcome.INTERRUPTED}
    assert MEANINGS.keys() | elsewhere == set(Outcome)


def test_the_defaults_of_fail_fast_are_those_of_the_policy() -> None:
    """They stand in docs/cli.md, made of the policy itself."""
    assert DEFAULTS.startswith("crash=3, readiness-lost=3, image-pull=0s to 5m by cause, ")
    assert DEFAULTS in reference()

"""Every screen is as it stands in `golden/`: what changes a word shows where it is read."""

from __future__ import annotations

import difflib
import inspect

import pytest

from gate.core.model.outcome import Outcome
from tests.screens.write import GOLDEN, SCREENS, path_of, shown

_WITHOUT_A_SCREEN = frozenset({Outcome.INTERNAL_ERROR})
"""It names a line of the program, which moves with every change."""


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_was(name: str) -> None:
    """After a change on purpose: `make screens`, and read the difference."""
    golden = path_of(name).read_text(encoding="utf-8").splitlines()
    found = shown(name).splitlines()
    difference = difflib.unified_diff(
        golden, found, f"golden/{name}.txt", "as it is now", "", "", 2, ""
    )
    if golden != found:
        pytest.fail("\n".join(("the screen has changed; `make screens` takes it:", *difference)))


def test_no_screen_is_left_over() -> None:
    """A screen that nothing plays any more would never be compared."""
    assert {path.stem for path in GOLDEN.iterdir()} == set(SCREENS)


def test_each_outcome_has_a_screen() -> None:
    """The verdict's first line of each is among them."""
    verdicts = [
        line
        for path in GOLDEN.iterdir()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("## ", "::error", "::warning"))
    ]
    missing = [
        outcome.value
        for outcome in Outcome
        if outcome not in _WITHOUT_A_SCREEN
        and not any(outcome.value.replace("-", " ").upper() in line for line in verdicts)
    ]
    assert not missing


def test_a_screen_says_what_it_shows() -> None:
    """Its first line, which is the docstring of what plays it."""
    for name, play in SCREENS.items():
        assert (inspect.getdoc(play) or "").endswith("."), name

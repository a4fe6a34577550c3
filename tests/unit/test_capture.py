"""The tree that README.md shows is one that the demo comes to, word for word."""

from __future__ import annotations

import pytest

from tests.capture.tree import captured, taken


@pytest.mark.long
def test_readme_shows_a_tree_that_there_is() -> None:
    """All of it: heading, Deployment, cause, pods, clocks; `make capture` takes it again."""
    assert captured() == taken()

"""What a check as a value holds, wherever it comes from."""

from __future__ import annotations

import math

import pytest

from gate.core.checks.spec import Schedule


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_an_interval_without_ticks_is_a_bug_of_its_maker(seconds: float) -> None:
    """The ticks of a check come one after another; what people write is refused before."""
    with pytest.raises(ValueError, match="not an interval"):
        Schedule(seconds)

"""Numbers and percentages of rolling updates."""

from __future__ import annotations

import pytest

from sandbox.objects.validation.names import percent
from sandbox.objects.validation.workload import amount_of


@pytest.mark.parametrize(
    ("value", "amount"), [(3, 3), ("25%", 25), ("25", 25), ("x%", 0), ("²", 0), ("٣%", 0)]
)
def test_an_amount_is_what_its_digits_say(value: int | str, amount: int) -> None:
    """Digits of other alphabets are none."""
    assert amount_of(value) == amount


def test_an_amount_may_be_beyond_all_bounds() -> None:
    """It counts as a very large one, and as a percentage is refused."""
    assert amount_of("9" * 5000) > 100
    assert percent("9" * 5000 + "%")

"""Counts and shares, as Kubernetes scales them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.core.model.int_or_percent import Share


@pytest.mark.contract("B181")
@pytest.mark.parametrize(
    ("value", "share"),
    [
        (3, Share(3)),
        ("3", Share(3)),
        (" 3 ", Share(3)),
        (0, Share(0)),
        ("25%", Share(25, percent=True)),
        ("150%", Share(150, percent=True)),
        (2**31 - 1, Share(2**31 - 1)),
    ],
)
def test_counts_and_shares_are_read(value: int | str, share: Share) -> None:
    """`3` is a count, `25%` a share; a Deployment's maxSurge may be over 100 %."""
    assert Share.parse(value) == share
    assert Share.parse(str(share)) == share


@pytest.mark.contract("B181")
@pytest.mark.parametrize("value", ["", "-1", "25 %", "%", "2.5", "50%%", "٣", "1e3", -1, 2**31])
def test_anything_else_is_a_value_error(value: int | str) -> None:
    """The message names the value and shows both forms."""
    with pytest.raises(ValueError, match=r"is neither a count \(3\) nor a share \(25%\)$"):
        Share.parse(value)


@pytest.mark.parametrize(
    ("value", "total", "up", "down"),
    [("25%", 4, 1, 1), ("25%", 5, 2, 1), ("25%", 1, 1, 0), ("0%", 9, 0, 0), (3, 2, 3, 3)],
)
def test_shares_round_as_the_deployment_controller_does(
    value: int | str, total: int, up: int, down: int
) -> None:
    """A surge is rounded up, what may be unavailable down, and a count is itself."""
    share = Share.parse(value)
    assert share.of(total, round_up=True) == up
    assert share.of(total, round_up=False) == down


@given(st.integers(0, 10**6), st.integers(0, 2**31 - 1))
def test_rounding_is_exact(percent: int, total: int) -> None:
    """Up and down differ by one exactly where the share is no whole number of pods."""
    share = Share(percent, percent=True)
    up, down = share.of(total, round_up=True), share.of(total, round_up=False)
    assert down * 100 <= percent * total <= up * 100
    assert up - down == (percent * total % 100 != 0)

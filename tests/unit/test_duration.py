"""Durations: what is read, what is refused, and how they are written for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.duration import MOST_SECONDS, format_seconds, parse_seconds
from gate.errors import UsageError


@pytest.mark.contract("B181")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("600", 600.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("90s", 90.0),
        ("2.5s", 2.5),
        ("10m", 600.0),
        ("1h30m", 5400.0),
        ("1h5s", 3605.0),
        ("2h0m1s", 7201.0),
        (" 90s ", 90.0),
        ("720h", MOST_SECONDS),
    ],
)
def test_durations_are_seconds_or_hours_minutes_seconds(text: str, seconds: float) -> None:
    """A bare number is seconds; units stand in the order h, m, s, each at most once."""
    assert parse_seconds(text) == seconds


@pytest.mark.contract("B181")
@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "-1", "+5", "10 minutes", "10 m", "nan", "inf", "1e3", "s", "h", "500ms", "1d"),
        *("1m1h", "1m1m", "1.5h", ".5", "5.", "1,5", "1h30", "٣s", "0x10", "1_000", "10M"),
    ],
)
def test_anything_else_is_a_usage_error_with_the_forms(text: str) -> None:
    """What is no duration is named, and the hint shows the forms."""
    with pytest.raises(UsageError) as refused:
        parse_seconds(text)
    assert refused.value.message == f"not a duration: {text!a}"
    assert refused.value.hint == "durations are seconds (600, 1.5) or like 90s, 10m, 1h30m"


@pytest.mark.parametrize("text", ["721h", "2592000.1", "9" * 400, "9" * 400 + "h"])
def test_more_than_thirty_days_is_refused(text: str) -> None:
    """A number that no rollout takes is a slip, also where it overflows a float."""
    with pytest.raises(UsageError, match=r"^too long a duration: .* is more than 30 days$"):
        parse_seconds(text)


def test_an_error_is_one_short_line_without_control_characters() -> None:
    """The text of a variable can be anything; its error stays one line."""
    with pytest.raises(UsageError) as refused:
        parse_seconds("\x1b[31m\n::error::" * 100)
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 200


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.04, "0s"),
        (0.25, "0.2s"),
        (2.5, "2.5s"),
        (12.0, "12s"),
        (59.94, "59.9s"),
        (59.96, "1m"),
        (90, "1m30s"),
        (3599.7, "1h"),
        (3605, "1h5s"),
        (5400.4, "1h30m"),
        (-90, "-1m30s"),
    ],
)
def test_durations_for_people(seconds: float, text: str) -> None:
    """Tenths below a minute, whole seconds above, and no part that is zero."""
    assert format_seconds(seconds) == text


@given(st.floats(min_value=0, max_value=MOST_SECONDS - 1))
def test_what_is_written_can_be_read(seconds: float) -> None:
    """Writing and reading again is the same duration, to the precision that is shown."""
    precision = 0.051 if seconds < 60 else 0.501
    assert parse_seconds(format_seconds(seconds)) == pytest.approx(seconds, abs=precision)

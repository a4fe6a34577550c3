"""Widths, encodings and hostile characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gate.report.style.style import Style, columns, pad

ANY_TEXT = st.text(alphabet=st.characters(), max_size=200)


def test_wide_and_combining_characters_count_as_a_terminal_shows_them() -> None:
    """火 takes two columns, a combining accent none."""
    assert columns("abc") == 3
    assert columns("火") == 2
    assert columns("e\u0301") == 1
    assert pad("火", 4) == "火  "


def test_a_cut_line_says_that_it_was_cut() -> None:
    """The sign of the cut is part of the width."""
    assert Style(width=8).cut("0123456789") == "0123456…"
    assert Style(width=8, encoding="ascii").cut("0123456789") == "01234..."
    assert Style(width=8).cut("01234567") == "01234567"


def test_wrapping_breaks_at_spaces_and_cuts_the_last_line() -> None:
    """Words stay whole where they fit."""
    assert Style().wrap("one two three four", 9, 3) == ["one two", "three", "four"]
    assert Style().wrap("one two three four", 9, 2) == ["one two", "three fo…"]
    assert Style().wrap("x" * 12, 5, 2) == ["xxxxx", "xxxx…"]
    assert Style().wrap("", 5, 2) == [""]


@given(ANY_TEXT, st.sampled_from(["utf-8", "ascii", "latin-1"]))
def test_whatever_is_shown_prints_and_encodes(text: str, encoding: str) -> None:
    """No character reaches a stream that moves its cursor or breaks its codec."""
    shown = Style(encoding=encoding).printable(text)
    assert shown.isprintable()
    shown.encode(encoding)


@given(ANY_TEXT, st.integers(min_value=4, max_value=60), st.integers(min_value=1, max_value=5))
def test_wrapped_lines_are_few_and_fit(text: str, width: int, lines: int) -> None:
    """For any text, width and number of lines."""
    found = Style().wrap(text, width, lines)
    assert 1 <= len(found) <= lines
    assert all(columns(line) <= width for line in found)

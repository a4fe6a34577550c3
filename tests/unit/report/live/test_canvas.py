"""What a terminal is sent: the picture stands at its end, the lines above it stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.report.live.canvas import Canvas, Painted
from tests.unit.report.live.screens import Screen


def picture(*lines: str) -> tuple[Painted, ...]:
    """Return lines in red."""
    return tuple(Painted(f"\x1b[31m{line}\x1b[0m", len(line)) for line in lines)


class Shown:
    """A canvas and the screen that it paints on, which cuts lines that get too long."""

    def __init__(self, columns: int = 40, rows: int = 10) -> None:
        self.canvas = Canvas(reflows=False)
        self.screen = Screen(columns, rows)

    def paint(self, above: str, *lines: str) -> str:
        """Paint, and return what was sent."""
        size = (self.screen.screen.columns, self.screen.screen.lines)
        sent = self.canvas.paint_picture(above, picture(*lines), *size)
        self.screen.feed(sent)
        return sent


@pytest.mark.contract("B632")
def test_only_what_differs_is_sent() -> None:
    """Nothing where nothing differs; one line where one does."""
    shown = Shown()
    shown.paint("", "one", "two", "three")
    assert shown.paint("", "one", "two", "three") == ""
    sent = shown.paint("", "one", "2", "three")
    assert "2" in sent
    assert "one" not in sent
    assert "three" not in sent
    assert shown.screen.lines == ["one", "2", "three"]


@pytest.mark.contract("B634")
def test_without_a_picture_text_is_sent_as_it_is() -> None:
    """Not a control sequence more, nor a carriage return."""
    assert Canvas().paint_picture("one\ntwo\n", (), 80, 24) == "one\ntwo\n"
    assert Canvas().paint_picture("", (), 80, 24) == ""


@pytest.mark.contract("B638")
def test_a_line_that_is_wider_than_it_says_breaks_nothing() -> None:
    """It is cut at the margin."""
    shown = Shown(columns=20)
    wide = (Painted("界" * 15, 15), Painted("below", 5))
    shown.screen.feed(shown.canvas.paint_picture("above\n", wide, 20, 10))
    assert len(shown.screen.lines) == 3
    assert (shown.screen.lines[0], shown.screen.lines[2]) == ("above", "below")
    assert shown.screen.is_whole


@pytest.mark.contract("B635")
@pytest.mark.parametrize("columns", [25, 60])
def test_a_window_of_another_width_is_painted_again(columns: int) -> None:
    """In full, where the old picture stood."""
    shown = Shown(columns=40)
    shown.paint("event\n", "one" * 10, "two")
    shown.screen.resize(columns, 10)
    shown.paint("", "1", "2")
    assert shown.screen.lines == ["event", "1", "2"]


@pytest.mark.contract("B635")
def test_a_terminal_that_breaks_lines_again_is_known_for_it() -> None:
    """A picture of 30 and 5 columns takes four rows on 12 columns."""
    canvas = Canvas(reflows=True)
    canvas.paint_picture("", picture("x" * 30, "y" * 5), 40, 10)
    assert "\r\x1b[4A" in canvas.paint_picture("", picture("1", "2"), 12, 10)
    canvas.paint_picture("", picture("x" * 11, "y"), 12, 10)
    assert "\r\x1b[2A" in canvas.paint_picture("", picture("1", "2"), 40, 10), "wider: lines stay"


def test_it_never_goes_above_the_screen() -> None:
    """Of a window that has become lower than the picture, what has left cannot be reached."""
    canvas = Canvas(reflows=False)
    canvas.paint_picture("", picture(*"abcdef"), 40, 10)
    assert "\r\x1b[2A" in canvas.paint_picture("", picture("a"), 40, 3)


STEPS = st.lists(
    st.tuples(
        st.lists(st.text("ab ", min_size=1, max_size=50), max_size=3),
        st.lists(st.text("xyz", min_size=1, max_size=39), max_size=8),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.contract("B633", "B636")
@given(STEPS)
def test_whatever_is_painted_the_screen_shows_it(steps: list[tuple[list[str], list[str]]]) -> None:
    """All lines that were said, in their order, and below them the latest picture."""
    shown, said = Shown(columns=60, rows=12), []
    for lines, rows in steps:
        said += [line.rstrip() for line in lines]
        shown.paint("".join(f"{line}\n" for line in lines), *rows)
        everything = shown.screen.everything
        expected = [*said, *rows]
        while expected and not expected[-1]:
            expected.pop()
        assert everything == expected
        assert shown.screen.is_whole

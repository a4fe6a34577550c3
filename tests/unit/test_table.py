"""One test of a table of cases: none is left out, and a failure names its cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.table import EmptyTableError, check_each, each

WORDS = [("one", 3), ("two", 4), ("three", 5), ("four", 5)]


def of(word: str, length: int, tmp_path: Path) -> None:
    """Hold the word's length, and leave a trace in the fixture."""
    (tmp_path / word).touch()
    assert len(word) == length


def test_what_fails_is_named_and_the_rest_is_still_gone_through(tmp_path: Path) -> None:
    """With its values, or what it is called."""
    as_they_look = each(("word", "length"), WORDS)(of)
    with pytest.raises(ExceptionGroup, match=r"2 of 4 cases: \('two', 4\), \('four', 5\)"):
        as_they_look(tmp_path=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {word for word, _ in WORDS}
    as_called = each(("word", "length"), WORDS, ids=lambda case: case[0].upper())(of)
    with pytest.raises(ExceptionGroup, match="2 of 4 cases: TWO, FOUR") as failed:
        as_called(tmp_path=tmp_path)
    problems = [str(error) for error in failed.value.exceptions]
    assert ["assert 3 == 4" in problems[0], "assert 4 == 5" in problems[1]] == [True, True]
    assert failed.value.exceptions[0].__notes__ == ["in the case TWO"]


def test_an_error_and_what_did_not_raise_are_failures_too() -> None:
    """Whatever would fail a test of its own."""

    def check(divisor: int) -> None:
        with pytest.raises(ZeroDivisionError):
            assert 1 / divisor
        if divisor == 0:
            raise OSError

    with pytest.raises(BaseExceptionGroup, match="2 of 2 cases: zero, one") as failed:
        check_each(check, [("zero", 0), ("one", 1)])
    assert [type(error) for error in failed.value.exceptions] == [OSError, pytest.fail.Exception]


def test_a_table_without_cases_fails() -> None:
    """It would show nothing."""
    with pytest.raises(EmptyTableError):
        check_each(print, [])


@each("word", ["a", "bc"])
def test_a_case_of_one_name_is_its_value(word: str, request: pytest.FixtureRequest) -> None:
    """All cases are one item, whose fixtures are what is no name of theirs."""
    assert word in {"a", "bc"}
    assert request.node.name == "test_a_case_of_one_name_is_its_value"
    assert "word" not in request.fixturenames

"""A table of cases that one test goes through.

What pytest does for an item takes longer than a short case. In one test every case still runs, and
a failure names each case that fails, as a test of its own would.
"""

from __future__ import annotations

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")
Test = Callable[..., None]

in_short = reprlib.Repr()
in_short.maxstring = in_short.maxother = 80


class EmptyTableError(Exception):
    """A table without a case, which would pass whatever the code does."""


def each(
    names: str | tuple[str, ...],
    cases: Iterable[Any],
    ids: Callable[[Any], str] = in_short.repr,
) -> Callable[[Test], Test]:
    """Make one test that goes through all cases, where `parametrize` makes a test of each.

    A case is the value of one name or a tuple of as many as there are names; `ids` gives what it
    is called. Other parameters are fixtures, which the cases share: what one case changes in them,
    the next one has. A skip skips the table. Fails as `check_each`.
    """
    keys = (names,) if isinstance(names, str) else names
    rows = [(case,) if isinstance(names, str) else case for case in cases]

    def of_all(test: Test) -> Test:
        @functools.wraps(test)
        def through(**fixtures: Any) -> None:
            check_each(
                lambda row: test(**dict(zip(keys, row, strict=True)), **fixtures),
                [(ids(row[0] if isinstance(names, str) else row), row) for row in rows],
            )

        asked = inspect.signature(test)
        fixtures = [given for name, given in asked.parameters.items() if name not in keys]
        through.__signature__ = asked.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return through

    return of_all


def check_each(check: Callable[[T], None], cases: Iterable[tuple[str, T]]) -> None:
    """Check every case, given with what it is called.

    Raises the failures as one group, whose message names the cases, and `EmptyTableError` where
    there are none.
    """
    count, failed = 0, list[str]()
    failures: list[BaseException] = []
    for name, case in cases:
        count += 1
        try:
            check(case)
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001 - told at the end
            failure.add_note(f"in the case {name}")
            failed.append(name)
            failures.append(failure)
    if not count:
        raise EmptyTableError
    if failures:
        summary = f"{len(failed)} of {count} cases: {', '.join(failed)}"
        raise BaseExceptionGroup(summary, failures)

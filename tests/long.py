"""Which tests wait to be asked for, as a pytest plugin.

What is long by nature (a walk of kills, many races, hours of virtual time, a process on a terminal,
several runs in one), or a variant of what is shown beside it, is marked `long` and left out unless
`--long` is given. On the real control plane the variants alone are: another case of the same test
shows there that the parts fit, and all of them are played in virtual time.
"""

from __future__ import annotations

from functools import partial

import pytest

from tests.bed.fixtures import SANDBOX

longer = partial(pytest.param, marks=[pytest.mark.long, pytest.mark.variant])
"""A case of a parametrized test that waits, as `pytest.param` is one that does not."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let long tests be asked for."""
    what = "run what is marked `long` as well: all of the walks, races, rehearsals and searches"
    parser.addoption("--long", action="store_true", help=what)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that something is left out, and how to have it."""
    mark = _left_out(config)
    return f"{mark} tests: left out (--long runs them)" if mark else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests out that wait, counted as deselected."""
    mark = _left_out(config)
    if mark is None:
        return
    waiting = [item for item in items if item.get_closest_marker(mark) is not None]
    items[:] = [item for item in items if item.get_closest_marker(mark) is None]
    if waiting:
        config.hook.pytest_deselected(items=waiting)


def _left_out(config: pytest.Config) -> str | None:
    """Return the mark of what is left out, None where nothing is."""
    if config.getoption("long"):
        return None
    return "long" if config.getoption("bed") == SANDBOX else "variant"

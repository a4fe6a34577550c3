"""Which of the fast tier's tests wait to be asked for, as a pytest plugin.

What is long by nature (a walk of kills, many races, hours of virtual time, a process on a terminal,
several runs in one), or a variant of what is shown beside it, is marked `long` and left out unless
`--long` is given. On the real control plane none is left out: who starts one has the time.
"""

from __future__ import annotations

from functools import partial

import pytest

from tests.bed.fixtures import SANDBOX

longer = partial(pytest.param, marks=pytest.mark.long)
"""A case of a parametrized test that waits, as `pytest.param` is one that does not."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let long tests be asked for."""
    what = "run what is marked `long` as well: all of the walks, races, rehearsals and searches"
    parser.addoption("--long", action="store_true", help=what)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that something is left out, and how to have it."""
    return "long tests: left out (--long runs them)" if _leaves_out(config) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave long tests out, counted as deselected."""
    if not _leaves_out(config):
        return
    long = [item for item in items if item.get_closest_marker("long") is not None]
    items[:] = [item for item in items if item.get_closest_marker("long") is None]
    if long:
        config.hook.pytest_deselected(items=long)


def _leaves_out(config: pytest.Config) -> bool:
    return not config.getoption("long") and config.getoption("bed") == SANDBOX

"""Diagnostics: which lines are written, in which form, and what never is in them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from gate import log


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Find and leave the log as a fresh process has it: two played gates may leave their facts."""
    with log.bind_facts():
        yield
    log.configure("console", "info")


def stream_of(form: str, level: str = "info", *, quiet: bool = False) -> io.StringIO:
    """Return where the log is written to from now on."""
    stream = io.StringIO()
    log.configure(form, level, quiet=quiet, stream=stream)
    return stream


def written(form: str, level: str, *, quiet: bool = False) -> list[str]:
    """Return the lines that one call of each level leaves."""
    stream = stream_of(form, level, quiet=quiet)
    for say in (log.debug, log.info, log.warning, log.error):
        say("reconnecting", after_seconds=2)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize(
    ("level", "quiet", "levels"),
    [
        ("debug", False, ["debug", "info", "warning", "error"]),
        ("warning", False, ["warning", "error"]),
        ("debug", True, ["error"]),
    ],
)
def test_lines_below_the_level_are_not_written(level: str, quiet: bool, levels: list[str]) -> None:
    """Quiet is errors alone, whatever the level."""
    lines = written("console", level, quiet=quiet)
    assert lines == [f"{name}: reconnecting (after_seconds=2)" for name in levels]


@pytest.mark.contract("B174")
def test_json_is_one_object_a_line() -> None:
    """With the level, the time, and the facts in their types."""
    (line,) = written("json", "error")
    record: dict[str, Any] = json.loads(line)
    at = record.pop("at")
    assert at.endswith("Z")
    assert record == {"level": "error", "event": "reconnecting", "after_seconds": 2}


@pytest.mark.contract("B621")
def test_every_json_line_says_of_which_run_it_is() -> None:
    """Time, level and event first; what is not known is left out; afterwards it is as before."""
    with log.bind_facts(run="shop/web/42", attempt="5f0c", trace_id="", span_id=""):
        with log.bind_facts(attempt="inner"):
            (inner,) = written("json", "error")
        (line,) = written("json", "error")
        assert written("console", "error") == ["error: reconnecting (after_seconds=2)"]
    record = json.loads(line)
    assert [*record] == ["at", "level", "event", "run", "attempt", "after_seconds"]
    assert (record["run"], record["attempt"]) == ("shop/web/42", "5f0c")
    assert json.loads(inner)["attempt"] == "inner"
    assert "run" not in json.loads(written("json", "error")[0])


@pytest.mark.contract("B621")
def test_what_people_are_told_stands_in_the_place_of_the_event() -> None:
    """In JSON both are there."""
    for form, expected in (("console", "warning: mind the gap (n=1)"), ("json", "mind the gap")):
        stream = stream_of(form)
        log.warning("gap", text="mind the gap", n=1)
        said = stream.getvalue().strip()
        assert (json.loads(said)["text"] if form == "json" else said) == expected


@pytest.mark.contract("B252")
@pytest.mark.parametrize("form", ["console", "json"])
def test_what_looks_like_a_credential_is_hidden(form: str) -> None:
    """By its key, and inside a message of a library."""
    stream = stream_of(form)
    log.info("failed", bearer_token="hunter2", why="401 for Bearer hunter2 at https://me:hunter2@x")
    assert "hunter2" not in stream.getvalue()
    assert "401 for Bearer ***" in stream.getvalue()


def test_a_line_stays_one_line_and_is_bounded() -> None:
    """Control characters are escaped, and a whole answer in an error is cut."""
    stream = stream_of("console")
    log.info("odd\n\x1b[31m", why="x" * 10_000)
    (line,) = stream.getvalue().splitlines()
    assert "\x1b" not in line
    assert len(line) < 2_100


def test_a_stream_that_fails_changes_nothing() -> None:
    """A closed stderr is no reason to end a rollout."""
    stream = io.StringIO()
    stream.close()
    log.configure("console", "info", stream=stream)
    log.error("unheard")


def test_structlog_is_loaded_by_the_first_line_alone() -> None:
    """A run that has nothing to say does not pay for it."""
    program = """
import sys
from gate import log
log.configure("json", "warning")
log.info("nothing")
assert "structlog" not in sys.modules
log.warning("something")
assert "structlog" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert b"something" in done.stderr

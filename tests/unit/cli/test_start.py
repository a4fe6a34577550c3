"""The program as a process: what `--help` costs, and streams that are closed or full."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gate.cli.catalog import COMMANDS
from tests.long import longer

ROOT = Path(__file__).resolve().parents[3]
GATE = [sys.executable, "-m", "gate"]


def shell(script: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `$GATE` is the program."""
    return subprocess.run(
        ["/bin/sh", "-c", script],
        env={"GATE": " ".join(GATE), "PATH": "/usr/bin:/bin"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.contract("B202")
def test_help_loads_click_and_eight_small_modules() -> None:
    """All else waits for the command that needs it; each command is listed all the same."""
    program = """
import json, sys
from gate.cli.main import run
assert run(["--help"]) == 0
json.dump(sorted(sys.modules), sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stderr))
    ours = {name for name in loaded if name.split(".")[0] == "gate"}
    assert ours == {"gate", "gate.cli", *(f"gate.{name}" for name in STARTING)}
    heavy = {"pydantic", "yaml", "kubernetes", "requests", "structlog", "rich", "msgspec"}
    assert not heavy & {name.split(".")[0] for name in loaded}
    assert not {"asyncio", "email", "http", "logging", "multiprocessing", "socket", "ssl"} & loaded
    for command, line in COMMANDS.items():
        assert f"  {command} " in done.stdout
        assert line in done.stdout


STARTING = (
    *("cli.main", "cli.call", "cli.catalog", "cli.streams"),
    *("clock", "last_word", "output", "signals"),
)


@pytest.mark.contract("B177")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        longer("$GATE version >&-", 2, id="stdout closed"),
        longer("$GATE version 2>&-", 0, id="stderr closed"),
        pytest.param("$GATE version <&- >&- 2>&-", 2, id="all closed"),
        pytest.param("$GATE version >/dev/full", 2, id="stdout full"),
        longer("$GATE zzz 2>/dev/full", 2, id="stderr full"),
        pytest.param("$GATE zzz 2>&-", 2, id="stderr closed, usage error"),
        longer("$GATE status -o json >&-", 2, id="stdout closed, document"),
        longer("{ sleep 0.2; $GATE schema config; echo $? >&2; } | true", 0, id="reader gone"),
    ],
)
def test_a_stream_that_is_closed_or_full_changes_no_code(script: str, code: int) -> None:
    """Nor does it end in a traceback."""
    done = shell(script)
    if "echo $?" in script:
        assert done.stderr == f"{code}\n"
    else:
        assert done.returncode == code
        assert "Traceback" not in done.stderr


@pytest.mark.contract("B177")
@pytest.mark.parametrize(
    ("stdout", "why"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_what_stdout_refuses_stands_on_stderr(stdout: str, why: str) -> None:
    """With the reason before it; a command that only tells has then failed."""
    output = shell("$GATE version").stdout
    done = shell(f"$GATE version {stdout}")
    assert done.stderr == f"warning: stdout: {why}; it was to hold:\n{output}"
    assert done.returncode == 2


@pytest.mark.long
def test_text_that_the_encoding_does_not_have_is_replaced() -> None:
    """An ASCII terminal gets escapes, not an error."""
    done = shell("PYTHONIOENCODING=ascii $GATE apply --zzz-é")
    assert done.returncode == 2
    assert "\\xe9" in done.stderr


@pytest.mark.long
def test_output_through_a_pipe_is_whole() -> None:
    """What is written last arrives, although the process ends right after it."""
    done = shell("$GATE schema config | tail -n 1")
    assert done.stdout == "}\n"

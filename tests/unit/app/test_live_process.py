"""The program on a terminal: what its screen shows, and how it leaves it."""

from __future__ import annotations

import functools
import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Manifest
from tests.unit.app.processes import kubeconfig_of
from tests.unit.app.server import Server
from tests.unit.app.terminals import LONGEST_SECONDS, Pty, ended

pytestmark = pytest.mark.long

Launch = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def pty() -> Iterator[Pty]:
    """Return a terminal of 80 columns and 24 rows."""
    pty = Pty()
    yield pty
    pty.close()


@pytest.fixture
def launch(server: Server, pty: Pty, tmp_path: Path) -> Iterator[Launch]:
    """Return what starts a command on the terminal; version 1 of web serves.

    The first call puts the sandbox on a socket: a test sets its scene before.
    """
    server.put(web())
    started: list[subprocess.Popen[bytes]] = []
    with ExitStack() as stack:
        serve = functools.cache(lambda: stack.enter_context(kubeconfig_of(server, tmp_path)))

        def run(command: str, *arguments: str, **environ: str) -> subprocess.Popen[bytes]:
            about = {"KUBECONFIG": str(serve()), **environ}
            words = (command, "-n", "shop", *arguments)
            started.append(pty.start(*words, folder=tmp_path, environ=about))
            return started[-1]

        yield run
        for process in started:
            ended(process)


def is_steady(lines: list[str]) -> bool:
    """Tell whether a screen shows a rollout of which nothing was heard for a second."""
    return any(re.match(r"no progress .* [1-9]\d*s of", line) for line in lines)


def has(words: str) -> Callable[[list[str]], bool]:
    """Return what tells whether a screen shows words."""
    return lambda lines: any(words in line for line in lines)


def words(text: str) -> str:
    """Return a text without its spaces, wherever it was wrapped."""
    return "".join(text.split())


@pytest.mark.contract("B630", "B636")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_tree_moves_and_a_signal_leaves_the_screen_whole(
    launch: Launch, manifest: Manifest, pty: Pty, number: signal.Signals
) -> None:
    """The tree is gone, the lines and the verdict are there."""
    process = launch("apply", "-f", manifest(web("pending")))
    pty.read_until(is_steady)
    lines = pty.screen.lines
    assert any(line.startswith("── rolling out ──") for line in lines)
    assert any("deployment/web in shop: 0 of 2 new pods available" in line for line in lines)
    assert any(line.startswith("no progress  ") for line in lines)
    process.send_signal(number)
    assert pty.read_to_the_end(process) == 128 + number
    assert pty.screen.is_whole
    shown = "\n".join(pty.screen.everything)
    assert "INTERRUPTED" in shown
    assert "──" not in shown
    assert "\x1b[?1049" not in pty.sent, "the screen is the usual one all the time"
    assert "\x1b[?25l" not in pty.sent, "and the cursor is visible all the time"


@pytest.mark.contract("B633")
@pytest.mark.parametrize("options", [[], ["--plain"]], ids=["tree", "plain"])
def test_after_the_end_it_stands_there_as_off_a_terminal(
    launch: Launch, manifest: Manifest, pty: Pty, options: list[str]
) -> None:
    """Each line of the timeline in its order, then the verdict, and nothing of the tree."""
    crashing = Path(manifest(web("crash")))
    report = crashing.with_name("report.json")
    applying = ("apply", "-f", str(crashing), "--report", f"json={report}")
    process = launch(*applying, *options)
    assert pty.read_to_the_end(process) == 4
    result = json.loads(report.read_text(encoding="utf-8"))
    shown, place = words("".join(f"{line:80}" for line in pty.screen.everything)), 0
    for line in result["timeline"]:
        place = shown.index(words(f"{line['event']} {line['message']}"), place)
    verdict = verdict_text(result, Style(width=80))
    assert "\n".join(pty.screen.everything).endswith(f"\n{verdict.rstrip()}")
    assert shown.index(words("ROLLED BACK (exit 4)")) > place
    assert "──" not in shown


@pytest.mark.contract("B635", "B631")
def test_a_window_that_changes_its_size_gets_a_tree_that_fits(
    launch: Launch, manifest: Manifest, pty: Pty
) -> None:
    """At once, narrower, lower and wide again; of the old tree nothing is left."""
    process = launch("apply", "-f", manifest(web("pending")))
    pty.read_until(has("deployment/web in shop"))
    for columns, rows in ((40, 24), (40, 8), (120, 30)):
        pty.resize(columns, rows)
        name = "deployment/web:" if columns < 64 else "deployment/web in shop:"
        width = columns - 1

        def fits(lines: list[str], name: str = name, width: int = width) -> bool:
            headed = any(line.startswith("── ") and len(line) == width for line in lines)
            return headed and has(name)(lines) and has("in all")(lines)

        pty.read_until(fits)
        tree = [line for line in pty.screen.lines if "──" in line or "deployment/web" in line]
        assert sum(line.startswith("── ") for line in tree) == 1
        assert len(pty.screen.lines) < rows
    process.send_signal(signal.SIGINT)
    assert pty.read_to_the_end(process) == 130
    assert pty.screen.is_whole


@pytest.mark.contract("B637")
@pytest.mark.parametrize("how", ["stop", "fill"])
@pytest.mark.parametrize("options", [[], ["--plain"]], ids=["tree", "plain"])
def test_a_terminal_that_takes_nothing_delays_nothing(
    launch: Launch,
    manifest: Manifest,
    pty: Pty,
    how: str,
    options: list[str],
) -> None:
    """The version is rolled back, the reports are written, the process ends with its code."""
    getattr(pty, how)()
    crashing = Path(manifest(web("crash")))
    report = crashing.with_name("report.txt")
    crashes = ("-f", str(crashing), "--report", f"text={report}")
    process = launch("apply", *crashes, *options)
    assert process.wait(LONGEST_SECONDS) == 4
    assert "ROLLED BACK (exit 4)" in report.read_text(encoding="utf-8")


@pytest.mark.contract("B639")
@pytest.mark.parametrize(("has_seen_enough", "code"), [(False, 0), (True, 130)])
def test_status_shows_the_tree_while_it_watches(
    launch: Launch, server: Server, pty: Pty, has_seen_enough: bool, code: int
) -> None:
    """At the end, by itself or by Ctrl-C, the tree that `status` prints stays, and nothing else."""
    server.put(web("slow", replicas=1), settles=False)
    process = launch("status", "web", "--watch")
    pty.read_until(has("── progressing ──"))
    if has_seen_enough:
        process.send_signal(signal.SIGINT)
    assert pty.read_to_the_end(process) == code
    assert pty.screen.is_whole
    shown = pty.screen.everything
    assert not any("──" in line for line in shown)
    verdict = "progressing:" if has_seen_enough else "complete:"
    assert [line for line in shown if line.startswith(verdict)]
    assert sum(line.startswith("deployment/web in shop") for line in shown) == 1
    assert not any("written" in line or "error" in line for line in shown)

"""The end of a command: its document, its report files, its exit code, whatever goes wrong."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import pytest

from gate import log
from gate.app import entry
from gate.app.runtime import command_end, end_report
from gate.app.runtime.command_end import Passed, run_command
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import style_of
from gate.app.runtime.end_report import EndReport
from gate.app.runtime.live_tree import LiveTree
from gate.app.runtime.world import Streams, outside
from gate.config import Settings, load
from gate.core.model.outcome import Reason
from gate.errors import RefusedError
from gate.kube.reads.quorum_reads import Reader
from gate.kube.writes.writes import Writer
from gate.report.formats.files import json_text
from gate.report.style.style import Style
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.server import Server

Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what concludes a command that is prepared by a function."""

    def conclude(work: Callable[[CommandStart], Any], **options: Any) -> Ended:
        settings = Settings.of({"output": "json", **options})
        log.configure(settings.log_format, settings.log_level, quiet=settings.quiet)
        code = run_command(outside(), "apply", settings, work)
        return Ended(code, *capsys.readouterr())

    return conclude


LOOKED_AT = {"TERM": "xterm-256color"}
"""The environment of somebody before a terminal."""


def refuse(_start: CommandStart) -> int:
    """Refuse, with a hint."""
    raise RefusedError("nobody is there", reason=Reason.UNREACHABLE, hint="look elsewhere")


def fail(_start: CommandStart) -> int:
    """Meet a bug."""
    raise KeyError("sesame")


# -- endings ---------------------------------------------------------------------------------------


@pytest.mark.contract("B633")
def test_the_tree_is_gone_before_anything_is_reported(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it ends; a report may take its time."""
    tree = create_autospec(LiveTree)
    monkeypatch.setattr(command_end, "live_tree", lambda *_: tree)
    ended_before: list[bool] = []

    def publish(*_: object) -> None:
        ended_before.append(tree.end.called)
        raise InterruptedError

    monkeypatch.setattr(EndReport, "_publish", publish)
    with pytest.raises(InterruptedError):
        run(refuse)
    assert ended_before == [True]


@pytest.mark.contract("B21")
def test_a_bug_is_reported_as_such(run: Run) -> None:
    """Exit 1, one line that says where, and nothing of what the exception held."""
    ended = run(fail)
    document = ended.document
    assert (ended.code, document["outcome"]) == (1, "internal-error")
    assert document["reason"] == "InternalError"
    assert "KeyError in test_command_end.py:" in document["message"]
    assert "this is a bug in rollout-gate" in ended.err
    assert "sesame" not in ended.out + ended.err
    assert "Traceback" not in ended.err


@pytest.mark.contract("B21")
def test_developers_see_the_traceback(run: Run) -> None:
    """With the log level debug."""
    assert "Traceback (most recent call last)" in run(fail, log_level="debug").err


# -- reports ---------------------------------------------------------------------------------------


@pytest.mark.contract("B173", "B177")
def test_reports_are_written(gate: Gate, tmp_path: Path) -> None:
    """Each as it was asked for, also of a refusal; one that cannot be is a warning."""
    reports = ["json=/dev/full", f"json={tmp_path}/a.json", f"text={tmp_path}/a.txt"]
    ended = gate.apply(web(), report=reports)
    assert (ended.code, ended.document["outcome"]) == (0, "verified")
    assert json.loads((tmp_path / "a.json").read_text()) == ended.document
    assert "VERIFIED (exit 0)" in (tmp_path / "a.txt").read_text()
    assert "the report json=/dev/full could not be written: No space left" in ended.err
    gate.apply(web("2", paused=True), report=reports)
    assert json.loads((tmp_path / "a.json").read_text())["outcome"] == "refused"


@pytest.mark.parametrize("broken", ["document", "verdict_text"])
def test_a_bug_of_a_report_does_not_change_the_verdict(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """The exit code is what a pipeline goes by."""
    monkeypatch.setattr(end_report, broken, fail)
    ended = gate.apply(web("crash"), output="text")
    assert ended.code == 6
    assert "the report broke off" in ended.err


def test_a_signal_after_the_verdict_does_not_cut_the_report_off(
    gate: Gate, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes moments to write, and the verdict stands."""

    def slow(result: Any) -> str:
        server.running.send(signal.SIGTERM)
        return json_text(result)

    monkeypatch.setattr(end_report, "json_text", slow)
    ended = gate.apply(web())
    assert (ended.code, ended.document["outcome"]) == (0, "verified")


@pytest.mark.contract("B174")
def test_stderr_can_be_json_to_the_last_line(gate: Gate, server: Server) -> None:
    """Timeline, warnings and the refusal are objects, one a line."""
    warned = gate.preflight(web("latest"), log_format="json")
    first, *others = [json.loads(line) for line in warned.err.splitlines()]
    assert (first["event"], first["level"]) == ("cluster", "info")
    assert first["at_seconds"] >= 0
    assert "warning" in {line["level"] for line in others}
    server.put(web())
    server.change({"spec": {"paused": True}})
    ended = gate.apply(web("2"), log_format="json")
    last = json.loads(ended.err.splitlines()[-1])
    assert (last["level"], last["reason"], last["exit_code"]) == ("error", "Paused", 3)
    assert (last["event"], last["text"]) == ("refused", "deployment/web is paused")


# -- bugs in adapters ------------------------------------------------------------------------------


@pytest.mark.contract("B21")
@pytest.mark.parametrize("adapter", [Reader, Writer])
def test_a_bug_in_an_adapter_ends_the_attempt(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, adapter: type
) -> None:
    """Nobody waits for ever; what was written, or may have been, is named."""

    def perform(*_: object) -> None:
        raise AttributeError("sesame")

    monkeypatch.setattr(adapter, "perform", perform)
    ended = gate.apply(web())
    document = ended.document
    assert (ended.code, document["reason"]) == (1, "InternalError"), ended.err
    assert "AttributeError in test_command_end.py" in document["message"]
    said = "stopped after writes to deployment/web: these objects stay as they are"
    assert said in document["warnings"]
    assert document["timeline"][0]["event"] == "cluster"


@pytest.mark.contract("B21")
def test_a_bug_that_ends_a_thread_is_told() -> None:
    """A watch is a hint: the attempt goes on by its reads, and no traceback is shown."""
    before = threading.excepthook

    def work(_start: CommandStart) -> Passed:
        thread = threading.Thread(target=fail, args=(None,), name="watch-shop-Pod")
        thread.start()
        thread.join()
        return Passed("went on")

    settings = Settings(output="text")  # type: ignore[arg-type]
    stream = io.StringIO()
    world = replace(outside(), streams=Streams(io.BytesIO(), io.StringIO(), stream))
    assert run_command(world, "apply", settings, work) == 0
    assert "watch-shop-Pod broke: KeyError in test_command_end.py" in stream.getvalue()
    assert "Traceback" not in stream.getvalue()
    assert threading.excepthook is before


# -- style -----------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stream that people look at."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Return that it is one."""
        return True

    def fileno(self) -> int:
        """Return a descriptor."""
        return 1


@pytest.mark.contract("B656")
def test_a_terminal_gets_colour_and_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is a CI host's, or somebody asks for none; one that tells no width has 80."""
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((132, 40)))
    assert style_of(Terminal(), Settings(), LOOKED_AT) == Style(color=True, width=132)
    assert not style_of(Terminal(), Settings(plain=True), LOOKED_AT).color
    for declined in ({"NO_COLOR": ""}, {"CI": "true"}, {"TERM": "dumb"}, {"TERM": ""}):
        assert not style_of(Terminal(), Settings(), {**LOOKED_AT, **declined}).color, declined

    def unknown(_: int) -> os.terminal_size:
        raise OSError("not a terminal")

    monkeypatch.setattr(os, "get_terminal_size", unknown)
    assert style_of(Terminal(), Settings(), LOOKED_AT).width == 80


@pytest.mark.contract("B656")
@pytest.mark.parametrize("declined", [{}, {"NO_COLOR": "1"}, {"CI": "true"}])
@pytest.mark.parametrize("process", [{}, {"NO_COLOR": "1"}])
def test_colour_goes_by_the_environment_that_is_handed_in(
    monkeypatch: pytest.MonkeyPatch, declined: dict[str, str], process: dict[str, str]
) -> None:
    """Not by that of the process, also where a command is told nothing of its host."""
    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "environ", {**os.environ, **LOOKED_AT, **process})
    shown = Terminal()
    streams = Streams(io.BytesIO(), Terminal(), shown)
    world = replace(outside(), streams=streams, environ={**LOOKED_AT, **declined})
    assert entry.report(world, load("report", {}, environ={}), "nowhere.json") == 2
    assert ("\x1b[" in shown.getvalue()) is (not declined)


def test_without_its_report_a_verdict_keeps_its_exit_code(
    gate: Gate, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The installation may be replaced while a rollout lasts: that is a warning."""
    server.put(web())
    monkeypatch.setitem(sys.modules, "gate.app.runtime.end_report", None)
    monkeypatch.delattr("gate.app.runtime.end_report")
    ended = gate.apply(web("crash"), output="text")
    assert ended.code == 4
    assert "there is no report: ModuleNotFoundError in command_end.py" in ended.err

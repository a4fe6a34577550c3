"""Smoke tests by command: real processes, their exits, their output and what they leave."""

from __future__ import annotations

import os
import select
import sys
import threading
from pathlib import Path

import pytest

from gate.clock import SystemClock
from gate.core.checks.questions import Answered, CommandQuestion, Errored, Exit, Trouble
from gate.sources.command import INHERITED, OUTPUT_BYTES, Command
from tests.long import longer
from tests.unit.kube.connection.test_plugin import Impatient

SHORT, LONG = 0.3, 30.0
CANARY = "c4nary-s3cret"
SURROUNDINGS = {"PATH": os.environ["PATH"], "KUBECONFIG": "/k", "PROMETHEUS_TOKEN": CANARY}


def python(script: str, seconds: float = LONG, **environment: str) -> CommandQuestion:
    """Return the question of a Python program."""
    words = (sys.executable, "-I", "-S", "-c", script)
    return CommandQuestion(words, tuple(environment.items()), seconds)


def run(question: CommandQuestion, command: Command | None = None) -> Exit:
    """Run it to its end, which there has to be."""
    said = (command or Command(SURROUNDINGS, SystemClock(), grace_seconds=SHORT)).ask(question)
    assert isinstance(said, Answered), said
    assert isinstance(said.answer, Exit)
    return said.answer


@pytest.mark.contract("B425")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("", 0),
        ("raise SystemExit(1)", 1),
        ("raise SystemExit(75)", 75),
        ("import os; os.kill(os.getpid(), 9)", -9),
    ],
)
def test_a_command_ends_with_its_code(script: str, code: int) -> None:
    """A signal's number is negative."""
    assert run(python(script)) == Exit(code)


@pytest.mark.long
@pytest.mark.contract("B425")
@pytest.mark.parametrize("ignores", [False, True])
def test_a_command_that_does_not_end_is_ended(ignores: bool) -> None:
    """Asked first, and then not asked any more; what it said until then is kept."""
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN);" if ignores else ""
    script = f"import signal, time; {deaf} print('begun', flush=True); time.sleep(60)"
    assert run(python(script, SHORT * 3)) == Exit(None, output=run(python("print('begun')")).output)


@pytest.mark.contract("B425")
@pytest.mark.parametrize("ending", ["", longer("time.sleep(60)")])
def test_nothing_of_its_group_is_left(ending: str, tmp_path: Path) -> None:
    """Neither after its end nor after the end of its time."""
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    child = "import time; time.sleep(60)"
    script = (
        "import subprocess, sys, time\n"
        f"alive = open({str(pipe)!r}, 'w')\n"
        f"subprocess.Popen([sys.executable, '-c', {child!r}], pass_fds=[alive.fileno()])\n"
        f"{ending}"
    )
    run(python(script, SHORT * 3))
    # The end of the pipe comes when nobody holds it open any more: long before the child's own.
    assert select.select([reading], [], [], LONG)[0]
    assert os.read(reading, 1) == b""
    os.close(reading)


@pytest.mark.contract("B425", "B426")
def test_a_command_inherits_no_credential() -> None:
    """It finds what it was given by name, and of the gate's environment what is harmless.

    There is no shell and no input: words are handed over as they are.
    """
    question = CommandQuestion(("env",), (("ROLLOUT_GATE_PHASE", "bake"),))
    found = run(question).output.splitlines()
    assert sorted(found) == [f"PATH={SURROUNDINGS['PATH']}", "ROLLOUT_GATE_PHASE=bake"]
    assert not any("TOKEN" in name or "KUBE" in name or "PROXY" in name for name in INHERITED)
    command = Command(SURROUNDINGS, SystemClock(), passed=("KUBECONFIG", "NOT_THERE"))
    script = "import os, sys; print(os.environ['KUBECONFIG'], 'NOT_THERE' in os.environ,"
    script += " sys.argv[1:], repr(sys.stdin.read()))"
    words = ("$(id)", "a b", "; true", "*")
    question = CommandQuestion((*python(script).arguments, *words))
    assert run(question, command).output == f"/k False {list(words)} ''"


@pytest.mark.contract("B426")
def test_the_end_of_the_output_is_kept_clean() -> None:
    """Both streams, in one, without what a terminal or a CI host would obey."""
    flood = f"print('x' * {3 * OUTPUT_BYTES})"
    script = f"import sys; {flood}; sys.stdout.flush(); sys.stderr.write('\\x1b[31m##[error]no')"
    output = run(python(script)).output
    assert output.endswith("x\n# #[error]no")
    assert len(output) <= 4096


@pytest.mark.parametrize("word", ["/nowhere/at-all", "/", "a\0b"])
def test_what_cannot_be_run_is_an_error(word: str) -> None:
    """It tells nothing of the version, and trying again does not help."""
    said = Command(SURROUNDINGS, SystemClock()).ask(CommandQuestion((word,)))
    assert isinstance(said, Errored)
    assert (said.trouble, said.permanent) == (Trouble.COMMAND, True)


@pytest.mark.contract("B430")
def test_a_command_ends_with_the_run(tmp_path: Path) -> None:
    """At once, and nothing is run afterwards."""
    pipe = tmp_path / "begun"
    os.mkfifo(pipe)
    command = Command(SURROUNDINGS, SystemClock())
    said: list[Answered | Errored] = []
    script = f"import time; open({str(pipe)!r}, 'w').close(); time.sleep(60)"
    question = python(script, 2 * LONG)
    lane = threading.Thread(target=lambda: said.append(command.ask(question)), daemon=True)
    lane.start()
    pipe.read_bytes()
    command.cancel()
    lane.join(LONG)
    assert not lane.is_alive()
    said.append(command.ask(python("")))
    assert [isinstance(each, Errored) and each.trouble for each in said] == [Trouble.CANCELLED] * 2


@pytest.mark.contract("B286")
def test_a_commands_time_is_the_clocks() -> None:
    """One that would end well is late where the clock says so."""
    command = Command(SURROUNDINGS, Impatient(), grace_seconds=LONG)
    assert run(python("import time; time.sleep(3)", LONG), command).code is None

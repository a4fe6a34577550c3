"""Signals: the first is handed over, the second ends the process, and all is as before after."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gate.signals import (
    ENDING_SIGNALS,
    Arrivals,
    Receivers,
    Signalled,
    delivered_to,
    raise_at_signal,
)

ROOT = Path(__file__).parents[2]
LAST_WORD = """
import os, signal, sys
from gate.last_word import last_word
from gate.signals import delivered_to

with last_word(lambda number: f"unfinished {number}"), delivered_to(lambda number: None):
    if sys.argv[1] == "full":
        os.set_blocking(2, False)
        try:
            while True:
                os.write(2, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(2, True)
    if sys.argv[1] == "closed":
        os.close(2)
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
    print("never", flush=True)
"""
NESTED = """
import os, signal, sys
from gate.signals import delivered_to

with delivered_to(lambda number: print("heard", number, flush=True)):
    with delivered_to(lambda number: print("heard", number, flush=True)):
        os.kill(os.getpid(), signal.SIGTERM)
        if int(sys.argv[1]):
            os.kill(os.getpid(), int(sys.argv[2]))
    os.kill(os.getpid(), int(sys.argv[2]))
    print("never", flush=True)
"""
SETTLED = """
import os, signal, sys
from gate import signals

signals.install()
try:
    os.kill(os.getpid(), signal.SIGHUP)
except signals.Signalled as signalled:
    print("raised", signalled.number, flush=True)
signals.install()
signals.settle()
os.kill(os.getpid(), signal.SIGTERM)
print("settled", signals.read_first_signal(), flush=True)
if int(sys.argv[1]) == 2:
    os.kill(os.getpid(), signal.SIGINT)
    print("never", flush=True)
"""
DEAF = """
import ctypes, os, select, sys, threading
from gate import signals

heard, awaited = threading.Event(), select.select

def noted(*arguments):
    heard.set()
    return awaited(*arguments)

select.select = noted  # the thread of the signals asks, once it has heard the first

signals.install()
if sys.argv[1] == "passive":
    signals.settle()
libc, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
libc.pthread_mutex_lock(mutex)

def send():
    for number in sys.argv[2:]:  # of two at once the kernel may deliver either first
        os.kill(os.getpid(), int(number))
        heard.wait(60)

with signals.watch_signals(lambda: None):
    print("deaf", flush=True)
    threading.Timer(0.2, send).start()
    libc.pthread_mutex_lock(mutex)
"""
IGNORED_ON_ENTRY = """
import signal, sys
from gate.signals import ENDING_SIGNALS, delivered_to

for number in ENDING_SIGNALS:
    assert signal.getsignal(number) is signal.SIG_IGN
    with delivered_to(lambda number: print("heard", number, flush=True)):
        signal.raise_signal(number)
"""


def ran(program: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program that imports this room alone."""
    command = [sys.executable, "-S", "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, **options)


@pytest.mark.contract("B29")
@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_the_first_signal_is_a_message(number: signal.Signals) -> None:
    """SIGHUP, SIGINT and SIGTERM are handed over, and the block goes on."""
    heard: list[int] = []
    with delivered_to(heard.append):
        signal.raise_signal(number)
        heard.append(0)
    assert heard == [number, 0]


@pytest.mark.contract("B1516")
def test_the_same_signal_twice_at_once_is_one() -> None:
    """As GNU `timeout` sends it; a later one, or another, is the second."""
    for later, number in ((0.2, signal.SIGTERM), (0.05, signal.SIGINT)):
        heard: list[int] = []
        ended: list[int] = []
        times = iter([10.0, 10.05, 10.0 + later])
        arrivals = Arrivals(0.1, times.__next__)
        receivers = Receivers(ended.append, heard.append, arrivals=arrivals)
        receivers.hand(signal.SIGTERM)
        receivers.hand(signal.SIGTERM)
        assert (heard, ended, receivers.first) == ([signal.SIGTERM], [], signal.SIGTERM)
        receivers.hand(number)
        assert ended == [number]


@pytest.mark.contract("B153", "B752")
@pytest.mark.parametrize("stderr", ["open", "full", "closed", "file"])
def test_the_second_signal_says_what_stands_and_waits_for_nobody(
    stderr: str, tmp_path: Path
) -> None:
    """One line, where stderr takes it; a full pipe and a closed descriptor do not."""
    file = tmp_path / "log"
    file.write_text("before\n")
    with file.open("a") as log:
        stream = log if stderr == "file" else subprocess.PIPE
        command = [sys.executable, "-S", "-c", LAST_WORD, stderr]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stream, cwd=ROOT) as process:
            assert process.wait(60) == 130
            assert process.stdout is not None
            assert process.stdout.read() == b"ready\n"
            said = process.stderr.read() if process.stderr is not None else file.read_bytes()
    assert said.endswith(b"unfinished 2\n") is (stderr in ("open", "file"))
    assert said.startswith(b"before\n") is (stderr == "file")


@pytest.mark.contract("B155")
def test_signals_that_the_parent_ignored_are_heard() -> None:
    """Jenkins starts its steps with SIGINT and SIGHUP ignored."""

    def ignore() -> None:
        for number in ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    done = ran(IGNORED_ON_ENTRY, preexec_fn=ignore)
    assert (done.stdout, done.stderr) == ("".join(f"heard {n:d}\n" for n in ENDING_SIGNALS), "")


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_afterwards_everything_is_as_before(
    handler: signal.Handlers,
) -> None:
    """Also after an error in the block."""
    before = signal.signal(signal.SIGHUP, handler)
    try:
        with pytest.raises(RuntimeError), delivered_to(lambda _: None):
            raise RuntimeError
        assert signal.getsignal(signal.SIGHUP) is handler
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_handler_of_a_library_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was not set from Python cannot be set again, and is no reason to fail."""
    before = {number: signal.getsignal(number) for number in ENDING_SIGNALS}
    with monkeypatch.context() as patch:
        patch.setattr(signal, "getsignal", lambda _: None)
        with delivered_to(lambda _: None):
            pass
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.contract("B150")
def test_where_nothing_can_be_ended_in_order_a_signal_is_raised() -> None:
    """What is under way ends there, and no handler of exceptions stops it."""
    reached = []

    def work() -> None:
        with raise_at_signal(), contextlib.suppress(Exception):
            os.kill(os.getpid(), signal.SIGTERM)
            reached.append("the next line")
        reached.append("what comes after")

    with pytest.raises(Signalled, match="SIGTERM") as caught:
        work()
    assert (caught.value.number, reached) == (signal.SIGTERM, [])


@pytest.mark.contract("B153", "B154")
@pytest.mark.parametrize(("inner", "number"), [(True, signal.SIGHUP), (False, signal.SIGINT)])
def test_the_second_signal_ends_the_process_at_once(inner: bool, number: signal.Signals) -> None:
    """With 128 and its own number; one inside a block and one in the block around it are two."""
    done = ran(NESTED, int(inner), int(number))
    assert (done.stdout, done.returncode) == (f"heard {signal.SIGTERM:d}\n", 128 + number)


@pytest.mark.contract("B154")
def test_what_begins_after_a_signal_is_told_of_it_at_once() -> None:
    """A signal between two phases is not lost; one inside the first is not forgotten."""
    outer: list[int] = []
    with delivered_to(outer.append):
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Signalled, match="SIGTERM"), raise_at_signal():
            pytest.fail("nothing begins any more")
    assert outer == [signal.SIGTERM]


@pytest.mark.contract("B154")
def test_once_a_command_has_ended_a_signal_changes_nothing() -> None:
    """The exit code stands; the second signal still ends the process at once."""
    done = ran(SETTLED, 1)
    assert (done.stdout, done.returncode) == ("raised 1\nsettled 15\n", 0)
    done = ran(SETTLED, 2)
    assert (done.stdout, done.returncode) == ("raised 1\nsettled 15\n", 130)


@pytest.mark.contract("B153")
def test_signals_are_heard_while_the_main_thread_hears_nothing() -> None:
    """A call that no signal ends, as a name's resolution: the second one ends the process."""
    done = ran(DEAF, "passive", signal.SIGTERM.value, signal.SIGINT.value)
    assert (done.stdout, done.returncode) == ("deaf\n", 130)


@pytest.mark.contract("B150", "B153")
def test_a_first_signal_that_is_not_heard_ends_what_has_nothing_to_lose() -> None:
    """Preparing writes nothing, and a signal would have ended it anyway."""
    done = ran(DEAF, "raised", signal.SIGTERM.value)
    assert (done.stdout, done.returncode) == ("deaf\n", 143)

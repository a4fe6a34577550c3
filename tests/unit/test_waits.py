"""Every wait goes through the run's clock: an AST of the gate's own source says so."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2] / "gate"
CLOCKS: Final = ("clock.py", "virtual_time.py")
"""Who owns time."""

SLEEPS: Final = {"time.sleep", "threading.Timer", "Timer", "asyncio.sleep", "sched.scheduler"}
WAITING: Final = {
    *("wait", "join", "select", "poll", "communicate"),
    *("acquire", "waitid", "waitpid", "serve_forever"),
}
"""Methods and functions that block, of events, threads, processes, selectors and locks."""

ALLOWED: Final = {
    "app/runtime/terminal.py: select.select": "a terminal that takes nothing, in its own thread",
    "last_word.py: _turn.acquire": "a tenth of a second, for the other thread that ends it all",
    "last_word.py: select.select": "whether stderr takes a line, for no time",
    "metrics/endpoint.py: selector.select": "waits for a client or the end, for no time",
    "metrics/endpoint.py: serving.join": "ends at once, as soon as its socket says so",
    "output.py: select.select": "a stream that takes nothing, in its own thread, or for no time",
    "signals.py: select.select": "the next signal, in a thread that is the process's",
    "process_group.py: os.waitid": "without a limit: whoever has one waits for its thread",
}
"""What waits for something else than time, and why that is no wait of a run."""


def waits(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each call that blocks beside a clock, with its line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in SLEEPS or (_may_block(node) and not _is_of_a_clock(called)):
            yield node.lineno, called


def _may_block(call: ast.Call) -> bool:
    """Tell a call of a blocking method from `", ".join(words)` and the like."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name not in WAITING:
        return any(word.arg == "timeout" and name == "get" for word in call.keywords)
    if name == "join":
        return not (call.args and _is_text(call)) and not _is_module(call)
    if name == "poll":
        return bool(call.args)
    return True


def _is_text(call: ast.Call) -> bool:
    """Tell the join of texts: it has one argument, and stands behind a text or a constant."""
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_name = isinstance(of, ast.Name) and (of.id.isupper() or of.id == "separator")
    return isinstance(of, ast.Constant | ast.JoinedStr) or is_name


def _is_module(call: ast.Call) -> bool:
    return ast.unparse(call.func) in ("shlex.join", "os.path.join", "os.pathsep.join")


def _is_of_a_clock(called: str) -> bool:
    owner = called.rpartition(".")[0].rpartition(".")[2].lstrip("_")
    return owner in ("clock", "group", "watch", "_watches", "watches") or called == "self.wait"


@functools.cache
def found() -> set[str]:
    """Return each place and call of the gate that blocks beside a clock."""
    return {
        f"{path.relative_to(ROOT)}: {called}"
        for path in sorted(ROOT.rglob("*.py"))
        if path.name not in CLOCKS
        for _, called in waits(path)
    }


@pytest.mark.contract("B286")
def test_nothing_waits_beside_the_clock() -> None:
    """Else virtual time and tests do not see the wait, and a signal does not end it."""
    assert found() - ALLOWED.keys() == set()


@pytest.mark.contract("B286")
def test_each_exception_is_one() -> None:
    """What waits no more is struck off the list."""
    assert ALLOWED.keys() - found() == set()


@pytest.mark.parametrize(
    ("text", "is_wait"),
    [
        ("time.sleep(1)", True),
        ("threading.Timer(1, f).start()", True),
        ("event.wait(1)", True),
        ("thread.join()", True),
        ("thread.join(2)", True),
        ("process.wait(timeout=2)", True),
        ("process.communicate()", True),
        ("select.select([], [fd], [])", True),
        ("inbox.get(timeout=1)", True),
        ("lock.acquire()", True),
        ("server.serve_forever(0.05)", True),
        ("self._clock.wait(1, event)", False),
        ("clock.wait(1)", False),
        ('", ".join(words)', False),
        ("_GAP.join(cells)", False),
        ("shlex.join(words)", False),
        ("process.poll()", False),
        ("values.get(name)", False),
    ],
)
def test_a_wait_is_told_from_a_join_of_texts_and_a_wait_of_the_clock(
    tmp_path: Path, text: str, is_wait: bool
) -> None:
    """In each form that was there, and in those that are likely."""
    path = tmp_path / "m.py"
    path.write_text(text)
    assert bool([*waits(path)]) is is_wait

"""Scripts of a container that runs and ends: how a kubelet restarts it, and what it says of it."""

from __future__ import annotations

from typing import Final

from sandbox.kubelet.behaviour import Clause
from sandbox.kubelet.pace import told_back_off
from sandbox.kubelet.states import (
    FOR_EVER,
    Note,
    Part,
    Running,
    Script,
    Step,
    Terminated,
    Waiting,
)

CRASH_AFTER_SECONDS: Final = 0.3
OOM_EXIT_CODE: Final = 137


def complete(part: Part, clause: Clause) -> Script:
    """End well after T; what is supposed to serve is restarted all the same."""
    end = Terminated(0, "Completed")
    if part.serves:
        return _loop(part, clause, end, ready=True)
    seconds = part.pace.seen_seconds if clause.seconds is None else clause.seconds
    return iter([Step(Running(ready=True), seconds), Step(end)])


def crash(part: Part, clause: Clause) -> Script:
    """End T after each start, never ready."""
    end = Terminated(clause.code, "Error", f"{part.name} cannot start: the schema is missing")
    return _loop(part, clause, end)


def oom(part: Part, clause: Clause) -> Script:
    """Be killed for its memory T after each start, never ready."""
    return _loop(part, clause, Terminated(OOM_EXIT_CODE, "OOMKilled"))


def ready_then_crash(part: Part, clause: Clause) -> Script:
    """Be ready for T after each start, then end."""
    end = Terminated(clause.code, "Error", f"{part.name} lost its database")
    return _loop(part, clause, end, ready=True)


def restart_once(part: Part, clause: Clause) -> Script:
    """End once, T after the first start."""
    end = Terminated(clause.code, "Error", "the database was not up yet")
    yield Step(Running(ready=False), _crash_after(clause))
    yield Step(end, part.pace.seen_seconds if part.restarts else FOR_EVER)
    yield Step(Running(ready=True))


def _loop(part: Part, clause: Clause, end: Terminated, *, ready: bool = False) -> Script:
    """Run and end over and over; the first restart comes at once, each later one after a wait.

    A container that ran long enough is forgiven: its next restart comes at once again.
    """
    seconds = _crash_after(clause)
    attempt = 0
    while True:
        yield Step(Running(ready), seconds)
        yield Step(end, part.pace.seen_seconds if part.restarts else FOR_EVER)
        if attempt and seconds > part.pace.forgives_after_seconds:
            attempt = 0
        if attempt:
            yield _backing_off(part, attempt)
        attempt += 1


def _crash_after(clause: Clause) -> float:
    return CRASH_AFTER_SECONDS if clause.seconds is None else clause.seconds


def _backing_off(part: Part, attempt: int) -> Step:
    why = f"back-off {told_back_off(attempt)} restarting failed container"
    said = f"Back-off restarting failed container {part.name} in pod {part.pod}"
    return Step(
        Waiting("CrashLoopBackOff", f"{why}={part.name} pod={part.pod}"),
        part.pace.back_off(attempt),
        (Note("BackOff", said, container=part.name),),
    )

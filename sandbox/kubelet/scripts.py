"""What a container does over time: each behaviour as an iterator of steps.

Reasons, messages and events are the words of a real kubelet; the waits are those of a `Pace`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sandbox.kubelet import crashes, pulls
from sandbox.kubelet.behaviour import Clause, Kind
from sandbox.kubelet.states import Note, Part, Running, Script, Step

FLAP_SECONDS: Final = 0.5
FIRST_PROBE_SECONDS: Final = 1.0
LAST_PROBE_SECONDS: Final = 60.0
"""A probe that fails for ever is told twice as seldom each time: events are not the point of it."""


def script(part: Part, clause: Clause | None) -> Script:
    """Return what `part` does: what its clause asks, else what a healthy container does."""
    if clause is not None:
        return _SCRIPTS[clause.kind](part, clause)
    if part.serves:
        return iter([Step(Running(ready=True))])
    return crashes.complete(part, Clause(Kind.COMPLETE))


def _ready(_: Part, clause: Clause) -> Script:
    if clause.seconds:
        yield Step(Running(ready=False), clause.seconds)
    yield Step(Running(ready=True))


def _never_ready(part: Part, _: Clause) -> Script:
    seconds = FIRST_PROBE_SECONDS
    while True:
        yield Step(Running(ready=False), seconds, (_unhealthy(part),))
        seconds = min(seconds * 2, LAST_PROBE_SECONDS)


def _flapping(part: Part, clause: Clause) -> Script:
    seconds = clause.seconds or FLAP_SECONDS
    while True:
        yield Step(Running(ready=True), seconds)
        yield Step(Running(ready=False), seconds, (_unhealthy(part),))


def _unhealthy(part: Part) -> Note:
    message = "Readiness probe failed: HTTP probe failed with statuscode: 503"
    return Note("Unhealthy", message, container=part.name)


_SCRIPTS: Final[dict[Kind, Callable[[Part, Clause], Script]]] = {
    Kind.READY: _ready,
    Kind.NEVER_READY: _never_ready,
    Kind.FLAPPING: _flapping,
    Kind.IMAGE_PULL: pulls.image_pull,
    Kind.IMAGE_PULL_TRANSIENT: pulls.image_pull_transient,
    Kind.INVALID_IMAGE_NAME: pulls.invalid_image_name,
    Kind.NEVER_PULL: pulls.never_pull,
    Kind.CONFIG_ERROR: pulls.config_error,
    Kind.CRASH: crashes.crash,
    Kind.OOM: crashes.oom,
    Kind.INIT_CRASH: crashes.crash,
    Kind.READY_THEN_CRASH: crashes.ready_then_crash,
    Kind.RESTART_ONCE: crashes.restart_once,
    Kind.COMPLETE: crashes.complete,
}

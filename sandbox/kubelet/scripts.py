"""What a container does over time: each behaviour as an iterator of steps.

Reasons, messages and events are the words of a real kubelet and containerd; the waits are those of
a `Pace`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final

from sandbox.kubelet.behaviour import Clause, Kind, PullFailure
from sandbox.kubelet.container import (
    FOR_EVER,
    PULL_FAILED,
    Note,
    Part,
    Running,
    Script,
    Step,
    Terminated,
    Waiting,
    told_back_off,
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


def image_pull(part: Part, clause: Clause) -> Script:
    """Fail every pull, until T has passed where there is a T."""
    rest_seconds = FOR_EVER if clause.seconds is None else clause.seconds
    message = _pull_message(part.image, clause.why)
    for attempt in count(1):
        if rest_seconds <= 0:
            break
        for step in _failed_pull(part, message, part.pace.back_off(attempt)):
            rest_seconds -= step.seconds
            yield step
    yield Step(Running(ready=True))


def image_pull_transient(part: Part, clause: Clause) -> Script:
    """Fail two pulls in T for causes that pass, then run."""
    half = (clause.seconds or 1.0) / 2
    for why in (PullFailure.RATE_LIMIT, PullFailure.TIMEOUT):
        yield from _failed_pull(part, _pull_message(part.image, why), half - part.pace.seen_seconds)
    yield Step(Running(ready=True))


def _failed_pull(part: Part, cause: str, back_off_seconds: float) -> Script:
    failed = Note("Failed", f'Failed to pull image "{part.image}": {cause}', container=part.name)
    error = Note("Failed", "Error: ErrImagePull", container=part.name)
    seen_seconds = part.pace.seen_seconds
    yield Step(Waiting(PULL_FAILED, cause), seen_seconds, (failed, error))
    backing_off = f'Back-off pulling image "{part.image}"'
    notes = (
        Note("BackOff", backing_off, "Normal", part.name),
        Note("Failed", "Error: ImagePullBackOff", container=part.name),
    )
    state = Waiting("ImagePullBackOff", f"{backing_off}: ErrImagePull: {cause}")
    yield Step(state, max(back_off_seconds, seen_seconds), notes)


def _pull_message(image: str, why: PullFailure) -> str:
    reference = f"docker.io/{image}"
    resolve = f'failed to pull and unpack image "{reference}": failed to resolve reference'
    cause = {
        PullFailure.NOT_FOUND: f'NotFound desc = {resolve} "{reference}": {reference}: not found',
        PullFailure.DENIED: f'Unknown desc = {resolve} "{reference}": pull access denied,'
        " repository does not exist or may require authorization: server message:"
        " insufficient_scope: authorization failed",
        PullFailure.RATE_LIMIT: f'Unknown desc = {resolve} "{reference}": unexpected status from'
        " HEAD request to https://registry-1.docker.io/v2/: 429 Too Many Requests",
        PullFailure.TIMEOUT: f'Unknown desc = {resolve} "{reference}": failed to do request: Head'
        ' "https://registry-1.docker.io/v2/": dial tcp 192.0.2.1:443: i/o timeout',
    }
    return f"rpc error: code = {cause[why]}"


def invalid_image_name(part: Part, _: Clause) -> Script:
    """Refuse the image's name for good."""
    message = (
        f'Failed to apply default image tag "{part.image}": couldn\'t parse image name'
        f' "{part.image}": invalid reference format'
    )
    notes = (
        Note("InspectFailed", message, container=part.name),
        Note("Failed", "Error: InvalidImageName", container=part.name),
    )
    yield Step(Waiting("InvalidImageName", message), notes=notes)


def never_pull(part: Part, _: Clause) -> Script:
    """Miss an image that may not be pulled."""
    message = f'Container image "{part.image}" is not present with pull policy of Never'
    notes = (Note("ErrImageNeverPull", message, container=part.name),)
    yield Step(Waiting("ErrImageNeverPull", message), notes=notes)


def config_error(part: Part, clause: Clause) -> Script:
    """Miss the Secret or ConfigMap that it needs, for ever or until T."""
    message = f"{part.configuration} not found"
    notes = (Note("Failed", f"Error: {message}", container=part.name),)
    seconds = FOR_EVER if clause.seconds is None else clause.seconds
    yield Step(Waiting("CreateContainerConfigError", message), seconds, notes)
    yield Step(Running(ready=True))


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
    return complete(part, Clause(Kind.COMPLETE))


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
    Kind.IMAGE_PULL: image_pull,
    Kind.IMAGE_PULL_TRANSIENT: image_pull_transient,
    Kind.INVALID_IMAGE_NAME: invalid_image_name,
    Kind.NEVER_PULL: never_pull,
    Kind.CONFIG_ERROR: config_error,
    Kind.CRASH: crash,
    Kind.OOM: oom,
    Kind.INIT_CRASH: crash,
    Kind.READY_THEN_CRASH: ready_then_crash,
    Kind.RESTART_ONCE: restart_once,
    Kind.COMPLETE: complete,
}

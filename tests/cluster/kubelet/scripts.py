"""What a container does over time: each behaviour as an iterator of steps.

Reasons, messages and events are the words of a real kubelet and containerd. Only the waits are
shorter: a crash loop backs off for 0, 0.5, 1, 2, 4, 5, 5 s, where a node takes 0, 10, 20, 40 s and
so on up to 300 s.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat

from tests.cluster.kubelet.behaviour import Clause, Kind, PullFailure

FOR_EVER = math.inf
BACK_OFF_SECONDS = (0.0, 0.5, 1.0, 2.0, 4.0, 5.0)
NODE_BACK_OFF_SECONDS = (0, 10, 20, 40, 80, 160, 300)
CRASH_AFTER_SECONDS = 0.3
SEEN_SECONDS = 0.1
"""How long a state stands that is meant to be seen before it passes."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The container does not run yet, or not again yet."""

    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """The container runs; `ready` is its readiness probe's word."""

    ready: bool


@dataclass(frozen=True, slots=True)
class Terminated:
    """The container ended."""

    exit_code: int
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What the kubelet says about it in an Event; `container` is empty for the pod itself."""

    reason: str
    message: str
    type: str = "Warning"
    container: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A state, how long it stands, and what is said when it begins."""

    state: Waiting | Running | Terminated
    seconds: float = FOR_EVER
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """The container that a script is for; `pod` is `NAME_NAMESPACE(UID)`, as kubelets write it.

    `restarts` after a failure; `serves` means that it is not supposed to end at all.
    """

    name: str
    image: str
    pod: str
    restarts: bool
    serves: bool


Script = Iterator[Step]


def script(part: Part, clause: Clause | None) -> Script:
    """Return what `part` does: what its clause asks, else what a healthy container does."""
    if clause is not None:
        return _SCRIPTS[clause.kind](part, clause)
    if part.serves:
        return iter([Step(Running(ready=True))])
    return _complete(part, Clause(Kind.COMPLETE))


def _ready(part: Part, clause: Clause) -> Script:
    if clause.seconds:
        yield Step(Running(ready=False), clause.seconds)
    yield Step(Running(ready=True))


def _never_ready(part: Part, clause: Clause) -> Script:
    seconds = 1.0
    while True:
        yield Step(Running(ready=False), seconds, (_unhealthy(part),))
        seconds = min(seconds * 2, 60.0)


def _flapping(part: Part, clause: Clause) -> Script:
    seconds = clause.seconds or 0.5
    while True:
        yield Step(Running(ready=True), seconds)
        yield Step(Running(ready=False), seconds, (_unhealthy(part),))


def _unhealthy(part: Part) -> Note:
    message = "Readiness probe failed: HTTP probe failed with statuscode: 503"
    return Note("Unhealthy", message, container=part.name)


def _complete(part: Part, clause: Clause) -> Script:
    end = Terminated(0, "Completed")
    if part.serves:
        return _crash_loop(part, clause, end, ready=True)
    seconds = SEEN_SECONDS if clause.seconds is None else clause.seconds
    return iter([Step(Running(ready=True), seconds), Step(end)])


def _image_pull(part: Part, clause: Clause) -> Script:
    message = _pull_message(part.image, clause.why)
    for seconds in chain(BACK_OFF_SECONDS[1:], repeat(BACK_OFF_SECONDS[-1])):
        yield from _failed_pull(part, message, seconds)


def _image_pull_transient(part: Part, clause: Clause) -> Script:
    half = (clause.seconds or 1.0) / 2
    for why in (PullFailure.RATE_LIMIT, PullFailure.TIMEOUT):
        yield from _failed_pull(part, _pull_message(part.image, why), half - SEEN_SECONDS)
    yield Step(Running(ready=True))


def _failed_pull(part: Part, cause: str, back_off_seconds: float) -> Script:
    failed = Note("Failed", f'Failed to pull image "{part.image}": {cause}', container=part.name)
    error = Note("Failed", "Error: ErrImagePull", container=part.name)
    yield Step(Waiting("ErrImagePull", cause), SEEN_SECONDS, (failed, error))
    backing_off = f'Back-off pulling image "{part.image}"'
    notes = (
        Note("BackOff", backing_off, "Normal", part.name),
        Note("Failed", "Error: ImagePullBackOff", container=part.name),
    )
    state = Waiting("ImagePullBackOff", f"{backing_off}: ErrImagePull: {cause}")
    yield Step(state, max(back_off_seconds, SEEN_SECONDS), notes)


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


def _invalid_image_name(part: Part, clause: Clause) -> Script:
    message = (
        f'Failed to apply default image tag "{part.image}": couldn\'t parse image name'
        f' "{part.image}": invalid reference format'
    )
    notes = (
        Note("InspectFailed", message, container=part.name),
        Note("Failed", "Error: InvalidImageName", container=part.name),
    )
    yield Step(Waiting("InvalidImageName", message), notes=notes)


def _never_pull(part: Part, clause: Clause) -> Script:
    message = f'Container image "{part.image}" is not present with pull policy of Never'
    notes = (Note("ErrImageNeverPull", message, container=part.name),)
    yield Step(Waiting("ErrImageNeverPull", message), notes=notes)


def _config_error(part: Part, clause: Clause) -> Script:
    message = f'secret "{part.name}-config" not found'
    notes = (Note("Failed", f"Error: {message}", container=part.name),)
    seconds = FOR_EVER if clause.seconds is None else clause.seconds
    yield Step(Waiting("CreateContainerConfigError", message), seconds, notes)
    yield Step(Running(ready=True))


def _crash(part: Part, clause: Clause) -> Script:
    end = Terminated(clause.code, "Error", f"{part.name} cannot start: the schema is missing")
    return _crash_loop(part, clause, end)


def _oom(part: Part, clause: Clause) -> Script:
    return _crash_loop(part, clause, Terminated(137, "OOMKilled"))


def _ready_then_crash(part: Part, clause: Clause) -> Script:
    end = Terminated(clause.code, "Error", f"{part.name} lost its database")
    return _crash_loop(part, clause, end, ready=True)


def _restart_once(part: Part, clause: Clause) -> Script:
    yield Step(Running(ready=False), _crash_after(clause))
    yield Step(Terminated(clause.code, "Error", "the database was not up yet"), SEEN_SECONDS)
    yield Step(Running(ready=True))


def _crash_loop(part: Part, clause: Clause, end: Terminated, *, ready: bool = False) -> Script:
    """Run and end over and over; the first restart comes at once, each later one after a wait."""
    attempt = 0
    while True:
        yield Step(Running(ready), _crash_after(clause))
        yield Step(end, SEEN_SECONDS if part.restarts else FOR_EVER)
        if attempt:
            yield _backing_off(part, attempt)
        attempt += 1


def _crash_after(clause: Clause) -> float:
    return CRASH_AFTER_SECONDS if clause.seconds is None else clause.seconds


def _backing_off(part: Part, attempt: int) -> Step:
    node_seconds = NODE_BACK_OFF_SECONDS[min(attempt, len(NODE_BACK_OFF_SECONDS) - 1)]
    why = f"back-off {_go_duration(node_seconds)} restarting failed container"
    said = f"Back-off restarting failed container {part.name} in pod {part.pod}"
    return Step(
        Waiting("CrashLoopBackOff", f"{why}={part.name} pod={part.pod}"),
        BACK_OFF_SECONDS[min(attempt, len(BACK_OFF_SECONDS) - 1)],
        (Note("BackOff", said, container=part.name),),
    )


def _go_duration(seconds: int) -> str:
    """Return seconds as Go prints a duration: `10s`, `2m40s`."""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


_SCRIPTS: dict[Kind, Callable[[Part, Clause], Script]] = {
    Kind.READY: _ready,
    Kind.NEVER_READY: _never_ready,
    Kind.FLAPPING: _flapping,
    Kind.IMAGE_PULL: _image_pull,
    Kind.IMAGE_PULL_TRANSIENT: _image_pull_transient,
    Kind.INVALID_IMAGE_NAME: _invalid_image_name,
    Kind.NEVER_PULL: _never_pull,
    Kind.CONFIG_ERROR: _config_error,
    Kind.CRASH: _crash,
    Kind.OOM: _oom,
    Kind.INIT_CRASH: _crash,
    Kind.READY_THEN_CRASH: _ready_then_crash,
    Kind.RESTART_ONCE: _restart_once,
    Kind.COMPLETE: _complete,
}

"""One container while its script runs, and the conditions of its pod.

Its state now, its last end, its restarts, its status; each condition with its last transition.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from sandbox.json import JSON

KILLED_EXIT_CODE = 137


@dataclass(frozen=True, slots=True)
class Phase:
    """A step with the wall times that a status tells (RFC 3339)."""

    step: Step
    started_at: str
    ended_at: str = ""
    container_id: str = ""


class Container:
    """Follows one script, on the clock that `advance` is given."""

    __slots__ = (
        "_last_end",
        "_later",
        "_now",
        "_script",
        "_started_at",
        "due",
        "part",
        "restart_count",
    )

    def __init__(self, part: Part, waiting_for: str) -> None:
        self.part = part
        self.restart_count = 0
        self.due = math.inf
        self._script: Script = iter(())
        self._later: Script | None = None
        self._now = Phase(Step(Waiting(waiting_for)), "")
        self._last_end: Phase | None = None
        self._started_at = ""

    @property
    def state(self) -> State:
        """What the container does now."""
        return self._now.step.state

    @property
    def ready(self) -> bool:
        """Whether it runs and its readiness probe says yes."""
        return isinstance(self.state, Running) and self.state.ready

    @property
    def completed(self) -> bool:
        """Whether it ended well and for good."""
        return self.ended and isinstance(self.state, Terminated) and self.state.exit_code == 0

    @property
    def ended(self) -> bool:
        """Whether it ended for good, well or not."""
        return isinstance(self.state, Terminated) and math.isinf(self.due)

    @property
    def has_run(self) -> bool:
        """Whether it ran at least once."""
        return bool(self._started_at)

    @property
    def attempt(self) -> Phase:
        """Its state now, with the times of the attempt that it belongs to."""
        return self._now

    @property
    def last_end(self) -> Phase | None:
        """The end of the attempt before this one."""
        return self._last_end

    def start(self, now: float) -> None:
        """Make the next step due."""
        self.due = now

    def follow(self, script: Script) -> None:
        """Take the steps from `script` from now on."""
        self._script, self._later = script, None

    def follow_later(self, script: Script) -> None:
        """Take the steps from `script` from the next try to start the container on."""
        self._later = script

    def is_held_back(self, now: float) -> bool:
        """Whether the container waits for its next try, as in a back-off."""
        return not isinstance(self.state, Running) and now < self.due < math.inf

    def advance(self, now: float, wall: str) -> list[Note]:
        """Take the next step if it is due, return what is to be said about it.

        One step a call, and its time counts from the call: no state passes unseen.
        """
        if self.due > now:
            return []
        step = self._next_step()
        self.due = now + step.seconds
        self._enter(step, wall)
        return list(step.notes)

    def kill(self, wall: str) -> None:
        """End the container from outside, for good."""
        self.due = math.inf
        self._enter(Step(Terminated(KILLED_EXIT_CODE, "Error")), wall)

    def _next_step(self) -> Step:
        step = next(self._script)
        if self._later is None or isinstance(self.state, Running) or not step.is_try:
            return step
        self.follow(self._later)
        return next(self._script)

    def _enter(self, step: Step, wall: str) -> None:
        before = self._now
        if isinstance(before.step.state, Terminated) and not isinstance(step.state, Terminated):
            self._last_end = before
        if isinstance(step.state, Running) and not isinstance(before.step.state, Running):
            self._started_at = wall
            self.restart_count += self._last_end is not None
        ended_at = wall if isinstance(step.state, Terminated) else ""
        self._now = Phase(step, self._started_at or wall, ended_at, self._container_id())

    def status(self) -> JSON:
        """Return the entry of `containerStatuses`."""
        return {
            "name": self.part.name,
            "state": _render_state(self._now),
            "lastState": _render_state(self._last_end) if self._last_end else {},
            "ready": self.ready,
            "restartCount": self.restart_count,
            "image": self.part.image,
            "imageID": _image_id(self.part.image) if self._started_at else "",
            "containerID": self._container_id(),
            "started": isinstance(self.state, Running),
        }

    def _container_id(self) -> str:
        if not self._started_at:
            return ""
        unique = f"{self.part.pod}/{self.part.name}/{self.restart_count}"
        return f"containerd://{hashlib.sha256(unique.encode()).hexdigest()}"


def _render_state(phase: Phase) -> JSON:
    state = phase.step.state
    if isinstance(state, Running):
        return {"running": {"startedAt": phase.started_at}}
    if isinstance(state, Waiting):
        return {"waiting": _without_empty(reason=state.reason, message=state.message)}
    ended = _without_empty(
        reason=state.reason, message=state.message, containerID=phase.container_id
    )
    times = {"startedAt": phase.started_at, "finishedAt": phase.ended_at}
    return {"terminated": {"exitCode": state.exit_code, **ended, **times}}


def _image_id(image: str) -> str:
    repository = image.partition("@")[0].rpartition(":")[0] or image
    return f"docker.io/{repository}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"


def _without_empty(**fields: str) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


Why = tuple[str, str]
"""The reason and the message that a condition which does not hold gives for it."""


class Conditions:
    """Sets conditions; one that stays as it is keeps its time."""

    __slots__ = ("_by_type",)

    def __init__(self) -> None:
        self._by_type: dict[str, JSON] = {}

    def set(self, wall: str, *types: str, why: Why | None = None) -> None:
        """Let conditions be true, or false for a reason."""
        status = "True" if why is None else "False"
        details = {} if why is None else _without_empty(reason=why[0], message=why[1])
        for type_ in types:
            before = self._by_type.get(type_, {})
            since = before["lastTransitionTime"] if before.get("status") == status else wall
            made = {"type": type_, "status": status, "lastTransitionTime": since}
            self._by_type[type_] = {**made, **details}

    def render(self) -> list[JSON]:
        """Return them as `status.conditions`."""
        return list(self._by_type.values())


def not_ready(names: Sequence[str]) -> Why:
    """Return why a pod is not ready whose containers of these names are not."""
    return "ContainersNotReady", f"containers with unready status: [{' '.join(names)}]"


def not_initialized(names: Sequence[str]) -> Why:
    """Return why a pod is not initialized whose init containers of these names are not done."""
    return "ContainersNotInitialized", f"containers with incomplete status: [{' '.join(names)}]"


NODE_BACK_OFF_SECONDS = (10, 20, 40, 80, 160, 300)
"""What the messages of a kubelet tell: 10 s, doubled up to 5 min (`MaxContainerBackOff`)."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The waits of a node.

    `back_off_seconds` from a failure to the next try (the first restart comes at once), the last
    one over and over; `seen_seconds` is how long a state stands that passes by itself: a
    container's end, a failed pull. `end_seconds` is how long a pod takes to go that is told to.
    """

    back_off_seconds: tuple[float, ...]
    seen_seconds: float
    end_seconds: float

    NODE: ClassVar[Pace]
    SHORT: ClassVar[Pace]

    @property
    def forgives_after_seconds(self) -> float:
        """One that ran longer begins again: twice the longest wait (client-go `Backoff`)."""
        return 2 * self.back_off_seconds[-1]

    def back_off(self, attempt: int) -> float:
        """Return how long the state stands that waits for try `attempt`, from 1.

        The wait counts from what failed, which was seen for a moment already.
        """
        seconds = self.back_off_seconds[min(attempt, len(self.back_off_seconds)) - 1]
        return seconds - self.seen_seconds


Pace.NODE = Pace(tuple(map(float, NODE_BACK_OFF_SECONDS)), seen_seconds=1.0, end_seconds=1.0)
Pace.SHORT = Pace((0.5, 1.0, 2.0, 4.0, 5.0), seen_seconds=0.1, end_seconds=0.03)


def told_back_off(attempt: int) -> str:
    """Return the wait before try `attempt`, from 1, as a node's messages tell it: `2m40s`."""
    seconds = NODE_BACK_OFF_SECONDS[min(attempt, len(NODE_BACK_OFF_SECONDS)) - 1]
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"


FOR_EVER: Final = math.inf
PULL_FAILED: Final = "ErrImagePull"


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


State = Waiting | Running | Terminated


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

    state: State
    seconds: float = FOR_EVER
    notes: tuple[Note, ...] = ()

    @property
    def is_try(self) -> bool:
        """Whether the kubelet has just tried to start the container, well or not."""
        return isinstance(self.state, Running) or (
            isinstance(self.state, Waiting) and self.state.reason == PULL_FAILED
        )


Script = Iterator[Step]


@dataclass(frozen=True, slots=True)
class Part:
    """The container that a script is for; `pod` is `NAME_NAMESPACE(UID)`, as kubelets write it.

    `restarts` after a failure; `serves` means that it is not supposed to end at all.
    `configuration` is the first Secret that it needs, or ConfigMap, in a kubelet's words.
    """

    name: str
    image: str
    pod: str
    restarts: bool
    serves: bool
    pace: Pace
    configuration: str = "secret"

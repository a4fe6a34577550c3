"""What a container can be, and the steps from one to the next: the words of every script."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sandbox.kubelet.pace import Pace

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

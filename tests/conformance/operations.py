"""What people and controllers do to a Deployment, as data, and sequences of it from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

VERSIONS = 3
GOOD = "ready=0.6"
"""Slower than any controller: a step that comes at once finds pods that are not ready yet."""
NEVER, CRASH = "never-ready", "crash=0.3"
BEHAVIOURS = (GOOD, GOOD, GOOD, NEVER, CRASH)
MOST_AT_ONCE = 2
"""So many steps without waiting come before the first pods that they made are ready."""
FAILURES = ("evicted=0.1", "restart-once=0.1", CRASH)


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply a version as the gate does; without `force` another manager's change refuses it."""

    version: int
    replicas: int | None = None
    behaviour: str = GOOD
    recreate: bool = False
    force: bool = True


@dataclass(frozen=True, slots=True)
class Scale:
    """Ask for so many pods, through the scale subresource."""

    replicas: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Pause the rollout, as `kubectl rollout pause`."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Resume the rollout, as `kubectl rollout resume`."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Return to the revision before, as `kubectl rollout undo`."""


@dataclass(frozen=True, slots=True)
class Restart:
    """Change an annotation of the template, as `kubectl rollout restart`."""

    count: int


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete the oldest pod of the latest revision that has some."""


@dataclass(frozen=True, slots=True)
class FailPod:
    """Let the oldest pod of the latest revision that has some fail."""

    behaviour: str


@dataclass(frozen=True, slots=True)
class EditEnvironment:
    """Set a variable, as `kubectl set env`."""

    value: str


@dataclass(frozen=True, slots=True)
class Recreate:
    """Delete the Deployment, wait until its pods are gone, and apply a version again."""

    version: int


Operation = (
    Apply
    | Scale
    | Pause
    | Resume
    | Undo
    | Restart
    | DeletePod
    | FailPod
    | EditEnvironment
    | Recreate
)


@dataclass(frozen=True, slots=True)
class Step:
    """An operation, after which all is left to settle, or only to be noticed."""

    do: Operation
    settle: bool = True


def _apply(chance: random.Random) -> Apply:
    return Apply(
        version=chance.randint(1, VERSIONS),
        replicas=chance.choice((None, 1, 2, 3, 5)),
        behaviour=chance.choice(BEHAVIOURS),
        recreate=chance.random() < 0.15,
        force=chance.random() < 0.8,
    )


_CHOICES: Sequence[tuple[int, Callable[[random.Random], Operation]]] = (
    (6, _apply),
    (3, lambda chance: Scale(chance.choice((0, 1, 2, 3, 4, 6)))),
    (2, lambda _: Pause()),
    (3, lambda _: Resume()),
    (3, lambda _: Undo()),
    (1, lambda chance: Restart(chance.randint(1, 3))),
    (2, lambda _: DeletePod()),
    (2, lambda chance: FailPod(chance.choice(FAILURES))),
    (3, lambda chance: EditEnvironment(chance.choice("abc"))),
    (1, lambda chance: Recreate(chance.randint(1, VERSIONS))),
)


def sequence(seed: int) -> list[Step]:
    """Return 5 to 12 steps, the same for the same seed; the first one makes the Deployment."""
    chance = random.Random(seed)
    weights = [weight for weight, _ in _CHOICES]
    makers = chance.choices([make for _, make in _CHOICES], weights, k=chance.randint(4, 11))
    first = Step(Apply(1, replicas=chance.randint(1, 4), recreate=chance.random() < 0.2))
    steps = [first]
    for make in makers:
        at_once = chance.random() < 0.5 and any(step.settle for step in steps[-MOST_AT_ONCE:])
        steps.append(Step(make(chance), settle=not at_once))
    return steps
